import type { AssistantBlock, UserBlock } from '../../contracts/message.ts';

/** The name that thinking goes by. */
export const THINKING = 'thinking';

/** Is it a picture or document that is told of? */
export function isPictureName(name: string): boolean {
  return name === NAMES.image || name === NAMES.document;
}

/** What a person is told a block is. */
export function nameOf(block: UserBlock | AssistantBlock): string {
  if (block.type === 'tool_use') return `a call of ${block.name}`;
  return block.type === 'server' ? `a block of the kind ${String(block.raw.type)}` : NAMES[block.type];
}

const NAMES = {
  text: 'a text',
  tool_result: 'a result',
  image: 'a picture',
  document: 'a document',
  thinking: THINKING,
  redacted_thinking: THINKING,
  opaque: 'a block of an unknown kind',
} as const;
