import { splitGraphemes } from '../../../lib/text/text-width.ts';
import {
  filterPickerChoices,
  filterSessions,
  type Overlay,
  type OverlayChoice,
  type ResumableSessionList,
} from '../../app-state/overlay.ts';
import type { ViewState } from '../../app-state/view-state.ts';
import type { InputEvent } from '../../input/input-event.ts';
import {
  type InputContext,
  type InputResult,
  type UiEffect,
  withEffects,
  withoutEffects,
} from '../../input/input-result.ts';
import { editDraft, runChosenMenuCommand, typeIntoDraft } from '../composer/draft-actions.ts';
import { handlePanelKey } from '../panel/panel-keys.ts';

type KeyInput = Extract<InputEvent, { type: 'key' }>;
type Menu = Extract<Overlay, { kind: 'menu' }>;
type Help = Extract<Overlay, { kind: 'help' }>;
type Picker = Extract<Overlay, { kind: 'picker' }>;

/** Handles a key for the open overlay. Returns undefined for keys of the composer. */
export function handleOverlayKey(view: ViewState, input: KeyInput, context: InputContext): InputResult | undefined {
  const { overlay } = view;
  switch (overlay?.kind) {
    case 'menu':
      return handleMenuKey(view, overlay, input, context);
    case 'picker':
      return handlePickerKey(view, overlay, input);
    case 'panel':
      return handlePanelKey(view, overlay, input, context);
    case 'sessions':
      return handleSessionListKey(view, overlay, input);
    case 'help':
      return handleHelpKey(view, overlay, input, context);
    default:
      return undefined;
  }
}

/** Keys that close a page in other programs, so they are not added to the draft. */
const CLOSE_KEYS: readonly string[] = ['?', 'q', ' '];

/** Handles a key for the help: `/` starts a filter, any other key closes it. A typed character goes to the draft. */
function handleHelpKey(view: ViewState, help: Help, { chord, text }: KeyInput, context: InputContext): InputResult {
  const isDraftText =
    text !== '' && chord !== '/' && !CLOSE_KEYS.includes(text) && (view.vim?.mode ?? 'insert') === 'insert';
  if (!help.isFiltering && isDraftText) return typeIntoDraft({ ...view, overlay: undefined }, text, context);
  if (!help.isFiltering)
    return withoutEffects({ ...view, overlay: chord === '/' ? { ...help, isFiltering: true } : undefined });
  if (chord === 'backspace') return withoutEffects({ ...view, overlay: { ...help, filter: help.filter.slice(0, -1) } });
  return withoutEffects({ ...view, overlay: text === '' ? undefined : { ...help, filter: help.filter + text } });
}

function handleMenuKey(
  view: ViewState,
  menu: Menu,
  { chord }: KeyInput,
  context: InputContext,
): InputResult | undefined {
  const { choices, selected, target } = menu;
  switch (chord) {
    case 'escape':
      return withoutEffects({ ...view, overlay: undefined });
    case 'up':
    case 'down':
    case 'ctrl+p':
    case 'ctrl+n': {
      if (choices.length === 0) return undefined;
      const step = chord === 'down' || chord === 'ctrl+n' ? 1 : -1;
      const from = selected === -1 && step === -1 ? 0 : selected;
      return withoutEffects({
        ...view,
        overlay: { ...menu, selected: (from + step + choices.length) % choices.length },
      });
    }
    case 'tab': {
      const choice = choices[Math.max(0, selected)];
      return choice === undefined ? undefined : completeChoice(view, menu, choice, context);
    }
    case 'enter': {
      // The typed argument is sent unchanged unless the user selected another one.
      if (target.kind === 'argument') {
        const choice = choices[selected];
        return choice === undefined ? undefined : completeChoice(view, menu, choice, context);
      }
      if (target.kind === 'file') {
        const choice = choices[Math.max(0, selected)];
        return choice === undefined || choice.id === target.query
          ? undefined
          : completeChoice(view, menu, choice, context);
      }
      const choice = choices[Math.max(0, selected)];
      return choice === undefined ? undefined : runChosenMenuCommand(view, choice.id);
    }
    default:
      return undefined;
  }
}

function completeChoice(view: ViewState, { target }: Menu, { id }: OverlayChoice, context: InputContext): InputResult {
  const isFolder = target.kind === 'file' && id.endsWith('/');
  const quoted = target.kind === 'file' && /\s/.test(id) ? `"${id}"` : id;
  const text = `${PREFIXES[target.kind]}${quoted}${isFolder ? '' : ' '}`;
  const edited = editDraft(view, { type: 'replace', from: target.from, to: target.to, text }, context);
  return isFolder ? edited : { ...edited, view: { ...edited.view, overlay: undefined } };
}

const PREFIXES = { file: '@', command: '/', argument: '' } as const;

function handlePickerKey(view: ViewState, picker: Picker, { chord, text }: KeyInput): InputResult {
  const choices = filterPickerChoices(picker);
  const update = (change: Partial<Picker>) => previewTheme({ ...view, overlay: { ...picker, ...change } });
  const closed = { ...view, overlay: undefined };
  switch (chord) {
    case 'escape':
    case 'ctrl+c':
      return picker.purpose === 'theme'
        ? withEffects(closed, { type: 'try_theme', name: undefined })
        : withoutEffects(closed);
    case 'up':
    case 'ctrl+p':
      return update({ selected: Math.max(0, picker.selected - 1) });
    case 'down':
    case 'ctrl+n':
    case 'tab':
      return update({ selected: Math.max(0, Math.min(choices.length - 1, picker.selected + 1)) });
    case 'backspace':
      return update({ query: picker.query.slice(0, -1), selected: 0 });
    case 'ctrl+u':
      return update({ query: '', selected: 0 });
    case 'enter': {
      const choice = choices[picker.selected];
      if (choice === undefined) return withoutEffects(view);
      return withEffects(closed, { type: 'picked', purpose: picker.purpose, id: choice.id });
    }
    default:
      return text === '' ? withoutEffects(view) : update({ query: picker.query + text, selected: 0 });
  }
}

/** Previews the theme under the cursor. */
function previewTheme(view: ViewState): InputResult {
  const { overlay } = view;
  if (overlay?.kind !== 'picker' || overlay.purpose !== 'theme') return withoutEffects(view);
  const choice = filterPickerChoices(overlay)[overlay.selected];
  return choice === undefined ? withoutEffects(view) : withEffects(view, { type: 'try_theme', name: choice.id });
}

function handleSessionListKey(view: ViewState, list: ResumableSessionList, input: KeyInput): InputResult {
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
