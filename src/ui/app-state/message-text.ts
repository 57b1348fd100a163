import type { QueuedMessage } from '../../contracts/event.ts';
import type { UserBlock } from '../../contracts/message.ts';

/** Returns the text that the user typed, without attached files and reminders. */
export function getUserMessageText(blocks: readonly UserBlock[]): string {
  const texts = blocks.flatMap((block) => (block.type === 'text' && !isReminder(block.text) ? [block.text] : []));
  // The text already mentions its images; a message without text consists of them.
  return texts.length > 0 ? texts.join('\n') : blocks.flatMap(formatAttachment).join('\n');
}

export function getQueuedText({ message }: QueuedMessage): string {
  return message.command ?? getUserMessageText(message.blocks);
}

function isReminder(text: string): boolean {
  return text.startsWith('<reminder>') || text.startsWith('<system-reminder>');
}

function formatAttachment(block: UserBlock): readonly string[] {
  return block.type === 'image' || block.type === 'document' ? [`[${block.type}]`] : [];
}
