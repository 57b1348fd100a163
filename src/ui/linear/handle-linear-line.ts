import { filterPickerChoices } from '../app-state/overlay.ts';
import type { ViewState } from '../app-state/view-state.ts';
import { handleInput } from '../input/handle-input.ts';
import { type InputContext, type InputResult, withoutEffects } from '../input/input-result.ts';

import { applyDraftEditorAction } from '../widgets/composer/draft-editor-actions.ts';
import type { DraftEditorState } from '../widgets/composer/draft-editor-state.ts';
import { filterPanelRows, type PanelState } from '../widgets/panel/panel-state.ts';
import { findDialogOption } from '../widgets/permission-dialog/dialog-options.ts';
import { createReadyDialog, listLinearAnswers } from './describe-view-changes.ts';

/** Handles a line. Returns `repeat` when the open question is to be repeated. */
export function handleLinearLine(
  view: ViewState,
  line: string,
  context: InputContext,
  draft: DraftEditorState | undefined,
): InputResult | 'repeat' {
  if (line === '/stop') return pressKey(view, 'escape', context);
  if (draft !== undefined) return pressKey({ ...view, editor: draft }, 'enter', context);
  const result = answerLine(view, line, context);
  if (result !== 'message') return result;
  if (view.lastRunEnd === 'limited' && line.trim() === 'w')
    return pressKey({ ...view, keys: { ...view.keys, lastKeyAtMs: 0 } }, 'w', context);
  // A failed prompt is back in the composer: enter alone sends it again.
  const isResend = line.trim() === '' && view.lastRunEnd === 'failed';
  const editor = isResend
    ? view.editor
    : applyDraftEditorAction(view.editor, { type: 'set-text', text: line }, context.nowMs);
  return pressKey({ ...view, editor }, 'enter', context);
}

/** Applies a line to the open question, picker or panel. Returns `message` when the line answers nothing. */
function answerLine(view: ViewState, line: string, context: InputContext): InputResult | 'repeat' | 'message' {
  if (view.overlay?.kind === 'picker') return answerPicker(view, line, context);
  const ask = view.dialogRequests[0];
  // A question is read out after a panel, so it is answered first.
  if (view.overlay?.kind === 'panel' && ask === undefined) return answerPanel(view, view.overlay, line, context);
  if (ask === undefined) return 'message';
  const dialog = createReadyDialog(view);
  if (dialog.form.typing !== 'nothing') {
    const editor = applyDraftEditorAction(view.editor, { type: 'set-text', text: line }, context.nowMs);
    return pressKey({ ...view, dialog, editor }, 'enter', context);
  }
  if (line.trim() === '?') return 'repeat';
  const option = findDialogOption(listLinearAnswers(ask, dialog), line.trim());
  // Anything else is a message for later, and answers nothing.
  if (option === undefined) return /^\d*$/.test(line.trim()) ? 'repeat' : 'message';
  return pressKey({ ...view, dialog, keys: { ...view.keys, lastKeyAtMs: 0 } }, option.key, context);
}

function answerPicker(view: ViewState, line: string, context: InputContext): InputResult {
  const { overlay } = view;
  if (overlay?.kind !== 'picker') return withoutEffects(view);
  const choices = filterPickerChoices(overlay);
  const text = line.trim();
  const at = /^\d+$/.test(text)
    ? Number(text) - 1
    : choices.findIndex(({ id, label }) => id === text || label === text);
  if (choices[at] === undefined) return pressKey(view, 'escape', context);
  return pressKey({ ...view, overlay: { ...overlay, selected: at } }, 'enter', context);
}

/** Applies a line to a panel: a number selects a row; in an input field, the line is the text. */
function answerPanel(view: ViewState, panel: PanelState, line: string, context: InputContext): InputResult {
  const text = line.trim();
  const { mode } = panel;
  if (mode.type === 'writing') {
    const editor = applyDraftEditorAction(mode.editor, { type: 'set-text', text }, context.nowMs);
    return pressKey({ ...view, overlay: { ...panel, mode: { ...mode, editor } } }, 'enter', context);
  }
  if (mode.type === 'sure') return pressKey(view, text === 'yes' ? mode.action.key : 'escape', context);
  const row = filterPanelRows(panel)[Number(text) - 1];
  if (row === undefined) {
    const closed: ViewState = { ...view, overlay: undefined };
    const editor = applyDraftEditorAction(view.editor, { type: 'set-text', text: line }, context.nowMs);
    // Any other text is a message to the conversation.
    return text === '' ? withoutEffects(closed) : pressKey({ ...closed, editor }, 'enter', context);
  }
  return pressKey({ ...view, overlay: { ...panel, selectedId: row.id } }, 'enter', context);
}

function pressKey(view: ViewState, chord: string, context: InputContext): InputResult {
  return handleInput(view, { type: 'key', chord, text: chord.length === 1 ? chord : '' }, context);
}
