import type { JsonObject } from '../../contracts/json.ts';
import type { AssistantBlock, ResultBlock, UserBlock } from '../../contracts/message.ts';
import type {
  CacheBreakpoint,
  Effort,
  ModelInfo,
  ModelRequest,
  RequestMessage,
  RequestPieces,
} from '../../contracts/model.ts';
import { asJson } from '../../lib/as-json.ts';
import { exhaustive } from '../../lib/exhaustive.ts';
import { effortFor } from '../efforts.ts';
import { objectOf } from './wire-json.ts';

const CACHE_CONTROL = { type: 'ephemeral' } as const;
const MAX_BREAKPOINTS = 4;
const MIN_THINKING_TOKENS = 1024;

/** The body of one Messages API request. The same request always gives the same bytes. */
export function toWire(request: ModelRequest, info: ModelInfo): JsonObject {
  const breakpoints = request.breakpoints.slice(0, MAX_BREAKPOINTS);
  const tools = wireTools(request, info, breakpoints);
  const system = wireSystem(request, breakpoints);
  return {
    model: request.model,
    max_tokens: request.maxOutputTokens,
    ...(system.length > 0 && { system }),
    ...(tools.length > 0 && { tools }),
    ...(request.forcedTool && !info.refusesForcedTool && { tool_choice: { type: 'tool', name: request.forcedTool } }),
    messages: request.messages.map((message, index) => wireMessage(message, cachedBlock(message, index, breakpoints))),
    ...thinkingFields(request, info),
    ...editingFields(request, info),
    ...(request.metadataUserId && { metadata: { user_id: request.metadataUserId } }),
    stream: true,
  };
}

/** The request as text, free of any provider: equal text means the model is asked the same. */
export function requestBytes(request: ModelRequest): string {
  const { before, messages, textOf, after } = requestPieces(request);
  return `${before}${messages.map(textOf).join(',')}${after}`;
}

/** The same text in pieces: who remembers a message need not write it out again. */
export function requestPieces(request: ModelRequest): RequestPieces {
  const { model, maxOutputTokens, messages, effort, thinkingBudgetTokens, forcedTool, betas, webSearch } = request;
  const limits = { model, maxOutputTokens, effort, thinkingBudgetTokens, forcedTool, betas, webSearch };
  const system = JSON.stringify(request.system.map(({ text }) => text));
  const tools = JSON.stringify(
    request.tools.map(({ name, description, input_schema }) => ({ name, description, input_schema })),
  );
  return {
    rest: asJson({ ...limits, breakpoints: request.breakpoints }),
    system,
    tools,
    before: `${JSON.stringify(limits).slice(0, -1)},"system":${system},"tools":${tools},"messages":[`,
    messages,
    textOf: (message) => JSON.stringify(wireMessage(message, undefined)),
    after: `],"breakpoints":${JSON.stringify(request.breakpoints)}}`,
  };
}

function wireSystem(request: ModelRequest, breakpoints: readonly CacheBreakpoint[]): readonly JsonObject[] {
  const parts = request.system.filter(({ text }) => text.trim() !== '').map(({ text }) => ({ type: 'text', text }));
  return breakpoints.some(({ at }) => at === 'system') ? markLast(parts) : parts;
}

function wireTools(
  request: ModelRequest,
  info: ModelInfo,
  breakpoints: readonly CacheBreakpoint[],
): readonly JsonObject[] {
  const own: JsonObject[] = request.tools.map(({ name, description, input_schema }) => ({
    name,
    description,
    input_schema,
  }));
  const { webSearch } = request;
  if (webSearch && info.webSearch) {
    own.push({
      type: 'web_search_20250305',
      name: 'web_search',
      ...(webSearch.maxUses !== undefined && { max_uses: webSearch.maxUses }),
      ...(webSearch.allowedDomains && { allowed_domains: webSearch.allowedDomains }),
      ...(webSearch.blockedDomains && { blocked_domains: webSearch.blockedDomains }),
    });
  }
  return breakpoints.some(({ at }) => at === 'tools') ? markLast(own) : own;
}

function markLast(items: readonly JsonObject[]): readonly JsonObject[] {
  const last = items.at(-1);
  return last ? [...items.slice(0, -1), { ...last, cache_control: CACHE_CONTROL }] : items;
}

/** The block of this message that ends a cached prefix. Thinking cannot carry the mark: the block before it does. */
function cachedBlock(
  message: RequestMessage,
  index: number,
  breakpoints: readonly CacheBreakpoint[],
): UserBlock | AssistantBlock | undefined {
  const wanted = breakpoints.find((point) => point.at === 'message' && point.message === index);
  if (wanted?.at !== 'message') return undefined;
  return message.blocks.slice(0, wanted.block + 1).findLast(mayCarryMark);
}

