import { edit } from '../composer/edit.ts';
import type { EditorState } from '../composer/editor-state.ts';
import { only, type Pressed } from '../press/effects.ts';
import { press } from '../press/press.ts';
import type { PressContext } from '../press/press-context.ts';
import { pickerChoices } from '../view/overlay.ts';
import { type PanelView, panelRows } from '../view/panel-view.ts';
import type { ViewState } from '../view/view-state.ts';
import { armedFor, numberedOptions } from './linear-words.ts';

/** What a line comes to; `again` when the question that waits for it is to be repeated. */
export function pressLine(
  view: ViewState,
  line: string,
  context: PressContext,
  draft: EditorState | undefined,
): Pressed | 'again' {
  if (line === '/stop') return key(view, 'escape', context);
  if (draft !== undefined) return key({ ...view, editor: draft }, 'enter', context);
  const answered = answerLine(view, line, context);
  if (answered !== 'message') return answered;
  if (view.rest === 'limited' && line.trim() === 'w')
    return key({ ...view, keys: { ...view.keys, lastKeyAtMs: 0 } }, 'w', context);
  // Words that were refused wait in the composer: enter alone sends them again.
  const sendsAgain = line.trim() === '' && view.rest === 'failed';
  const editor = sendsAgain ? view.editor : edit(view.editor, { type: 'set-text', text: line }, context.nowMs);
  return key({ ...view, editor }, 'enter', context);
}

/** What a line means to whatever waits for one; `message` when nothing does. */
function answerLine(view: ViewState, line: string, context: PressContext): Pressed | 'again' | 'message' {
  if (view.overlay?.kind === 'picker') return pickLine(view, line, context);
  const ask = view.asks[0];
  // What is asked was read out last, so that is what is answered.
  if (view.overlay?.kind === 'panel' && ask === undefined) return panelLine(view, view.overlay, line, context);
  if (ask === undefined) return 'message';
  const attention = armedFor(view);
  if (attention.form.writing !== 'nothing') {
    const editor = edit(view.editor, { type: 'set-text', text: line }, context.nowMs);
    return key({ ...view, attention, editor }, 'enter', context);
  }
  if (line.trim() === '?') return 'again';
  const option = /^\d{1,2}$/.test(line.trim()) ? numberedOptions(ask, attention)[Number(line) - 1] : undefined;
  // Anything but a number is a message for later, and answers nothing.
  if (option === undefined) return /^\d*$/.test(line.trim()) ? 'again' : 'message';
  return key({ ...view, attention, keys: { ...view.keys, lastKeyAtMs: 0 } }, option.key, context);
}

function pickLine(view: ViewState, line: string, context: PressContext): Pressed {
  const { overlay } = view;
  if (overlay?.kind !== 'picker') return only(view);
  const choices = pickerChoices(overlay);
  const words = line.trim();
  const at = /^\d+$/.test(words)
    ? Number(words) - 1
    : choices.findIndex(({ id, label }) => id === words || label === words);
  if (choices[at] === undefined) return key(view, 'escape', context);
  return key({ ...view, overlay: { ...overlay, selected: at } }, 'enter', context);
}

/** A number is the row that enter is meant for; words are written where something is being written. */
function panelLine(view: ViewState, panel: PanelView, line: string, context: PressContext): Pressed {
  const words = line.trim();
  const { doing } = panel;
  if (doing.type === 'writing') {
    const editor = edit(doing.editor, { type: 'set-text', text: words }, context.nowMs);
    return key({ ...view, overlay: { ...panel, doing: { ...doing, editor } } }, 'enter', context);
  }
  if (doing.type === 'sure') return key(view, words === 'yes' ? doing.act.key : 'escape', context);
  const row = panelRows(panel)[Number(words) - 1];
  if (row === undefined) {
    const closed = { ...view, overlay: undefined };
    const editor = edit(view.editor, { type: 'set-text', text: line }, context.nowMs);
    // Anything but a number was meant for the conversation.
    return words === '' ? only(closed) : key({ ...closed, editor }, 'enter', context);
  }
  return key({ ...view, overlay: { ...panel, at: row.id } }, 'enter', context);
}

function key(view: ViewState, chord: string, context: PressContext): Pressed {
  return press(view, { type: 'key', chord, text: chord.length === 1 ? chord : '' }, context);
}
