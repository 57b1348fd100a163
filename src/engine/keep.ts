import type { AssistantMessage, UserMessage, UserOrigin } from '../contracts/message.ts';
import type { QueryDeps } from '../contracts/query.ts';

/** A line of ours to the model, marked as such. */
export function metaLine(deps: Pick<QueryDeps, 'newId'>, origin: UserOrigin, text: string): UserMessage {
  return { role: 'user', id: deps.newId(), origin, blocks: [{ type: 'text', text }] };
}

/** What of a reply may stay: not blank, not ending in thinking, never a call nobody will answer. */
export function worthKeeping(
  reply: AssistantMessage | undefined,
  { calls }: { readonly calls: 'kept' | 'dropped' },
): AssistantMessage | undefined {
  if (reply === undefined) return undefined;
  const blocks = reply.blocks.filter(
    (block) => (calls === 'kept' || block.type !== 'tool_use') && (block.type !== 'text' || block.text.trim() !== ''),
  );
  const lastSolid = blocks.findLastIndex((block) => block.type !== 'thinking' && block.type !== 'redacted_thinking');
  return lastSolid === -1 ? undefined : { ...reply, blocks: blocks.slice(0, lastSolid + 1) };
}
