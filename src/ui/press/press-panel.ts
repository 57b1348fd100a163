import type { PanelAct } from '../../contracts/face/panel.ts';
import { graphemes } from '../../lib/text/text-width.ts';
import { type EditorAction, edit } from '../composer/edit.ts';
import { createEditor } from '../composer/editor-state.ts';
import type { InputEvent } from '../keys/input-event.ts';
import { DEFAULT_KEYMAP } from '../keys/keymap.ts';
import { ECHO_MS } from '../view/ask.ts';
import { movePanel, type PanelView, panelActs, panelRows, searchPanel, turned, withValue } from '../view/panel-view.ts';
import type { ViewState } from '../view/view-state.ts';
import { only, type Pressed, withEffects } from './effects.ts';
import type { PressContext } from './press-context.ts';

type KeyInput = Extract<InputEvent, { type: 'key' }>;
type Writing = Extract<PanelView['doing'], { type: 'writing' }>;

const PAGE_ROWS = 8;
const CHOOSING = { type: 'choosing' } as const;

/** What a key means to an open panel. Nothing below it hears any. */
export function pressPanel(view: ViewState, panel: PanelView, input: KeyInput, context: PressContext): Pressed {
  if (panel.doing.type === 'writing') return pressWriting(view, panel, panel.doing, input, context);
  const quiet = { ...panel, said: undefined };
  if (panel.doing.type === 'sure') {
    const isSure = input.chord === panel.doing.act.key;
    return isSure ? run(view, quiet, panel.doing.act, context) : only(shown(view, { ...quiet, doing: CHOOSING }));
  }
  const moved = moveBy(input.chord, quiet);
  if (moved !== undefined) return only(shown(view, movePanel(quiet, moved)));
  switch (input.chord) {
    case 'escape':
    case 'ctrl+c':
      return only({ ...view, overlay: panel.back });
    case 'backspace':
      return only(shown(view, searchPanel(quiet, graphemes(panel.query).slice(0, -1).join(''))));
    case 'ctrl+u':
      return only(shown(view, searchPanel(quiet, '')));
    default:
      return pressAct(view, quiet, input, context) ?? typed(view, quiet, input.text);
  }
}

/** What is pasted is searched for, or written where something is being written. */
export function pastePanel(view: ViewState, panel: PanelView, text: string, context: PressContext): Pressed {
  const line = text.replaceAll(/\s+/g, ' ');
  if (panel.doing.type === 'writing') return written(view, panel, panel.doing, { type: 'insert', text: line }, context);
  return only(shown(view, searchPanel({ ...panel, doing: CHOOSING, said: undefined }, panel.query + line)));
}

function moveBy(chord: string, panel: PanelView): number | undefined {
  switch (chord) {
    case 'up':
    case 'ctrl+p':
      return -1;
    case 'down':
    case 'ctrl+n':
    case 'tab':
      return 1;
    case 'pageup':
      return -PAGE_ROWS;
    case 'pagedown':
      return PAGE_ROWS;
    case 'home':
      return -panelRows(panel).length;
    case 'end':
      return panelRows(panel).length;
    default:
      return undefined;
  }
}

/** Carries out what the key stands for where the cursor is. Enter changes a value that left and right change. */
function pressAct(view: ViewState, panel: PanelView, { chord }: KeyInput, context: PressContext): Pressed | undefined {
  const acts = panelActs(panel);
  const keyed = acts.find((act) => act.kind !== 'turn' && act.key === chord);
  if (keyed?.kind === 'run' && isHeld(panel, chord, context))
    return only(shown(view, { ...panel, acted: { chord, atMs: context.nowMs } }));
  if (keyed?.kind === 'run')
    return keyed.sure === undefined
      ? run(view, panel, keyed, context)
      : only(shown(view, { ...panel, doing: { type: 'sure', act: keyed } }));
  if (keyed?.kind === 'write') {
    const editor = edit(createEditor(), { type: 'set-text', text: keyed.words }, 0);
    return only(shown(view, { ...panel, doing: { type: 'writing', act: keyed, editor } }));
  }
  const turn = acts.find((act) => act.kind === 'turn');
  const by = chord === 'left' ? -1 : chord === 'right' || chord === 'enter' ? 1 : undefined;
  if (turn?.kind !== 'turn' || by === undefined) return undefined;
  const value = turned(turn, by);
  return value === undefined ? only(view) : carryOut(view, withValue(panel, turn, value), `${turn.line} ${value}`);
}

function typed(view: ViewState, panel: PanelView, text: string): Pressed {
  return only(shown(view, text === '' ? panel : searchPanel(panel, panel.query + text)));
}

/** The line that is written in place is edited like a draft. */
function pressWriting(
  view: ViewState,
  panel: PanelView,
  doing: Writing,
  { chord, text }: KeyInput,
  context: PressContext,
): Pressed {
  if (chord === 'escape' || chord === 'ctrl+c') return only(shown(view, { ...panel, doing: CHOOSING }));
  if (chord === 'enter') {
    const words = doing.editor.text.trim();
    const choosing = { ...panel, doing: CHOOSING };
    return words === '' ? only(shown(view, choosing)) : carryOut(view, choosing, `${doing.act.line} ${words}`);
  }
  const action = editing((context.keymap ?? DEFAULT_KEYMAP).bindingOf('', chord)) ?? insertion(text);
  return action === undefined ? only(view) : written(view, panel, doing, action, context);
}

function editing(bound: ReturnType<typeof DEFAULT_KEYMAP.bindingOf>): EditorAction | undefined {
  if (bound === 'right') return { type: 'move', to: 'right' };
  if (bound === 'end') return { type: 'move', to: 'line-end' };
  if (typeof bound !== 'object') return undefined;
  return bound.type === 'move' || bound.type === 'delete' || bound.type === 'undo' || bound.type === 'redo'
    ? bound
    : undefined;
}

function insertion(text: string): EditorAction | undefined {
  return text === '' ? undefined : { type: 'insert', text };
}

function written(
  view: ViewState,
  panel: PanelView,
  doing: Writing,
  action: EditorAction,
  { nowMs }: PressContext,
): Pressed {
  const editor = edit(doing.editor, action, nowMs);
  return only(shown(view, { ...panel, said: undefined, doing: { ...doing, editor } }));
}

/** Is it still the key that did something here? What it would do now may be something else. */
function isHeld({ acted }: PanelView, chord: string, { nowMs, quietMs }: PressContext): boolean {
  return quietMs > 0 && acted?.chord === chord && nowMs - acted.atMs < ECHO_MS;
}

function run(
  view: ViewState,
  panel: PanelView,
  { line, closes, key }: Extract<PanelAct, { kind: 'run' }>,
  { nowMs }: PressContext,
): Pressed {
  if (closes === true) return withEffects({ ...view, overlay: undefined }, { type: 'command', line });
  return carryOut(view, { ...panel, doing: CHOOSING, acted: { chord: key, atMs: nowMs } }, line);
}

function carryOut(view: ViewState, panel: PanelView, line: string): Pressed {
  const said = { level: 'info', text: `/${line} …` } as const;
  return withEffects(shown(view, { ...panel, said }), { type: 'panel', line });
}

function shown(view: ViewState, overlay: PanelView): ViewState {
  return { ...view, overlay };
}