function mayCarryMark(block: UserBlock | AssistantBlock): boolean {
  if (block.type === 'text') return block.text.trim() !== '';
  return block.type !== 'thinking' && block.type !== 'redacted_thinking' && block.type !== 'opaque';
}

/** Always a list of blocks, also for a single text: one form, from the first request on. */
function wireMessage(message: RequestMessage, marked: UserBlock | AssistantBlock | undefined): JsonObject {
  const content = message.blocks.flatMap((block) => {
    const wire = wireBlock(block);
    if (!wire) return [];
    return [block === marked ? { ...wire, cache_control: CACHE_CONTROL } : wire];
  });
  return { role: message.role, content };
}

function wireBlock(block: UserBlock | AssistantBlock): JsonObject | undefined {
  switch (block.type) {
    case 'text':
      return wireText(block);
    case 'image':
    case 'document':
      return wireMedia(block);
    case 'tool_result':
      return {
        type: 'tool_result',
        tool_use_id: block.tool_use_id,
        content: typeof block.content === 'string' ? block.content : block.content.map(wireResult),
        ...(block.is_error && { is_error: true }),
      };
    case 'thinking':
      return { type: 'thinking', thinking: block.thinking, signature: block.signature };
    case 'redacted_thinking':
      return { type: 'redacted_thinking', data: block.data };
    case 'tool_use':
      return { type: 'tool_use', id: block.id, name: block.name, input: inputObject(block) };
    case 'server':
      return block.raw;
    case 'opaque':
      return undefined;
    default:
      return exhaustive(block);
  }
}

function wireResult(block: ResultBlock): JsonObject {
  return block.type === 'text' ? wireText(block) : wireMedia(block);
}

function wireText(block: Extract<UserBlock, { type: 'text' }>): JsonObject {
  const { text, citations } = block;
  return citations && citations.length > 0 ? { type: 'text', text, citations } : { type: 'text', text };
}

function wireMedia({ type, source }: Extract<UserBlock, { type: 'image' | 'document' }>): JsonObject {
  if (source.type === 'url') return { type, source: { type: source.type, url: source.url } };
  return { type, source: { type: source.type, media_type: source.media_type, data: source.data } };
}

/** The API takes only objects. What the model wrote instead travels inside one. */
function inputObject(block: Extract<AssistantBlock, { type: 'tool_use' }>): JsonObject {
  if (block.unparsed !== undefined) return { unparsed: block.unparsed };
  return objectOf(block.input) ?? { value: block.input };
}

function thinkingFields(request: ModelRequest, info: ModelInfo): JsonObject {
  if (info.thinking === 'none') return {};
  const level = effortFor(request.thinkingBudgetTokens === 0 ? 'off' : request.effort, info);
  if (level === 'off') return info.thinkingOff === 'silence' ? {} : { thinking: { type: info.thinkingOff } };
  const effort = info.effort && level !== 'auto' ? { output_config: { effort: level } } : {};
  // A forced call and thinking exclude each other.
  if (request.forcedTool) return effort;
  if (info.thinking === 'adaptive') return { thinking: { type: 'adaptive', display: 'summarized' }, ...effort };
  const wanted = request.thinkingBudgetTokens || BUDGETS[level];
  const budget = Math.min(wanted, request.maxOutputTokens - MIN_THINKING_TOKENS);
  return budget < MIN_THINKING_TOKENS ? effort : { thinking: { type: 'enabled', budget_tokens: budget }, ...effort };
}

/** Of this share of the limit a clearing has to be worth its write into the cache. */
const CLEAR_SHARE = 0.1;
const KEPT_CALLS = 10;

/** Old results are left out by the provider itself, which still knows what it has cached. Who calls no tools has none. */
function editingFields({ tools }: ModelRequest, { clearsResultsAt }: ModelInfo): JsonObject {
  if (clearsResultsAt === undefined || tools.length === 0) return {};
  const edit = {
    type: 'clear_tool_uses_20250919',
    trigger: { type: 'input_tokens', value: clearsResultsAt },
    keep: { type: 'tool_uses', value: KEPT_CALLS },
    clear_at_least: { type: 'input_tokens', value: Math.round(CLEAR_SHARE * clearsResultsAt) },
    exclude_tools: tools.flatMap(({ name, result }) => (result === 'once' ? [name] : [])),
  };
  return { context_management: { edits: [edit] } };
}

const BUDGETS: Readonly<Record<Effort, number>> = {
  auto: 10_240,
  off: 0,
  low: 4096,
  medium: 10_240,
  high: 16_384,
  xhigh: 24_576,
  max: 31_999,
};
