import { splitGraphemes } from '../../../lib/text/text-width.ts';
import { type Choice, filterSessions, type SessionList } from '../../app-state/overlay.ts';
import type { ViewState } from '../../app-state/view-state.ts';
import type { InputEvent } from '../../input/input-event.ts';
import { type Effect, emitEffects, type InputResult, setView } from '../../input/input-result.ts';

type KeyInput = Extract<InputEvent, { type: 'key' }>;

/** Handles a key for the list of sessions. */
export function handleSessionListKey(view: ViewState, list: SessionList, input: KeyInput): InputResult {
  const session = filterSessions(list)[list.selected];
  if (list.mode.type === 'renaming') return handleTitleKey(view, list, list.mode.title, session, input);
  const { chord } = input;
  if (list.mode.type === 'removing') {
    const choosing = setList(view, { ...list, mode: { type: 'choosing' } });
    const isConfirmed = chord === 'ctrl+d' && session !== undefined;
    return isConfirmed
      ? emitEffects(choosing, { type: 'session', action: 'remove', id: session.id })
      : setView(choosing);
  }
  switch (chord) {
    case 'escape':
    case 'ctrl+c':
      return setView({ ...view, overlay: undefined });
    case 'up':
    case 'ctrl+p':
      return setView(setList(view, { ...list, selected: Math.max(0, list.selected - 1) }));
    case 'down':
    case 'ctrl+n': {
      const last = Math.max(0, filterSessions(list).length - 1);
      return setView(setList(view, { ...list, selected: Math.min(last, list.selected + 1) }));
    }
    case 'tab': {
      const scope = getNextScope(list.scope, view.facts.branch);
      return emitEffects(setList(view, { ...list, scope, selected: 0 }), { type: 'list_sessions', scope });
    }
    case 'backspace':
      return search(view, list, splitGraphemes(list.query).slice(0, -1).join(''));
    case 'ctrl+u':
      return search(view, list, '');
    default:
      return session === undefined ? typeQuery(view, list, input) : handleSessionKey(view, list, session, input);
  }
}

/** Returns the next scope: this folder, all folders, and the current branch if there is one. */
function getNextScope(scope: SessionList['scope'], branch: string | undefined): SessionList['scope'] {
  if (scope === 'folder') return 'all';
  return scope === 'all' && branch !== undefined ? 'branch' : 'folder';
}

/** Handles a key that acts on the selected session. */
function handleSessionKey(view: ViewState, list: SessionList, session: Choice, input: KeyInput): InputResult {
  const { id, label } = session;
  switch (input.chord) {
    case 'enter':
      return emitEffects({ ...view, overlay: undefined }, { type: 'session', action: 'open', id });
    case 'ctrl+f':
      return emitEffects({ ...view, overlay: undefined }, { type: 'session', action: 'fork', id });
    case 'right':
      return emitEffects(view, { type: 'session', action: 'preview', id });
    case 'ctrl+r':
      return setView(setList(view, { ...list, mode: { type: 'renaming', title: label } }));
    case 'ctrl+d':
      return setView(setList(view, { ...list, mode: { type: 'removing' } }));
    default:
      return typeQuery(view, list, input);
  }
}

function handleTitleKey(
  view: ViewState,
  list: SessionList,
  title: string,
  session: Choice | undefined,
  { chord, text }: KeyInput,
): InputResult {
  const choosing = setList(view, { ...list, mode: { type: 'choosing' } });
  const setTitle = (next: string) => setView(setList(view, { ...list, mode: { type: 'renaming', title: next } }));
  switch (chord) {
    case 'escape':
    case 'ctrl+c':
      return setView(choosing);
    case 'enter':
      return session === undefined || title.trim() === ''
        ? setView(choosing)
        : emitEffects(choosing, { type: 'rename_session', id: session.id, title: title.trim() });
    case 'backspace':
      return setTitle(splitGraphemes(title).slice(0, -1).join(''));
    case 'ctrl+u':
      return setTitle('');
    default:
      return setTitle(title + text);
  }
}

function typeQuery(view: ViewState, list: SessionList, { text }: KeyInput): InputResult {
  return text === '' ? setView(view) : search(view, list, list.query + text);
}

/** Changes the query. Titles are filtered at once, messages are searched in the background. */
function search(view: ViewState, list: SessionList, query: string): InputResult {
  const effect: Effect = { type: 'search_sessions', text: query, scope: list.scope };
  return emitEffects(setList(view, { ...list, query, messageMatches: [], selected: 0 }), effect);
}

function setList(view: ViewState, list: SessionList): ViewState {
  return { ...view, overlay: list };
}
