import { isJsonObject, type JsonObject, type JsonValue } from '../../contracts/json.ts';
import type { AssistantBlock, ResultBlock, ToolResultBlock, UserBlock } from '../../contracts/message.ts';
import type { RequestMessage } from '../../contracts/model.ts';
import { isObjectOrArray, MAX_JSON_DEPTH } from '../../lib/json.ts';
import { memoizeByObject } from '../../lib/memoize.ts';
import { normalizeCallId, normalizeMessageBlock } from './rejected-parts.ts';

/** Makes messages valid for the API, in steps that each leave a valid list valid. */
export function repairMessages(messages: readonly RequestMessage[]): readonly RequestMessage[] {
  return toWellFormedJson(mergeByRole(pairResults(cleanReplies(messages))));
}

/**
 * Merges messages so that roles alternate, nothing is empty, and the first and last message are the user's. A paused
 * reply may also be last.
 */
function mergeByRole(messages: readonly RequestMessage[]): readonly RequestMessage[] {
  const merged: RequestMessage[] = [];
  for (const message of messages) {
    const next = message.role === 'user' ? arrangeUserMessage(message) : message;
    if (next === undefined) continue;
    const last = merged.at(-1);
    if (last?.role === 'user' && next.role === 'user') {
      merged[merged.length - 1] = joinUserMessages(last)(next);
    } else if (last?.role === 'assistant' && next.role === 'assistant') {
      merged[merged.length - 1] = { ...next, blocks: [...last.blocks, ...next.blocks] };
    } else {
      merged.push(next);
    }
  }
  if (merged[0]?.role === 'assistant') merged.unshift(createUserMessage('(The conversation goes on.)'));
  const end = merged.at(-1);
  if (end?.role !== 'user' && end?.isPaused !== true) merged.push(createUserMessage('Go on.'));
  return merged;
}

function createUserMessage(text: string): RequestMessage {
  return { role: 'user', blocks: [{ type: 'text', text }] };
}

type UserMessage = Extract<RequestMessage, { role: 'user' }>;

const joinUserMessages = memoizeByObject((first: UserMessage) =>
  memoizeByObject((next: UserMessage): UserMessage => ({ role: 'user', blocks: [...first.blocks, ...next.blocks] })),
);

/** Returns a user message without empty blocks; `undefined` if nothing is left. */
const arrangeUserMessage = memoizeByObject(({ blocks }: UserMessage): UserMessage | undefined => {
  const nonEmpty = blocks.flatMap((block): UserBlock[] => {
    if (block.type === 'text') return block.text.trim() === '' ? [] : [block];
    if (block.type === 'tool_result') return [normalizeResult(block)];
    return [block];
  });
  const textOnly = nonEmpty.map((block) =>
    isFailedResult(block) ? { ...block, content: replaceMedia(block.content) } : block,
  );
  const media = nonEmpty.flatMap((block) => (isFailedResult(block) ? listMedia(block.content) : []));
  const all = [...textOnly, ...media];
  return all.length === 0 ? undefined : { role: 'user', blocks: all };
});

function normalizeResult(block: ToolResultBlock): ToolResultBlock {
  if (typeof block.content === 'string') {
    return block.content.trim() === '' ? { ...block, content: '(no output)' } : block;
  }
  const content = block.content.filter((part) => part.type !== 'text' || part.text.trim() !== '');
  if (content.length > 0 && content.length === block.content.length) return block;
  return { ...block, content: content.length === 0 ? '(no output)' : content };
}

type FailedResult = ToolResultBlock & { readonly content: readonly ResultBlock[] };

/** The result of a failed call may hold only text: its images follow the results of the message. */
function isFailedResult(block: UserBlock): block is FailedResult {
  return block.type === 'tool_result' && block.is_error === true && typeof block.content !== 'string';
}

function replaceMedia(content: readonly ResultBlock[]): readonly ResultBlock[] {
  return content.map((part) => (part.type === 'text' ? part : { type: 'text', text: MEDIA_NOTES[part.type] }));
}

