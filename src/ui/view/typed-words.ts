import type { QueuedMessage } from '../../contracts/event.ts';
import type { UserBlock } from '../../contracts/message.ts';

/** What a person wrote of a message: the files and reminders that go with it are left out. */
export function typedWords(blocks: readonly UserBlock[]): string {
  const written = blocks.flatMap((block) => (block.type === 'text' && !isOurs(block.text) ? [block.text] : []));
  // Pictures are named where they stand in the words; alone, they are all there is.
  return written.length > 0 ? written.join('\n') : blocks.flatMap(nameOf).join('\n');
}

/** The words of a queued message. */
export function queuedWords({ message }: QueuedMessage): string {
  return typedWords(message.blocks);
}

function isOurs(text: string): boolean {
  return text.startsWith('<reminder>') || text.startsWith('<system-reminder>');
}

function nameOf(block: UserBlock): readonly string[] {
  return block.type === 'image' || block.type === 'document' ? [`[${block.type}]`] : [];
}
