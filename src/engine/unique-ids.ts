import type { AssistantBlock, Message, ToolUseBlock } from '../contracts/message.ts';
import { normalizeMessageBlock } from './request/sendable-block.ts';

/** The calls of a reply by their id, which some servers give to several calls. */
export type CallsById = ReadonlyMap<string, readonly ToolUseBlock[]>;

type IdContext = { readonly history: readonly Message[]; readonly newId: () => string };

/** Returns a message id, or a new one if it is empty or used: some servers send the same id in every reply, or none. */
export function ensureUniqueMessageId(id: string, discarded: readonly string[], { history, newId }: IdContext): string {
  const isUsed = id === '' || discarded.includes(id) || collectUsedIds(history).messages.has(id);
  return isUsed ? newId() : id;
}

/**
 * Returns a received block as it enters the history: sendable, and a call with a unique id, because some servers
 * restart ids in each reply or send none. Returns `undefined` for a repeated call, which some gateways send.
 */
export function admitReceivedBlock(
  received: AssistantBlock,
  earlierCalls: CallsById,
  { history, newId }: IdContext,
): AssistantBlock | undefined {
  const hasNoId = received.type === 'tool_use' && received.id === '';
  const block = normalizeMessageBlock(hasNoId ? { ...received, id: createCallId(newId) } : received);
  if (block.type !== 'tool_use') return block;
  const sameId = earlierCalls.get(block.id);
  if (sameId?.some((other) => isRepeated(block, other))) return undefined;
  const isUsed = sameId !== undefined || collectUsedIds(history).calls.has(block.id);
  return isUsed ? { ...block, id: createCallId(newId) } : block;
}

/** Tells whether a block repeats an earlier call; the same id with another name or input is a different call. */
function isRepeated(block: ToolUseBlock, other: ToolUseBlock): boolean {
  return block.name === other.name && JSON.stringify(block.input) === JSON.stringify(other.input);
}

function createCallId(newId: () => string): string {
  return `toolu_${newId().replaceAll(/[^a-zA-Z0-9_-]/g, '')}`;
}

type UsedIds = {
  readonly history: readonly Message[];
  readonly messages: ReadonlySet<string>;
  readonly calls: ReadonlySet<string>;
};

/** Ids collected for the previous reply, by the first message of the conversation. */
const cachedIds = new WeakMap<Message, UsedIds>();

/** Collects the ids of a conversation, reading only new messages if the earlier ones are unchanged. */
function collectUsedIds(history: readonly Message[]): UsedIds {
  const [first] = history;
  const cached = first && cachedIds.get(first);
  if (cached?.history === history) return cached;
  const isExtended = cached?.history.every((message, at) => message === history[at]) === true;
  const newMessages = isExtended ? history.slice(cached.history.length) : history;
  const messages = new Set(isExtended ? cached.messages : []);
  const calls = new Set(isExtended ? cached.calls : []);
  for (const message of newMessages) {
    messages.add(message.id);
    if (message.role !== 'assistant') continue;
    for (const block of message.blocks) if (block.type === 'tool_use') calls.add(block.id);
  }
  const ids = { history, messages, calls };
  if (first !== undefined) cachedIds.set(first, ids);
  return ids;
}
