import type { JsonObject } from '../../../contracts/json.ts';
import type { AssistantBlock, ResultBlock, UserBlock } from '../../../contracts/message.ts';
import type {
  CacheBreakpoint,
  Effort,
  ModelInfo,
  ModelRequest,
  RequestMessage,
  SerializedRequestPieces,
  SystemPart,
  ToolSpec,
} from '../../../contracts/model.ts';
import { exhaustive } from '../../../lib/errors.ts';
import { copyAsJson } from '../../../lib/json.ts';
import { memoizeByObject } from '../../../lib/memoize.ts';
import { clampEffort } from '../../efforts.ts';
import { narrowToObject } from '../../stream/json-values.ts';
import type { StreamTimeouts } from '../../stream/model-attempt.ts';

const CACHE_CONTROL = { type: 'ephemeral' } as const;
const MAX_BREAKPOINTS = 4;
const MIN_THINKING_TOKENS = 1024;

/** Builds the body of a Messages API request. The same request always gives the same bytes. */
export function buildMessagesRequest(request: ModelRequest, info: ModelInfo): JsonObject {
  const breakpoints = request.breakpoints.slice(0, MAX_BREAKPOINTS);
  const tools = buildTools(request, info, breakpoints);
  const system = buildSystem(request, breakpoints);
  return {
    model: request.model,
    max_tokens: request.maxOutputTokens,
    ...(system.length > 0 && { system }),
    ...(tools.length > 0 && { tools }),
    ...(request.forcedTool && !info.refusesForcedTool && { tool_choice: { type: 'tool', name: request.forcedTool } }),
    messages: request.messages.map((message, index) => {
      const sent = index === request.messages.length - 1 ? trimPausedReply(message) : message;
      const cachedBlock = findCachedBlock(sent, index, breakpoints);
      return cachedBlock === undefined ? buildUncachedMessage(sent) : buildMessage(sent, cachedBlock);
    }),
    ...buildThinkingFields(request, info),
    ...buildEditingFields(request, info),
    ...(request.metadataUserId && { metadata: { user_id: request.metadataUserId } }),
    stream: true,
  };
}

/** Serializes a body. Most of it was sent before: the texts of its messages, tools and system prompts are used again. */
export function serializeMessagesRequest({ system, tools, messages, ...rest }: JsonObject): string {
  const fields = Object.entries({ system, tools, messages }).map(([name, list]) =>
    Array.isArray(list) ? `,"${name}":${serializeList(list)}` : '',
  );
  return `${JSON.stringify(rest).slice(0, -1)}${fields.join('')}}`;
}

/** Removes blank text at the end of a paused reply: the API refuses a request that ends with it. */
function trimPausedReply(message: RequestMessage): RequestMessage {
  const last = message.blocks.at(-1);
  if (message.role !== 'assistant' || last?.type !== 'text' || !/\s$/.test(last.text)) return message;
  const text = last.text.trimEnd();
  const before = message.blocks.slice(0, -1);
  if (text === '' && before.length > 0) return trimPausedReply({ ...message, blocks: before });
  return { ...message, blocks: [...before, { ...last, text }] };
}

/** Serializes a request independently of the provider; equal texts mean equal requests. */
export function serializeModelRequest(request: ModelRequest): string {
  const { before, messages, serializeMessage, after } = serializeModelRequestParts(request);
  return `${before}${messages.map(serializeMessage).join(',')}${after}`;
}

/** Returns the serialized request in parts, so that the text of unchanged messages can be reused. */
export function serializeModelRequestParts(request: ModelRequest): SerializedRequestPieces {
  const { model, maxOutputTokens, messages, effort, thinkingBudgetTokens, forcedTool, betas, webSearch } = request;
  const limits = { model, maxOutputTokens, effort, thinkingBudgetTokens, forcedTool, betas, webSearch };
  const system = JSON.stringify(request.system.map(({ text }) => text));
  const tools = serializeList(request.tools.map(buildToolSpec));
  return {
    rest: copyAsJson({ ...limits, breakpoints: request.breakpoints }),
    system,
    tools,
    before: `${JSON.stringify(limits).slice(0, -1)},"system":${system},"tools":${tools},"messages":[`,
    messages,
    serializeMessage: (message) => serializePart(buildUncachedMessage(message)),
    after: `],"breakpoints":${JSON.stringify(request.breakpoints)}}`,
  };
}

