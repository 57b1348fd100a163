import type { PanelAction } from '../../../contracts/frontend/command.ts';
import { splitGraphemes } from '../../../lib/text/text-width.ts';
import type { ViewState } from '../../app-state/view-state.ts';
import type { InputEvent } from '../../input/input-event.ts';
import { type InputContext, type InputResult, withEffects, withoutEffects } from '../../input/input-result.ts';

import { DEFAULT_KEYMAP } from '../../input/keymap.ts';
import { applyDraftEditorAction, type DraftEditorAction } from '../composer/draft-editor-actions.ts';
import { createDraftEditor } from '../composer/draft-editor-state.ts';
import { KEY_REPEAT_MS } from '../permission-dialog/dialog-state.ts';
import {
  cyclePanelValue,
  filterPanelRows,
  listPanelActions,
  movePanelCursor,
  type PanelState,
  setPanelQuery,
  setPanelValue,
} from './panel-state.ts';

type KeyInput = Extract<InputEvent, { type: 'key' }>;
type TypingMode = Extract<PanelState['mode'], { type: 'writing' }>;

const PAGE_ROWS = 8;
const CHOOSING = { type: 'choosing' } as const;

/** Handles a key for an open panel, which receives all keys. */
export function handlePanelKey(
  view: ViewState,
  panel: PanelState,
  input: KeyInput,
  context: InputContext,
): InputResult {
  if (panel.mode.type === 'writing') return handleTypingKey(view, panel, panel.mode, input, context);
  const cleared: PanelState = { ...panel, message: undefined };
  if (panel.mode.type === 'sure') {
    const isConfirmed = input.chord === panel.mode.action.key;
    return isConfirmed
      ? runAction(view, cleared, panel.mode.action, context)
      : withoutEffects(setPanel(view, { ...cleared, mode: CHOOSING }));
  }
  const step = getCursorStep(input.chord, cleared);
  if (step !== undefined) return withoutEffects(setPanel(view, movePanelCursor(cleared, step)));
  switch (input.chord) {
    case 'escape':
    case 'ctrl+c':
      return withoutEffects({ ...view, overlay: panel.back });
    case 'backspace':
      return withoutEffects(setPanel(view, setPanelQuery(cleared, splitGraphemes(panel.query).slice(0, -1).join(''))));
    case 'ctrl+u':
      return withoutEffects(setPanel(view, setPanelQuery(cleared, '')));
    default:
      return runKeyAction(view, cleared, input, context) ?? typeQuery(view, cleared, input.text);
  }
}

/** Adds pasted text to the query, or to the value being typed. */
export function pasteIntoPanel(view: ViewState, panel: PanelState, text: string, context: InputContext): InputResult {
  const line = text.replaceAll(/\s+/g, ' ');
  if (panel.mode.type === 'writing') return editValue(view, panel, panel.mode, { type: 'insert', text: line }, context);
  return withoutEffects(
    setPanel(view, setPanelQuery({ ...panel, mode: CHOOSING, message: undefined }, panel.query + line)),
  );
}

function getCursorStep(chord: string, panel: PanelState): number | undefined {
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
      return -filterPanelRows(panel).length;
    case 'end':
      return filterPanelRows(panel).length;
    default:
      return undefined;
  }
}