function listMedia(content: readonly ResultBlock[]): readonly UserBlock[] {
  return content.filter((part) => part.type !== 'text');
}

const MEDIA_NOTES = {
  image: '(The picture follows the results.)',
  document: '(The document follows the results.)',
} as const;

const LOST_RESULT = 'Interrupted; the call may or may not have run. Check before repeating it.';

/** Gives every call exactly one result, at the start of the next user message and in call order. */
function pairResults(messages: readonly RequestMessage[]): readonly RequestMessage[] {
  if (arePaired(messages)) return messages;
  const results = collectFirstResults(messages);
  const paired: RequestMessage[] = [];
  for (const message of messages) {
    if (message.role === 'user') {
      const otherBlocks = message.blocks.filter((block) => block.type !== 'tool_result');
      if (otherBlocks.length > 0) paired.push({ role: 'user', blocks: otherBlocks });
      continue;
    }
    paired.push(message);
    const callResults = message.blocks.flatMap((block): UserBlock[] =>
      block.type === 'tool_use' ? [results.get(block.id) ?? createLostResult(block.id)] : [],
    );
    if (callResults.length > 0) paired.push({ role: 'user', blocks: callResults });
  }
  return paired;
}

/** Tells whether each reply is followed by exactly the results of its calls, in call order, before anything else. */
function arePaired(messages: readonly RequestMessage[]): boolean {
  let callIds: readonly string[] = [];
  for (const message of messages) {
    if (message.role === 'assistant') {
      if (callIds.length > 0) return false;
      callIds = listCallIds(message.blocks);
    } else {
      const resultIds = listResultIds(message.blocks);
      if (resultIds.length !== callIds.length || !callIds.every((id, index) => id === resultIds[index])) return false;
      callIds = [];
    }
  }
  return callIds.length === 0;
}

const listCallIds = memoizeByObject((blocks: readonly AssistantBlock[]) =>
  blocks.flatMap((block) => (block.type === 'tool_use' ? [block.id] : [])),
);

/** Returns the ids of the results by position; other blocks before a result count as well. */
const listResultIds = memoizeByObject((blocks: readonly UserBlock[]) =>
  blocks
    .slice(0, blocks.findLastIndex(({ type }) => type === 'tool_result') + 1)
    .map((block) => (block.type === 'tool_result' ? block.tool_use_id : undefined)),
);

function collectFirstResults(messages: readonly RequestMessage[]): ReadonlyMap<string, ToolResultBlock> {
  const results = new Map<string, ToolResultBlock>();
  for (const message of messages) {
    if (message.role !== 'user') continue;
    for (const block of message.blocks) {
      if (block.type !== 'tool_result') continue;
      const id = normalizeCallId(block.tool_use_id);
      if (!results.has(id)) results.set(id, id === block.tool_use_id ? block : { ...block, tool_use_id: id });
    }
  }
  return results;
}

function createLostResult(callId: string): ToolResultBlock {
  return { type: 'tool_result', tool_use_id: callId, content: LOST_RESULT, is_error: true };
}

/** Removes from replies what the API rejects: unknown kinds, blank text, duplicate calls, and thinking at the end. */
function cleanReplies(messages: readonly RequestMessage[]): readonly RequestMessage[] {
  const seen = new Set<string>();
  return messages.flatMap((message): readonly RequestMessage[] => {
    if (message.role === 'user') return [message];
    const cleaned = cleanReplyAlone(message);
    const callIds = cleaned === undefined ? [] : listCallIds(cleaned.blocks);
    const unique = callIds.some((id) => seen.has(id)) ? cleanReply(message, seen) : cleaned;
    for (const id of callIds) seen.add(id);
    return unique === undefined ? [] : [unique];
  });
}

type ReplyMessage = Extract<RequestMessage, { role: 'assistant' }>;

