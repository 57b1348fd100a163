import type { InputEvent } from '../keys/input-event.ts';
import { type Choice, type Overlay, pickerChoices } from '../view/overlay.ts';
import type { ViewState } from '../view/view-state.ts';
import { only, type Pressed, withEffects } from './effects.ts';
import { editDraft, typeText } from './press-composer.ts';
import type { PressContext } from './press-context.ts';
import { pressPanel } from './press-panel.ts';
import { pressSessions } from './press-sessions.ts';
import { sendCommandLine } from './send.ts';

type KeyInput = Extract<InputEvent, { type: 'key' }>;
type Menu = Extract<Overlay, { kind: 'menu' }>;
type Help = Extract<Overlay, { kind: 'help' }>;
type Picker = Extract<Overlay, { kind: 'picker' }>;

/** What a key means to what is open; undefined when it goes on to the composer. */
export function pressOverlay(view: ViewState, input: KeyInput, context: PressContext): Pressed | undefined {
  const { overlay } = view;
  switch (overlay?.kind) {
    case 'menu':
      return pressMenu(view, overlay, input, context);
    case 'picker':
      return pressPicker(view, overlay, input);
    case 'panel':
      return pressPanel(view, overlay, input, context);
    case 'sessions':
      return pressSessions(view, overlay, input);
    case 'help':
      return pressHelp(view, overlay, input, context);
    default:
      return undefined;
  }
}

/** What closes a page in other programs is no word of a draft. */
const CLOSES: readonly string[] = ['?', 'q', ' '];

/** Help filters after `/`; any other key closes it, and what was typed is not lost. */
function pressHelp(view: ViewState, help: Help, { chord, text }: KeyInput, context: PressContext): Pressed {
  const isWritten = text !== '' && chord !== '/' && !CLOSES.includes(text) && (view.vim?.mode ?? 'insert') === 'insert';
  if (!help.isFiltering && isWritten) return typeText({ ...view, overlay: undefined }, text, context);
  if (!help.isFiltering) return only({ ...view, overlay: chord === '/' ? { ...help, isFiltering: true } : undefined });
  if (chord === 'backspace') return only({ ...view, overlay: { ...help, filter: help.filter.slice(0, -1) } });
  return only({ ...view, overlay: text === '' ? undefined : { ...help, filter: help.filter + text } });
}

function pressMenu(view: ViewState, menu: Menu, { chord }: KeyInput, context: PressContext): Pressed | undefined {
  const { choices, selected, target } = menu;
  switch (chord) {
    case 'escape':
      return only({ ...view, overlay: undefined });
    case 'up':
    case 'down':
    case 'ctrl+p':
    case 'ctrl+n': {
      if (choices.length === 0) return undefined;
      const by = chord === 'down' || chord === 'ctrl+n' ? 1 : -1;
      const from = selected === -1 && by === -1 ? 0 : selected;
      return only({ ...view, overlay: { ...menu, selected: (from + by + choices.length) % choices.length } });
    }
    case 'tab': {
      const choice = choices[Math.max(0, selected)];
      return choice === undefined ? undefined : fill(view, menu, choice, context);
    }
    case 'enter': {
      // What is written as an argument is a whole line already: it is sent, unless another was chosen.
      if (target.kind === 'argument') {
        const choice = choices[selected];
        return choice === undefined ? undefined : fill(view, menu, choice, context);
      }
      if (target.kind === 'file') {
        const choice = choices[Math.max(0, selected)];
        return choice === undefined || choice.id === target.query ? undefined : fill(view, menu, choice, context);
      }
      const exact = choices.find(({ id }) => id === target.query);
      const choice = selected >= 0 ? choices[selected] : (exact ?? (choices.length === 1 ? choices[0] : undefined));
      return choice === undefined ? undefined : sendCommandLine(view, choice.id);
    }
    default:
      return undefined;
  }
}

function fill(view: ViewState, { target }: Menu, { id }: Choice, context: PressContext): Pressed {
  const isFolder = target.kind === 'file' && id.endsWith('/');
  const quoted = target.kind === 'file' && /\s/.test(id) ? `"${id}"` : id;
  const text = `${SIGNS[target.kind]}${quoted}${isFolder ? '' : ' '}`;
  const filled = editDraft(view, { type: 'replace', from: target.from, to: target.to, text }, context);
  return isFolder ? filled : { ...filled, view: { ...filled.view, overlay: undefined } };
}

const SIGNS = { file: '@', command: '/', argument: '' } as const;

function pressPicker(view: ViewState, picker: Picker, { chord, text }: KeyInput): Pressed {
  const choices = pickerChoices(picker);
  const changed = (change: Partial<Picker>) => tried({ ...view, overlay: { ...picker, ...change } });
  const closed = { ...view, overlay: undefined };
  switch (chord) {
    case 'escape':
    case 'ctrl+c':
      return picker.purpose === 'theme' ? withEffects(closed, { type: 'try_theme', name: undefined }) : only(closed);
    case 'up':
    case 'ctrl+p':
      return changed({ selected: Math.max(0, picker.selected - 1) });
    case 'down':
    case 'ctrl+n':
    case 'tab':
      return changed({ selected: Math.max(0, Math.min(choices.length - 1, picker.selected + 1)) });
    case 'backspace':
      return changed({ query: picker.query.slice(0, -1), selected: 0 });
    case 'ctrl+u':
      return changed({ query: '', selected: 0 });
    case 'enter': {
      const choice = choices[picker.selected];
      if (choice === undefined) return only(view);
      return withEffects(closed, { type: 'picked', purpose: picker.purpose, id: choice.id });
    }
    default:
      return text === '' ? only(view) : changed({ query: picker.query + text, selected: 0 });
  }
}

/** A theme is seen while the cursor is on it. */
function tried(view: ViewState): Pressed {
  const { overlay } = view;
  if (overlay?.kind !== 'picker' || overlay.purpose !== 'theme') return only(view);
  const choice = pickerChoices(overlay)[overlay.selected];
  return choice === undefined ? only(view) : withEffects(view, { type: 'try_theme', name: choice.id });
}
