import type { AssistantBlock, Message, ToolUseBlock } from '../contracts/message.ts';
import { sendableBlock } from './repair/sendable.ts';

type IdFacts = { readonly history: readonly Message[]; readonly newId: () => string };

/** An id no message has or had. Some servers give every reply the same id, or none. */
export function uniqueMessageId(given: string, buried: readonly string[], { history, newId }: IdFacts): string {
  const isUsed = given === '' || buried.includes(given) || history.some((message) => message.id === given);
  return isUsed ? newId() : given;
}

/**
 * A block as it enters the history: sendable, and a call with an id no other call has. Some servers number their calls
 * anew in each reply, or give them none. `undefined` for the same call once more, as some gateways send it.
 */
export function admittedBlock(
  raw: AssistantBlock,
  before: readonly AssistantBlock[],
  { history, newId }: IdFacts,
): AssistantBlock | undefined {
  const isNameless = raw.type === 'tool_use' && raw.id === '';
  const block = sendableBlock(isNameless ? { ...raw, id: callId(newId) } : raw);
  if (block.type !== 'tool_use') return block;
  if (before.some((other) => isRepeated(block, other))) return undefined;
  const isUsed = isAmong(block.id, before) || isUsedCall(block.id, history);
  return isUsed ? { ...block, id: callId(newId) } : block;
}

/** Another call with the same id is another call. */
function isRepeated(block: ToolUseBlock, other: AssistantBlock): boolean {
  if (other.type !== 'tool_use' || block.id !== other.id || block.name !== other.name) return false;
  return JSON.stringify(block.input) === JSON.stringify(other.input);
}

function callId(newId: () => string): string {
  return `toolu_${newId().replaceAll(/[^a-zA-Z0-9_-]/g, '')}`;
}

function isUsedCall(callId: string, messages: readonly Message[]): boolean {
  return messages.some((message) => message.role === 'assistant' && isAmong(callId, message.blocks));
}

function isAmong(callId: string, blocks: readonly AssistantBlock[]): boolean {
  return blocks.some((block) => block.type === 'tool_use' && block.id === callId);
}
