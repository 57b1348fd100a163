import type { AssistantBlock, Message } from '../contracts/message.ts';

/** Ids are unique in a conversation, whatever a server calls its replies and calls. */
export function uniqueIds(
  earlier: readonly Message[],
  newId: () => string,
): {
  messageId(given: string): string;
  blockOf(block: AssistantBlock): AssistantBlock;
  /** An id that was shown and taken back does not come again. */
  bury(messageId: string): void;
} {
  const buried = new Set<string>();
  return {
    // Some servers give every reply the same id, or none.
    messageId(given) {
      const isUsed = given === '' || buried.has(given) || earlier.some((message) => message.id === given);
      return isUsed ? newId() : given;
    },
    // Some local servers number their calls anew in each reply.
    blockOf(block) {
      if (block.type !== 'tool_use' || !isUsedCall(block.id, earlier)) return block;
      return { ...block, id: `toolu_${newId().replaceAll(/[^a-zA-Z0-9_-]/g, '')}` };
    },
    bury: (messageId) => void buried.add(messageId),
  };
}

function isUsedCall(callId: string, messages: readonly Message[]): boolean {
  return messages.some(
    (message) =>
      message.role === 'assistant' && message.blocks.some((block) => block.type === 'tool_use' && block.id === callId),
  );
}