function buildSystem(request: ModelRequest, breakpoints: readonly CacheBreakpoint[]): readonly JsonObject[] {
  const parts = request.system.filter(({ text }) => text.trim() !== '').map(buildSystemPart);
  return breakpoints.some(({ at }) => at === 'system') ? addCacheControl(parts) : parts;
}

function buildTools(
  request: ModelRequest,
  info: ModelInfo,
  breakpoints: readonly CacheBreakpoint[],
): readonly JsonObject[] {
  const tools = request.tools.map(buildToolSpec);
  const { webSearch } = request;
  if (webSearch && info.webSearch) {
    tools.push({
      type: 'web_search_20250305',
      name: 'web_search',
      ...(webSearch.maxUses !== undefined && { max_uses: webSearch.maxUses }),
      ...(webSearch.allowedDomains && { allowed_domains: webSearch.allowedDomains }),
      ...(webSearch.blockedDomains && { blocked_domains: webSearch.blockedDomains }),
    });
  }
  return breakpoints.some(({ at }) => at === 'tools') ? addCacheControl(tools) : tools;
}

const buildToolSpec = memoizeByObject(
  ({ name, description, input_schema }: ToolSpec): JsonObject => ({ name, description, input_schema }),
);

const buildSystemPart = memoizeByObject(({ text }: SystemPart): JsonObject => ({ type: 'text', text }));

function addCacheControl(items: readonly JsonObject[]): readonly JsonObject[] {
  const last = items.at(-1);
  return last ? [...items.slice(0, -1), markAsCached(last)] : items;
}

const markAsCached = memoizeByObject((item: JsonObject): JsonObject => ({ ...item, cache_control: CACHE_CONTROL }));

/** Finds the block that ends a cached prefix. Thinking blocks cannot carry `cache_control`, so the block before does. */
function findCachedBlock(
  message: RequestMessage,
  index: number,
  breakpoints: readonly CacheBreakpoint[],
): UserBlock | AssistantBlock | undefined {
  const breakpoint = breakpoints.find((point) => point.at === 'message' && point.message === index);
  if (breakpoint?.at !== 'message') return undefined;
  return message.blocks.slice(0, breakpoint.block + 1).findLast(canCarryCacheControl);
}

function canCarryCacheControl(block: UserBlock | AssistantBlock): boolean {
  if (block.type === 'text') return block.text.trim() !== '';
  return block.type !== 'thinking' && block.type !== 'redacted_thinking' && block.type !== 'opaque';
}

/** Builds a message. The content is always a list, so that the bytes of a message never change between requests. */
function buildMessage(message: RequestMessage, cachedBlock: UserBlock | AssistantBlock | undefined): JsonObject {
  const content = message.blocks.flatMap((block) => {
    const wire = buildBlock(block);
    if (!wire) return [];
    return [block === cachedBlock ? { ...wire, cache_control: CACHE_CONTROL } : wire];
  });
  return { role: message.role, content };
}

const buildUncachedMessage = memoizeByObject((message: RequestMessage) => buildMessage(message, undefined));

const serializePart = memoizeByObject((part: JsonObject) => JSON.stringify(part));

function serializeList(parts: readonly JsonObject[]): string {
  return `[${parts.map(serializePart).join(',')}]`;
}

function buildBlock(block: UserBlock | AssistantBlock): JsonObject | undefined {
  switch (block.type) {
    case 'text':
      return buildText(block);
    case 'image':
    case 'document':
      return buildMedia(block);
    case 'tool_result':
      return {
        type: 'tool_result',
        tool_use_id: block.tool_use_id,
        content: typeof block.content === 'string' ? block.content : block.content.map(buildResult),
        ...(block.is_error && { is_error: true }),
      };
    case 'thinking':
      return { type: 'thinking', thinking: block.thinking, signature: block.signature };
    case 'redacted_thinking':
      return { type: 'redacted_thinking', data: block.data };
    case 'tool_use':
      return { type: 'tool_use', id: block.id, name: block.name, input: toInputObject(block) };
    case 'server':
      return block.raw;
    case 'opaque':
      return undefined;
    default:
      return exhaustive(block);
  }
}

