import { filterPickerChoices, type Overlay, type OverlayChoice } from '../../app-state/overlay.ts';
import type { ViewState } from '../../app-state/view-state.ts';
import type { InputContext } from '../../input/input-context.ts';
import type { InputEvent } from '../../input/input-event.ts';
import { type InputResult, withEffects, withoutEffects } from '../../input/input-result.ts';
import { editDraft, runChosenMenuCommand, typeIntoDraft } from '../composer/draft-actions.ts';
import { handlePanelKey } from '../panel/panel-keys.ts';
import { handleSessionListKey } from './session-list-keys.ts';

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