/** Runs the action of a key. Enter changes a value in the same way as right. */
function runKeyAction(
  view: ViewState,
  panel: PanelState,
  { chord }: KeyInput,
  context: InputContext,
): InputResult | undefined {
  const actions = listPanelActions(panel);
  const action = actions.find((act) => act.kind !== 'turn' && act.key === chord);
  if (action?.kind === 'run' && isHeld(panel, chord, context))
    return withoutEffects(setPanel(view, { ...panel, lastAction: { chord, atMs: context.nowMs } }));
  if (action?.kind === 'run')
    return action.confirmLabel === undefined
      ? runAction(view, panel, action, context)
      : withoutEffects(setPanel(view, { ...panel, mode: { type: 'sure', action: action } }));
  if (action?.kind === 'write') {
    const editor = applyDraftEditorAction(createDraftEditor(), { type: 'set-text', text: action.initialText }, 0);
    return withoutEffects(setPanel(view, { ...panel, mode: { type: 'writing', action: action, editor } }));
  }
  const turnAction = actions.find((act) => act.kind === 'turn');
  const step = chord === 'left' ? -1 : chord === 'right' || chord === 'enter' ? 1 : undefined;
  if (turnAction?.kind !== 'turn' || step === undefined) return undefined;
  const value = cyclePanelValue(turnAction, step);
  return value === undefined
    ? withoutEffects(view)
    : runCommandLine(view, setPanelValue(panel, turnAction, value), `${turnAction.command} ${value}`);
}

function typeQuery(view: ViewState, panel: PanelState, text: string): InputResult {
  return withoutEffects(setPanel(view, text === '' ? panel : setPanelQuery(panel, panel.query + text)));
}

/** Handles a key while a value is typed, with the editing keys of the composer. */
function handleTypingKey(
  view: ViewState,
  panel: PanelState,
  mode: TypingMode,
  { chord, text }: KeyInput,
  context: InputContext,
): InputResult {
  if (chord === 'escape' || chord === 'ctrl+c') return withoutEffects(setPanel(view, { ...panel, mode: CHOOSING }));
  if (chord === 'enter') {
    const text = mode.editor.text.trim();
    const choosing: PanelState = { ...panel, mode: CHOOSING };
    return text === ''
      ? withoutEffects(setPanel(view, choosing))
      : runCommandLine(view, choosing, `${mode.action.command} ${text}`);
  }
  const action = toEditorAction((context.keymap ?? DEFAULT_KEYMAP).findBinding('', chord)) ?? toInsertion(text);
  return action === undefined ? withoutEffects(view) : editValue(view, panel, mode, action, context);
}

function toEditorAction(binding: ReturnType<typeof DEFAULT_KEYMAP.findBinding>): DraftEditorAction | undefined {
  if (binding === 'right') return { type: 'move', to: 'right' };
  if (binding === 'end') return { type: 'move', to: 'line-end' };
  if (typeof binding !== 'object') return undefined;
  return binding.type === 'move' || binding.type === 'delete' || binding.type === 'undo' || binding.type === 'redo'
    ? binding
    : undefined;
}

function toInsertion(text: string): DraftEditorAction | undefined {
  return text === '' ? undefined : { type: 'insert', text };
}

function editValue(
  view: ViewState,
  panel: PanelState,
  mode: TypingMode,
  action: DraftEditorAction,
  { nowMs }: InputContext,
): InputResult {
  const editor = applyDraftEditorAction(mode.editor, action, nowMs);
  return withoutEffects(setPanel(view, { ...panel, message: undefined, mode: { ...mode, editor } }));
}

/** Returns whether the key of the last action is still held; it could now mean another action. */
function isHeld({ lastAction }: PanelState, chord: string, { nowMs, quietMs }: InputContext): boolean {
  return quietMs > 0 && lastAction?.chord === chord && nowMs - lastAction.atMs < KEY_REPEAT_MS;
}

function runAction(
  view: ViewState,
  panel: PanelState,
  { command, closesPanel, key }: Extract<PanelAction, { kind: 'run' }>,
  { nowMs }: InputContext,
): InputResult {
  if (closesPanel === true) return withEffects({ ...view, overlay: undefined }, { type: 'command', line: command });
  return runCommandLine(view, { ...panel, mode: CHOOSING, lastAction: { chord: key, atMs: nowMs } }, command);
}

function runCommandLine(view: ViewState, panel: PanelState, line: string): InputResult {
  const message = { level: 'info', text: `/${line} …` } as const;
  return withEffects(setPanel(view, { ...panel, message: message }), { type: 'panel', line });
}

function setPanel(view: ViewState, overlay: PanelState): ViewState {
  return { ...view, overlay };
}