function buildResult(block: ResultBlock): JsonObject {
  return block.type === 'text' ? buildText(block) : buildMedia(block);
}

function buildText(block: Extract<UserBlock, { type: 'text' }>): JsonObject {
  const { text, citations } = block;
  return citations && citations.length > 0 ? { type: 'text', text, citations } : { type: 'text', text };
}

function buildMedia({ type, source }: Extract<UserBlock, { type: 'image' | 'document' }>): JsonObject {
  if (source.type === 'url') return { type, source: { type: source.type, url: source.url } };
  return { type, source: { type: source.type, media_type: source.media_type, data: source.data } };
}

/** Wraps tool input that is not an object, because the API accepts only objects. */
function toInputObject(block: Extract<AssistantBlock, { type: 'tool_use' }>): JsonObject {
  if (block.unparsed !== undefined) return { unparsed: block.unparsed };
  return narrowToObject(block.input) ?? { value: block.input };
}

function buildThinkingFields(request: ModelRequest, info: ModelInfo): JsonObject {
  if (info.thinking === 'none') return {};
  const level = clampEffort(request.thinkingBudgetTokens === 0 ? 'off' : request.effort, info);
  if (level === 'off') return info.thinkingOff === 'silence' ? {} : { thinking: { type: info.thinkingOff } };
  const effort = info.effort && level !== 'auto' ? { output_config: { effort: level } } : {};
  // The API rejects thinking together with a forced tool call.
  if (request.forcedTool) return effort;
  if (info.thinking === 'adaptive') return { thinking: { type: 'adaptive', display: 'summarized' }, ...effort };
  const wantedBudget = request.thinkingBudgetTokens || THINKING_BUDGETS[level];
  const budget = Math.min(wantedBudget, request.maxOutputTokens - MIN_THINKING_TOKENS);
  return budget < MIN_THINKING_TOKENS ? effort : { thinking: { type: 'enabled', budget_tokens: budget }, ...effort };
}

/** Minimal share of the trigger that clearing must free to be worth rewriting the cache. */
const MIN_CLEARED_SHARE = 0.1;
const KEPT_TOOL_RESULTS = 10;

/** Builds the fields that let the provider clear old tool results, which keeps its prompt cache usable. */
function buildEditingFields({ tools }: ModelRequest, { clearsResultsAt }: ModelInfo): JsonObject {
  if (clearsResultsAt === undefined || tools.length === 0) return {};
  const edit = {
    type: 'clear_tool_uses_20250919',
    trigger: { type: 'input_tokens', value: clearsResultsAt },
    keep: { type: 'tool_uses', value: KEPT_TOOL_RESULTS },
    clear_at_least: { type: 'input_tokens', value: Math.round(MIN_CLEARED_SHARE * clearsResultsAt) },
    exclude_tools: tools.flatMap(({ name, result }) => (result === 'once' ? [name] : [])),
  };
  return { context_management: { edits: [edit] } };
}

/** Thinking budgets in tokens for models that take no effort. */
const THINKING_BUDGETS: Readonly<Record<Effort, number>> = {
  auto: 10_240,
  off: 0,
  low: 4096,
  medium: 10_240,
  high: 16_384,
  xhigh: 24_576,
  max: 31_999,
};

/** Settings common to all services with the Messages API. */
export type MessagesSettings = {
  readonly betas?: readonly string[];
  /** Called when the provider rejects context editing; from then on `infoOf` must not report `clearsResultsAt`. */
  readonly onRefusedEditing?: () => void;
  /** Returns the timeouts; called for each request. */
  readonly timeouts?: () => Partial<StreamTimeouts>;
  readonly fetch?: typeof fetch;
  /** Returns the facts about a model; by default the built-in ones. */
  readonly infoOf?: (model: string) => ModelInfo;
};
