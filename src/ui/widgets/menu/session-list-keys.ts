import { splitGraphemes } from '../../../lib/text/text-width.ts';
import { filterSessions, type OverlayChoice, type ResumableSessionList } from '../../app-state/overlay.ts';
import type { ViewState } from '../../app-state/view-state.ts';
import type { InputEvent } from '../../input/input-event.ts';
import { type InputResult, type UiEffect, withEffects, withoutEffects } from '../../input/input-result.ts';

type KeyInput = Extract<InputEvent, { type: 'key' }>;

export function handleSessionListKey(view: ViewState, list: ResumableSessionList, input: KeyInput): InputResult {
  const session = filterSessions(list)[list.selected];
  if (list.mode.type === 'renaming') return handleTitleKey(view, list, list.mode.title, session, input);
  const { chord } = input;
  if (list.mode.type === 'removing') {
    const choosing = setList(view, { ...list, mode: { type: 'choosing' } });
    const isConfirmed = chord === 'ctrl+d' && session !== undefined;
    return isConfirmed
      ? withEffects(choosing, { type: 'session', action: 'remove', id: session.id })
      : withoutEffects(choosing);
  }
  switch (chord) {
    case 'escape':
    case 'ctrl+c':
      return withoutEffects({ ...view, overlay: undefined });
    case 'up':
    case 'ctrl+p':
      return withoutEffects(setList(view, { ...list, selected: Math.max(0, list.selected - 1) }));
    case 'down':
    case 'ctrl+n': {
      const last = Math.max(0, filterSessions(list).length - 1);
      return withoutEffects(setList(view, { ...list, selected: Math.min(last, list.selected + 1) }));
    }
    case 'tab': {
      const scope = getNextScope(list.scope, view.facts.branch);
      return withEffects(setList(view, { ...list, scope, selected: 0 }), { type: 'list_sessions', scope });
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
function getNextScope(scope: ResumableSessionList['scope'], branch: string | undefined): ResumableSessionList['scope'] {
  if (scope === 'folder') return 'all';
  return scope === 'all' && branch !== undefined ? 'branch' : 'folder';
}

/** Handles a key that acts on the selected session. */
function handleSessionKey(
  view: ViewState,
  list: ResumableSessionList,
  session: OverlayChoice,
  input: KeyInput,
): InputResult {
  const { id, label } = session;
  switch (input.chord) {
    case 'enter':
      return withEffects({ ...view, overlay: undefined }, { type: 'session', action: 'open', id });
    case 'ctrl+f':
      return withEffects({ ...view, overlay: undefined }, { type: 'session', action: 'fork', id });
    case 'right':
      return withEffects(view, { type: 'session', action: 'preview', id });
    case 'ctrl+r':
      return withoutEffects(setList(view, { ...list, mode: { type: 'renaming', title: label } }));
    case 'ctrl+d':
      return withoutEffects(setList(view, { ...list, mode: { type: 'removing' } }));
    default:
      return typeQuery(view, list, input);
  }
}

function handleTitleKey(
  view: ViewState,
  list: ResumableSessionList,
  title: string,
  session: OverlayChoice | undefined,
  { chord, text }: KeyInput,
): InputResult {
  const choosing = setList(view, { ...list, mode: { type: 'choosing' } });
  const setTitle = (next: string) =>
    withoutEffects(setList(view, { ...list, mode: { type: 'renaming', title: next } }));
  switch (chord) {
    case 'escape':
    case 'ctrl+c':
      return withoutEffects(choosing);
    case 'enter':
      return session === undefined || title.trim() === ''
        ? withoutEffects(choosing)
        : withEffects(choosing, { type: 'rename_session', id: session.id, title: title.trim() });
    case 'backspace':
      return setTitle(splitGraphemes(title).slice(0, -1).join(''));
    case 'ctrl+u':
      return setTitle('');
    default:
      return setTitle(title + text);
  }
}

function typeQuery(view: ViewState, list: ResumableSessionList, { text }: KeyInput): InputResult {
  return text === '' ? withoutEffects(view) : search(view, list, list.query + text);
}

/** Changes the query. Titles are filtered at once, messages are searched in the background. */
function search(view: ViewState, list: ResumableSessionList, query: string): InputResult {
  const effect: UiEffect = { type: 'search_sessions', text: query, scope: list.scope };
  return withEffects(setList(view, { ...list, query, messageMatches: [], selected: 0 }), effect);
}

function setList(view: ViewState, list: ResumableSessionList): ViewState {
  return { ...view, overlay: list };
}
