import type { QueuedMessage } from '../../contracts/event.ts';
import type { UserBlock } from '../../contracts/message.ts';
import { type InputResult, type UiEffect, withoutEffects } from '../input/input-result.ts';
import { applyDraftEditorAction } from '../widgets/composer/draft-editor-actions.ts';
import type { ViewState } from './view-state.ts';

/** Returns the text that the user typed, without attached files and reminders. */
export function getUserMessageText(blocks: readonly UserBlock[]): string {
  const texts = blocks.flatMap((block) => (block.type === 'text' && !isReminder(block.text) ? [block.text] : []));
  // The text already mentions its images; a message without text consists of them.
  return texts.length > 0 ? texts.join('\n') : blocks.flatMap(formatAttachment).join('\n');
}

/** Returns the text of a queued message as it was typed. */
export function getQueuedText({ message }: QueuedMessage): string {
  return message.command ?? getUserMessageText(message.blocks);
}

function isReminder(text: string): boolean {
  return text.startsWith('<reminder>') || text.startsWith('<system-reminder>');
}

function formatAttachment(block: UserBlock): readonly string[] {
  return block.type === 'image' || block.type === 'document' ? [`[${block.type}]`] : [];
}

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
