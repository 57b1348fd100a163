import { graphemes } from '../../lib/text/text-width.ts';
import type { InputEvent } from '../keys/input-event.ts';
import { type Choice, type SessionList, sessionChoices } from '../view/overlay.ts';
import type { ViewState } from '../view/view-state.ts';
import { type Effect, only, type Pressed, withEffects } from './effects.ts';

type KeyInput = Extract<InputEvent, { type: 'key' }>;

/** What a key means to the list of sessions. */
export function pressSessions(view: ViewState, list: SessionList, input: KeyInput): Pressed {
  const chosen = sessionChoices(list)[list.selected];
  if (list.doing.type === 'renaming') return pressName(view, list, list.doing.words, chosen, input);
  const { chord } = input;
  if (list.doing.type === 'removing') {
    const choosing = shown(view, { ...list, doing: { type: 'choosing' } });
    const isSure = chord === 'ctrl+d' && chosen !== undefined;
    return isSure ? withEffects(choosing, { type: 'session', does: 'remove', id: chosen.id }) : only(choosing);
  }
  switch (chord) {
    case 'escape':
    case 'ctrl+c':
      return only({ ...view, overlay: undefined });
    case 'up':
    case 'ctrl+p':
      return only(shown(view, { ...list, selected: Math.max(0, list.selected - 1) }));
    case 'down':
    case 'ctrl+n': {
      const last = Math.max(0, sessionChoices(list).length - 1);
      return only(shown(view, { ...list, selected: Math.min(last, list.selected + 1) }));
    }
    case 'tab': {
      const scope = nextScope(list.scope, view.facts.branch);
      return withEffects(shown(view, { ...list, scope, selected: 0 }), { type: 'list_sessions', scope });
    }
    case 'backspace':
      return searching(view, list, graphemes(list.query).slice(0, -1).join(''));
    case 'ctrl+u':
      return searching(view, list, '');
    default:
      return chosen === undefined ? typed(view, list, input) : pressChosen(view, list, chosen, input);
  }
}

/** This folder, everywhere, and where there is a branch, what began on it. */
function nextScope(scope: SessionList['scope'], branch: string | undefined): SessionList['scope'] {
  if (scope === 'folder') return 'all';
  return scope === 'all' && branch !== undefined ? 'branch' : 'folder';
}

/** What can be done with the session under the cursor. */
function pressChosen(view: ViewState, list: SessionList, chosen: Choice, input: KeyInput): Pressed {
  const { id, label } = chosen;
  switch (input.chord) {
    case 'enter':
      return withEffects({ ...view, overlay: undefined }, { type: 'session', does: 'open', id });
    case 'ctrl+f':
      return withEffects({ ...view, overlay: undefined }, { type: 'session', does: 'fork', id });
    case 'right':
      return withEffects(view, { type: 'session', does: 'preview', id });
    case 'ctrl+r':
      return only(shown(view, { ...list, doing: { type: 'renaming', words: label } }));
    case 'ctrl+d':
      return only(shown(view, { ...list, doing: { type: 'removing' } }));
    default:
      return typed(view, list, input);
  }
}

function pressName(
  view: ViewState,
  list: SessionList,
  words: string,
  chosen: Choice | undefined,
  { chord, text }: KeyInput,
): Pressed {
  const choosing = shown(view, { ...list, doing: { type: 'choosing' } });
  const named = (next: string) => only(shown(view, { ...list, doing: { type: 'renaming', words: next } }));
  switch (chord) {
    case 'escape':
    case 'ctrl+c':
      return only(choosing);
    case 'enter':
      return chosen === undefined || words.trim() === ''
        ? only(choosing)
        : withEffects(choosing, { type: 'rename_session', id: chosen.id, title: words.trim() });
    case 'backspace':
      return named(graphemes(words).slice(0, -1).join(''));
    case 'ctrl+u':
      return named('');
    default:
      return named(words + text);
  }
}

function typed(view: ViewState, list: SessionList, { text }: KeyInput): Pressed {
  return text === '' ? only(view) : searching(view, list, list.query + text);
}

/** Titles are filtered at once; what was said is looked for meanwhile. */
function searching(view: ViewState, list: SessionList, query: string): Pressed {
  const effect: Effect = { type: 'search_sessions', words: query, scope: list.scope };
  return withEffects(shown(view, { ...list, query, found: [], selected: 0 }), effect);
}

function shown(view: ViewState, list: SessionList): ViewState {
  return { ...view, overlay: list };
}
