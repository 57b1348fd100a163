import { isJsonObject, type JsonObject, type JsonValue } from '../../contracts/json.ts';
import type { AssistantBlock, Message, ResultBlock, ToolResultBlock, UserBlock } from '../../contracts/message.ts';
import type { CacheBreakpoint, ModelRequest, RequestMessage } from '../../contracts/model.ts';
import type { QueryConfig, QueryDeps, QueryState } from '../../contracts/query.ts';
import { isObjectOrArray, MAX_JSON_DEPTH } from '../../lib/json.ts';
import { getCurrentModelId } from '../query-state.ts';
import { removeRejectedTools, replaceRejectedRequestParts } from './rejected-parts.ts';
import { normalizeCallId, normalizeMessageBlock, stripUnsupportedBlocks } from './strip-unsupported-blocks.ts';

/** Builds the model request from any history; invalid messages are repaired, never rejected. */
export function buildModelRequest(
  view: readonly Message[],
  state: Pick<QueryState, 'modelIndex' | 'maxOutputTokensOverride' | 'excluded'>,
  deps: Pick<QueryDeps, 'modelInfo' | 'system' | 'tools' | 'toolSpecs' | 'toRequestMessages'> & {
    readonly config: Pick<QueryConfig, 'chain' | 'effort' | 'thinkingBudgetTokens' | 'betas'>;
  },
): ModelRequest {
  const model = getCurrentModelId(state, deps);
  const info = deps.modelInfo(model);
  const { excluded } = state;
  const messages = replaceRejectedRequestParts(
    repairMessages(deps.toRequestMessages(stripUnsupportedBlocks(view, model, excluded))),
    excluded,
    repairMessages,
  );
  const { thinkingBudgetTokens, betas } = deps.config;
  return {
    model,
    maxOutputTokens: state.maxOutputTokensOverride ?? info.defaultOutputTokens,
    system: toWellFormedJson(deps.system().filter((part) => part.text.trim() !== '')),
    tools: removeRejectedTools(toWellFormedJson(deps.toolSpecs(deps.tools())), excluded),
    messages,
    breakpoints: selectBreakpoints(messages),
    effort: deps.config.effort,
    ...(thinkingBudgetTokens === undefined ? {} : { thinkingBudgetTokens }),
    ...(betas.length === 0 ? {} : { betas }),
  };
}

/** Makes messages valid for the API, in steps that each leave a valid list valid. @internal Exported for tests. */
export function repairMessages(messages: readonly RequestMessage[]): readonly RequestMessage[] {
  return toWellFormedJson(mergeByRole(pairResults(cleanReplies(messages))));
}

/** Converts messages from the last compaction boundary on, without ouro's own message kinds. */
export function toRequestMessages(messages: readonly Message[]): readonly RequestMessage[] {
  const boundaryIndex = messages.findLastIndex((message) => message.role === 'boundary');
  return messages.slice(boundaryIndex + 1).flatMap((message): RequestMessage[] => {
    if (message.role === 'boundary' || message.role === 'custom') return [];
    if (message.role === 'user') return [{ role: 'user', blocks: message.blocks }];
    const isPaused = message.stopReason === 'pause_turn' && message === messages.at(-1);
    return [{ role: 'assistant', blocks: message.blocks, ...(isPaused ? { isPaused } : {}) }];
  });
}

/** Returns the cache breakpoints: after the tools, after the system prompt, and after the last two user messages. */
function selectBreakpoints(messages: readonly RequestMessage[]): readonly CacheBreakpoint[] {
  const userIndexes = messages.flatMap((message, index) => (message.role === 'user' ? [index] : [])).slice(-2);
  const moving = userIndexes.flatMap((index): CacheBreakpoint[] => {
    const block = (messages[index]?.blocks.length ?? 0) - 1;
    return block < 0 ? [] : [{ at: 'message', message: index, block }];
  });
  return [{ at: 'tools' }, { at: 'system' }, ...moving];
}

/**
 * Merges messages so that roles alternate, nothing is empty, and the first and last message are the user's. A paused
 * reply may also be last.
 */
function mergeByRole(messages: readonly RequestMessage[]): readonly RequestMessage[] {
  const merged: RequestMessage[] = [];
  for (const message of messages) {
    const next = message.role === 'user' ? arrangeUserBlocks(message.blocks) : message;
    if (next === undefined) continue;
    const last = merged.at(-1);
    if (last?.role === 'user' && next.role === 'user') {
      merged[merged.length - 1] = { role: 'user', blocks: [...last.blocks, ...next.blocks] };
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

/** Returns a user message without empty blocks; `undefined` if nothing is left. */
function arrangeUserBlocks(blocks: readonly UserBlock[]): RequestMessage | undefined {
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
}

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
  return messages.flatMap((message): RequestMessage[] => {
    if (message.role === 'user') return [message];
    const cleaned = message.blocks.flatMap((block) => cleanBlock(normalizeMessageBlock(block), seen));
    // The provider expects a paused reply back unchanged.
    if (message.isPaused === true) return cleaned.length === 0 ? [] : [{ ...message, blocks: cleaned }];
    const lastSolid = cleaned.findLastIndex((block) => block.type !== 'thinking' && block.type !== 'redacted_thinking');
    return lastSolid === -1 ? [] : [{ role: 'assistant', blocks: cleaned.slice(0, lastSolid + 1) }];
  });
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
function toWellFormedJson<Value>(value: Value): Value {
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

/** Blocks already checked: they never change and are part of every later request. */
const checkedBlocks = new WeakSet<object>();
/** Depth of a block below the list of messages, the message and its list of blocks. */
const BLOCK_LEVEL = MAX_LEVELS - 3;

function isWellFormed(value: unknown, levels: number): boolean {
  if (typeof value === 'string') return value.isWellFormed();
  if (!isObjectOrArray(value)) return true;
  if (levels === 0) return false;
  if (levels !== BLOCK_LEVEL) return arePartsWellFormed(value, levels);
  if (checkedBlocks.has(value)) return true;
  if (!arePartsWellFormed(value, levels)) return false;
  checkedBlocks.add(value);
  return true;
}

function arePartsWellFormed(value: object, levels: number): boolean {
  if (Array.isArray(value)) return value.every((part) => isWellFormed(part, levels - 1));
  return Object.entries(value).every(([key, part]) => key.isWellFormed() && isWellFormed(part, levels - 1));
}
