import type { AgentEvent } from '../../contracts/event.ts';
import { wireResult, wireToolResult, wireUserBlock } from '../../contracts/face/wire.ts';
import type { JsonObject } from '../../contracts/json.ts';

type ToolEnd = Extract<AgentEvent, { type: 'tool_end' }>;

/** A result as it completes, with its structured form beside it. */
export function resultLine(event: ToolEnd, parent: JsonObject, timestamp: string): JsonObject {
  return {
    type: 'user',
    message: { role: 'user', content: [wireResult(event.result)] },
    ...parent,
    timestamp,
    tool_use_result: wireToolResult(event.result, event.structured),
  };
}

/** The words of a user message; its results were written when they completed. */
export function userLines(
  event: Extract<AgentEvent, { type: 'message_end' }>,
  parent: JsonObject,
  { replaysPrompts }: { readonly replaysPrompts: boolean },
): readonly JsonObject[] {
  const { message } = event;
  if (message.role !== 'user') return [];
  const typed = message.origin === 'prompt' || message.origin === 'steer' || message.origin === 'follow_up';
  const isMain = parent.parent_tool_use_id === null;
  // A sub-agent's first words are its prompt; the main prompt is repeated only on request.
  if (typed && isMain && !replaysPrompts) return [];
  const words = message.blocks.filter((block) => block.type !== 'tool_result');
  if (words.length === 0) return [];
  const interrupt = words.some((block) => block.type === 'text' && /^\[Request interrupted by user/.test(block.text));
  return [
    {
      type: 'user',
      message: { role: 'user', content: words.map(wireUserBlock) },
      ...parent,
      uuid: message.id,
      ...(message.at === undefined ? {} : { timestamp: message.at }),
      ...(typed && isMain ? { isReplay: true } : {}),
      ...(typed || interrupt ? {} : { isSynthetic: true }),
    },
  ];
}
