import { getQueuedText } from '../app-state/message-text.ts';
import type { ViewState } from '../app-state/view-state.ts';
import { applyDraftEditorAction } from '../widgets/composer/draft-editor-actions.ts';
import { type InputResult, type UiEffect, withoutEffects } from './input-result.ts';

/** Moves queued messages back into the draft, before its present text. */
export function moveQueuedToDraft(view: ViewState, which: 'last' | 'all'): InputResult {
  // Pinned messages are not drafts: they wait for the next request.
  const drafts = view.queue.filter(({ message }) => message.pinned !== true);
  const taken = which === 'all' ? drafts : drafts.slice(-1);
  if (taken.length === 0) return withoutEffects(view);
  const effects: readonly UiEffect[] = taken.map(({ id }) => ({ type: 'unqueue', id }));
  return { view: { ...view, editor: prependTexts(view, taken.map(getQueuedText)) }, effects };
}

function prependTexts(view: ViewState, texts: readonly string[]): ViewState['editor'] {
  const parts = [...texts, view.editor.text].filter((part) => part !== '');
  return applyDraftEditorAction(view.editor, { type: 'set-text', text: parts.join('\n\n') }, 0);
}
