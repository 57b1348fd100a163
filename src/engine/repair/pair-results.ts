import type { ToolResultBlock, UserBlock } from '../../contracts/message.ts';
import type { RequestMessage } from '../../contracts/model.ts';
import { sendableId } from './sendable.ts';

const LOST_RESULT = 'Interrupted; the call may or may not have run. Check before repeating it.';

/** Every call has exactly one result, in the next user message, results first and in call order. */
export function pairResults(messages: readonly RequestMessage[]): readonly RequestMessage[] {
  const results = firstResults(messages);
  const paired: RequestMessage[] = [];
  for (const message of messages) {
    if (message.role === 'user') {
      const others = message.blocks.filter((block) => block.type !== 'tool_result');
      if (others.length > 0) paired.push({ role: 'user', blocks: others });
      continue;
    }
    paired.push(message);
    const answers = message.blocks.flatMap((block): UserBlock[] =>
      block.type === 'tool_use' ? [results.get(block.id) ?? lost(block.id)] : [],
    );
    if (answers.length > 0) paired.push({ role: 'user', blocks: answers });
  }
  return paired;
}

function firstResults(messages: readonly RequestMessage[]): ReadonlyMap<string, ToolResultBlock> {
  const results = new Map<string, ToolResultBlock>();
  for (const message of messages) {
    if (message.role !== 'user') continue;
    for (const block of message.blocks) {
      if (block.type !== 'tool_result') continue;
      const id = sendableId(block.tool_use_id);
      if (!results.has(id)) results.set(id, id === block.tool_use_id ? block : { ...block, tool_use_id: id });
    }
  }
  return results;
}

function lost(callId: string): ToolResultBlock {
  return { type: 'tool_result', tool_use_id: callId, content: LOST_RESULT, is_error: true };
}