const cleanReplyAlone = memoizeByObject((message: ReplyMessage) => cleanReply(message, new Set()));

/** Returns a reply as the API accepts it, without calls seen before; `undefined` if nothing is left. */
function cleanReply(message: ReplyMessage, seen: Set<string>): ReplyMessage | undefined {
  const cleaned = message.blocks.flatMap((block) => cleanBlock(normalizeMessageBlock(block), seen));
  // The provider expects a paused reply back unchanged.
  if (message.isPaused === true) return cleaned.length === 0 ? undefined : { ...message, blocks: cleaned };
  const lastSolid = cleaned.findLastIndex((block) => block.type !== 'thinking' && block.type !== 'redacted_thinking');
  return lastSolid === -1 ? undefined : { role: 'assistant', blocks: cleaned.slice(0, lastSolid + 1) };
}

function cleanBlock(block: AssistantBlock, seen: Set<string>): readonly AssistantBlock[] {
  switch (block.type) {
    case 'opaque':
      return [];
    case 'text':
      return block.text.trim() === '' ? [] : [block];
    case 'thinking':
      return block.signature === '' ? [] : [block];
    case 'tool_use': {
      if (seen.has(block.id)) return [];
      seen.add(block.id);
      return [isJsonObject(block.input) ? block : { ...block, input: wrapInput(block.input) }];
    }
    default:
      return [block];
  }
}

/** Wraps an input that is not an object, so that the model still sees it; the call itself failed. */
function wrapInput(input: JsonValue): JsonObject {
  return { input };
}

/** Deeper than any sendable block. */
const MAX_LEVELS = MAX_JSON_DEPTH + 20;
const TOO_DEEP_TEXT = '(nested too deep, left out)';

/** Returns a value without lone surrogates and not nested too deep to be sent; the same value if it is already fine. */
export function toWellFormedJson<Value>(value: Value): Value {
  return isWellFormed(value, MAX_LEVELS) ? value : JSON.parse(JSON.stringify(value, createReplacer(value)));
}

/** Creates a JSON replacer that fixes strings and cuts off values below the depth limit. */
function createReplacer(root: unknown) {
  const levels = new WeakMap<object, number>();
  return function replaceValue(this: object, key: string, value: unknown): unknown {
    if (typeof value === 'string') return value.toWellFormed();
    if (!isObjectOrArray(value)) return value;
    const remaining = key === '' && value === root ? MAX_LEVELS : (levels.get(this) ?? MAX_LEVELS) - 1;
    if (remaining === 0) return TOO_DEEP_TEXT;
    const wellFormedKeys = fixKeys(value);
    levels.set(wellFormedKeys, remaining);
    return wellFormedKeys;
  };
}

function fixKeys(value: object): object {
  if (Array.isArray(value) || Object.keys(value).every((key) => key.isWellFormed())) return value;
  return Object.fromEntries(Object.entries(value).map(([key, part]) => [key.toWellFormed(), part]));
}

/** Messages, tools and blocks that were checked: they never change and are part of every later request. */
const checkedParts = new WeakSet<object>();
/** Depth of a block below the list of messages, the message and its list of blocks. */
const BLOCK_LEVEL = MAX_LEVELS - 3;

function isWellFormed(value: unknown, levels: number): boolean {
  if (typeof value === 'string') return value.isWellFormed();
  if (!isObjectOrArray(value)) return true;
  if (levels === 0) return false;
  if (levels === MAX_LEVELS || levels < BLOCK_LEVEL) return arePartsWellFormed(value, levels);
  if (checkedParts.has(value)) return true;
  if (!arePartsWellFormed(value, levels)) return false;
  checkedParts.add(value);
  return true;
}

function arePartsWellFormed(value: object, levels: number): boolean {
  for (const [key, part] of Object.entries(value)) {
    if (!key.isWellFormed()) return false;
    if (typeof part === 'string' ? !part.isWellFormed() : !isWellFormed(part, levels - 1)) return false;
  }
  return true;
}
