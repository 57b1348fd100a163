import type { AssistantBlock, Message, ToolUseBlock } from '../contracts/message.ts';
import { sendableBlock } from './repair/sendable.ts';

type IdFacts = { readonly history: readonly Message[]; readonly newId: () => string };

/** An id no message has or had. Some servers give every reply the same id, or none. */
export function uniqueMessageId(given: string, buried: readonly string[], { history, newId }: IdFacts): string {
  const isUsed = given === '' || buried.includes(given) || usedIn(history).messages.has(given);
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
  const isUsed = isAmong(block.id, before) || usedIn(history).calls.has(block.id);
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

type UsedIds = {
  readonly history: readonly Message[];
  readonly messages: ReadonlySet<string>;
  readonly calls: ReadonlySet<string>;
};

/** What was gone through for the reply before, by how the conversation begins. */
const used = new WeakMap<Message, UsedIds>();

/** Goes through what has joined since the last reply; through all where what was there is no longer the same. */
function usedIn(history: readonly Message[]): UsedIds {
  const [first] = history;
  const before = first && used.get(first);
  if (before?.history === history) return before;
  const isGrown = before?.history.every((message, at) => message === history[at]) === true;
  const fresh = isGrown ? history.slice(before.history.length) : history;
  const messages = new Set(isGrown ? before.messages : []);
  const calls = new Set(isGrown ? before.calls : []);
  for (const message of fresh) {
    messages.add(message.id);
    if (message.role !== 'assistant') continue;
    for (const block of message.blocks) if (block.type === 'tool_use') calls.add(block.id);
  }
  const ids = { history, messages, calls };
  if (first !== undefined) used.set(first, ids);
  return ids;
}

function isAmong(callId: string, blocks: readonly AssistantBlock[]): boolean {
  return blocks.some((block) => block.type === 'tool_use' && block.id === callId);
}
