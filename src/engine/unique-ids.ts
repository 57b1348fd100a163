import type { AssistantBlock, Message } from '../contracts/message.ts';

type IdFacts = { readonly earlier: readonly Message[]; readonly newId: () => string };

/** An id no message has or had. Some servers give every reply the same id, or none. */
export function uniqueMessageId(given: string, buried: readonly string[], { earlier, newId }: IdFacts): string {
  const isUsed = given === '' || buried.includes(given) || earlier.some((message) => message.id === given);
  return isUsed ? newId() : given;
}

/** A call that came without an id gets one. */
export function namedBlock(block: AssistantBlock, { newId }: Pick<IdFacts, 'newId'>): AssistantBlock {
  return block.type === 'tool_use' && block.id === '' ? { ...block, id: callId(newId) } : block;
}

/** A call gets an id no other call has. Some local servers number their calls anew in each reply. */
export function uniqueBlock(block: AssistantBlock, { earlier, newId }: IdFacts): AssistantBlock {
  if (block.type !== 'tool_use' || !isUsedCall(block.id, earlier)) return block;
  return { ...block, id: callId(newId) };
}

function callId(newId: () => string): string {
  return `toolu_${newId().replaceAll(/[^a-zA-Z0-9_-]/g, '')}`;
}

function isUsedCall(callId: string, messages: readonly Message[]): boolean {
  return messages.some(
    (message) =>
      message.role === 'assistant' && message.blocks.some((block) => block.type === 'tool_use' && block.id === callId),
  );
}
