import type { JsonObject } from '../../../contracts/json.ts';
import type {
  AssistantBlock,
  ImageBlock,
  ToolResultBlock,
  ToolUseBlock,
  UserBlock,
} from '../../../contracts/message.ts';
import type {
  Effort,
  ModelFailure,
  ModelPort,
  ModelRequest,
  RefusedPosition,
  RequestMessage,
} from '../../../contracts/model.ts';
import { fetch } from '../../../lib/network/fetch.ts';
import type { ReasoningParameter } from '../../provider-presets.ts';
import { getOrigin, postStreamingRequest } from '../../stream/http-stream.ts';
import { narrowToObject, narrowToObjects, parseNetworkJson } from '../../stream/json-values.ts';
import type { StreamTimeouts } from '../../stream/model-attempt.ts';
import { createRequestVariantSender, createStreamingPort } from '../../stream/streaming-port.ts';
import {
  getToolCallIdFormatter,
  mapSentToolNames,
  shortenToolName,
  type ToolCallIdFormatter,
} from '../tool-identifiers.ts';
import { createChatTranslator } from './chat-translator.ts';

/** Connection settings for a server with a chat completions API. */
export type OpenAiSettings = {
  /** Includes the version: `http://127.0.0.1:11434/v1`. */
  readonly baseUrl: string;
  readonly apiKey?: string;
  /** Display name for messages. */
  readonly name?: string;
  readonly reasoning?: ReasoningParameter | undefined;
  /** Called for each request. */
  readonly timeouts?: () => Partial<StreamTimeouts>;
  readonly fetch?: typeof fetch;
};

/** Long enough for a local model that needs minutes to process a long prompt. */
const DEFAULT_TIMEOUTS: StreamTimeouts = { headerTimeoutMs: 600_000, idleTimeoutMs: 300_000 };

/**
 * Creates a port for a chat completions server, with one attempt per stream. A request rejected for an unsupported field
 * is resent in another variant, which is kept for the model.
 */
export function createOpenAiPort(settings: OpenAiSettings): ModelPort {
  const url = `${settings.baseUrl.replace(/(?<!\/)\/+$/, '')}/chat/completions`;
  const { fetch: send = fetch, apiKey, name = 'openai-compatible', reasoning, timeouts } = settings;
  const formatCallId = getToolCallIdFormatter(getOrigin(url));
  const isOpenAi = getOrigin(url) === 'https://api.openai.com';
  const limitField = isOpenAi ? ({ limitField: 'max_completion_tokens' } as const) : {};
  const sendVariant = createRequestVariantSender(
    { ...DEFAULT_CHAT_VARIANT, effort: reasoning, ...limitField },
    adaptChatVariant,
  );
  return createStreamingPort(
    {
      name,
      timeouts: DEFAULT_TIMEOUTS,
      sendRequest: (request, requestKey, attempt) =>
        sendVariant(request.model, attempt, (variant) => {
          const key = requestKey ?? apiKey;
          const headers: Record<string, string> = key ? { authorization: `Bearer ${key}` } : {};
          return postStreamingRequest(
            url,
            { headers, body: buildChatRequest(request, variant, formatCallId), send },
            attempt,
          );
        }),
      createReader: ({ tools }, newId) => createChatTranslator(newId, mapSentToolNames(tools)),
      locateFailure: locateFailure,
    },
    timeouts,
  );
}

/** Maps the rejected position in the wire request back to a position in `ModelRequest`. */
function locateFailure(failure: ModelFailure, request: ModelRequest): ModelFailure {
  const { refusedAt } = failure;
  return refusedAt === undefined ? failure : { ...failure, refusedAt: locateInModelRequest(request, refusedAt) };
}

/** Request variant that a model accepts, learned from rejected requests. */
type ChatRequestVariant = {
  readonly limitField: 'max_tokens' | 'max_completion_tokens';
  readonly usage: 'requested' | 'omitted';
  readonly forcedTool: 'requested' | 'omitted';
  /** Parameter that sets the effort; `undefined` if there is none. */
  readonly effort: ReasoningParameter | undefined;
  /** Thinking in later requests: sent with the tool calls it led to, never, or with every tool call. */
  readonly reasoning: 'with its call' | 'omitted' | 'with every call';
};

/** Request variant that most servers accept. @internal Exported for tests. */
export const DEFAULT_CHAT_VARIANT: ChatRequestVariant = {
  limitField: 'max_tokens',
  usage: 'requested',
  forcedTool: 'requested',
  effort: undefined,
  reasoning: 'with its call',
};

/**
 * Builds the body of a chat completion request. The same request always gives the same bytes.
 * @internal Exported for tests.
 */
export function buildChatRequest(
  request: ModelRequest,
  variant: ChatRequestVariant,
  formatCallId: ToolCallIdFormatter = (id) => id,
): JsonObject {
  const system = request.system.map(({ text }) => text).filter((text) => text.trim() !== '');
  const forced = variant.forcedTool === 'requested' ? request.forcedTool : undefined;
  return {
    model: request.model,
    [variant.limitField]: request.maxOutputTokens,
    ...(request.tools.length > 0 && {
      tools: request.tools.map(({ name, description, input_schema }) => ({
        type: 'function',
        function: { name: shortenToolName(name), description, parameters: input_schema },
      })),
    }),
    ...buildEffortField(request.effort, variant.effort),
    ...(forced && { tool_choice: { type: 'function', function: { name: shortenToolName(forced) } } }),
    messages: [
      ...(system.length > 0 ? [{ role: 'system', content: system.join('\n\n') }] : []),
      ...request.messages.flatMap((message) => buildMessage(message, variant.reasoning, formatCallId)),
    ],
    stream: true,
    ...(variant.usage === 'requested' && { stream_options: { include_usage: true } }),
  };
}

/** Builds the effort field; without one the model decides. */
function buildEffortField(effort: Effort, parameter: ReasoningParameter | undefined): JsonObject {
  if (parameter === undefined || effort === 'auto') return {};
  if (parameter === 'thinking.type') return { thinking: { type: effort === 'off' ? 'disabled' : 'enabled' } };
  if (parameter === 'reasoning_effort') return { reasoning_effort: effort === 'off' ? 'none' : effort };
  return { reasoning: effort === 'off' ? { enabled: false } : { effort } };
}

/** Returns the variant to try after a request was rejected for a field; `undefined` if there is none. */
function adaptChatVariant(
  variant: ChatRequestVariant,
  { kind, message }: ModelFailure,
): ChatRequestVariant | undefined {
  if (kind !== 'invalid' && kind !== 'output_limit' && kind !== 'server') return undefined;
  const changed: ChatRequestVariant = { ...variant, ...findChange(variant, message) };
  return JSON.stringify(changed) === JSON.stringify(variant) ? undefined : changed;
}

function findChange(
  { limitField, effort, reasoning }: ChatRequestVariant,
  message: string,
): Partial<ChatRequestVariant> {
  const isUnknown = UNKNOWN_FIELD.test(message);
  if (limitField === 'max_tokens' && /max_completion_tokens/.test(message))
    return { limitField: 'max_completion_tokens' };
  if (isUnknown && limitField === 'max_tokens' && /\bmax_tokens/.test(message))
    return { limitField: 'max_completion_tokens' };
  if (isUnknown && /max_completion_tokens/.test(message)) return { limitField: 'max_tokens' };
  if (isUnknown && /stream_options|include_usage/.test(message)) return { usage: 'omitted' };
  if (effort !== undefined && /reasoning[._]effort|\bthinking\b/i.test(message) && !/reasoning_content/.test(message))
    return { effort: undefined };
  if (/tool_choice/.test(message)) return { forcedTool: 'omitted' };
  if (!/reasoning_content|reasoning_details|\breasoning\b/.test(message)) return {};
  if (/missing|must be (?:passed|provided|included)|required/i.test(message)) return { reasoning: 'with every call' };
  return isUnknown && reasoning === 'with its call' ? { reasoning: 'omitted' } : {};
}

const UNKNOWN_FIELD =
  /un(?:supported|known|expected|recognized)|not (?:supported|permitted|allowed|recognized|a valid)|no such|extra (?:inputs|fields)|invalid|additional propert|no longer|deprecated|does ?n[o']t support/i;

/** Maps a rejected position in the wire messages to a position in `ModelRequest`. */
function locateInModelRequest(request: ModelRequest, wirePosition: RefusedPosition): RefusedPosition {
  if ('tool' in wirePosition) return wirePosition;
  const offset = request.system.some(({ text }) => text.trim() !== '') ? 1 : 0;
  const origins = request.messages.flatMap((message, messageIndex) =>
    buildMessage(message, 'omitted', (id) => id).map((wireMessage, wireIndex) => ({
      messageIndex,
      wireIndex,
      wireMessage,
      blocks: message.blocks,
    })),
  );
  const origin = origins[wirePosition.message - offset];
  if (origin === undefined) return { message: request.messages.length };
  const { messageIndex, wireIndex, wireMessage, blocks } = origin;
  const findBlocks = (matches: (type: string) => boolean) =>
    blocks.flatMap(({ type }, index) => (matches(type) ? [index] : []));
  if (wireMessage.role === 'user')
    return { message: messageIndex, blocks: findBlocks((type) => type !== 'tool_result') };
  if (wireMessage.role === 'tool')
    return {
      message: messageIndex,
      blocks: findBlocks((type) => type === 'tool_result').slice(wireIndex, wireIndex + 1),
    };
  const callIndex = findBlocks((type) => type === 'tool_use')[wirePosition.blocks?.[0] ?? -1];
  return { message: messageIndex, ...(callIndex !== undefined && { blocks: [callIndex] }) };
}

function buildMessage(
  message: RequestMessage,
  reasoning: ChatRequestVariant['reasoning'],
  formatCallId: ToolCallIdFormatter,
): readonly JsonObject[] {
  return message.role === 'assistant'
    ? [buildAssistantMessage(message.blocks, reasoning, formatCallId)]
    : buildUserMessages(message.blocks, formatCallId);
}

/** Builds an assistant message. Server tool blocks and unknown blocks cannot be expressed in this API and are omitted. */
function buildAssistantMessage(
  blocks: readonly AssistantBlock[],
  reasoning: ChatRequestVariant['reasoning'],
  formatCallId: ToolCallIdFormatter,
): JsonObject {
  const text = blocks.flatMap((block) => (block.type === 'text' ? [block.text] : [])).join('');
  const calls = blocks.filter((block) => block.type === 'tool_use');
  const isKept = calls.length > 0 && reasoning !== 'omitted';
  return {
    role: 'assistant',
    content: text === '' && calls.length > 0 ? null : text,
    ...(isKept && reasoning === 'with every call' && { reasoning_content: MISSING_REASONING }),
    ...(isKept && buildReasoning(blocks)),
    ...(calls.length > 0 && { tool_calls: calls.map((block) => buildToolCall(block, formatCallId)) }),
  };
}

/** Placeholder for missing thinking of another model, for servers that require it with every tool call. */
const MISSING_REASONING = '(not kept)';

/** Builds the reasoning fields: the original details, or the thinking in its original field, which `signature` names. */
function buildReasoning(blocks: readonly AssistantBlock[]): JsonObject {
  const details = blocks.flatMap((block) =>
    block.type === 'tool_use' ? narrowToObjects(parseSignature(block)?.reasoning_details) : [],
  );
  if (details.length > 0) return { reasoning_details: details };
  const thoughts = blocks.filter((block) => block.type === 'thinking');
  const field = thoughts[0]?.signature;
  return field && /^[a-z_]+$/.test(field) ? { [field]: thoughts.map(({ thinking }) => thinking).join('\n\n') } : {};
}

function buildToolCall(block: ToolUseBlock, formatCallId: ToolCallIdFormatter): JsonObject {
  const input = block.unparsed === undefined ? block.input : { unparsed: block.unparsed };
  const extra_content = narrowToObject(parseSignature(block)?.extra_content);
  const fn = { name: shortenToolName(block.name), arguments: JSON.stringify(input) };
  return { id: formatCallId(block.id), type: 'function', function: fn, ...(extra_content && { extra_content }) };
}

function parseSignature({ signature }: ToolUseBlock): JsonObject | undefined {
  return signature === undefined ? undefined : narrowToObject(parseNetworkJson(signature));
}

/** Builds a message per tool result, then one user message, which also contains the images of the results. */
function buildUserMessages(blocks: readonly UserBlock[], formatCallId: ToolCallIdFormatter): readonly JsonObject[] {
  const results = blocks.filter((block) => block.type === 'tool_result');
  const userParts = blocks.flatMap(buildUserParts);
  const images = results.flatMap(({ content }) =>
    typeof content === 'string' ? [] : content.filter((block) => block.type === 'image').map(buildImagePart),
  );
  const parts = [...images, ...userParts];
  return [
    ...results.map((block) => buildResultMessage(block, formatCallId)),
    ...(parts.length > 0 ? [{ role: 'user', content: joinParts(parts) }] : []),
  ];
}

function buildUserParts(block: UserBlock): readonly JsonObject[] {
  if (block.type === 'text') return [{ type: 'text', text: block.text }];
  if (block.type === 'image') return [buildImagePart(block)];
  if (block.type === 'document') return [{ type: 'text', text: NO_DOCUMENTS }];
  return [];
}

/** Joins text parts into a string, which every server accepts. */
function joinParts(parts: readonly JsonObject[]): JsonObject[string] {
  return parts.every((part) => part.type === 'text') ? parts.map(({ text }) => text).join('\n\n') : parts;
}

function buildResultMessage({ tool_use_id, content }: ToolResultBlock, formatCallId: ToolCallIdFormatter): JsonObject {
  const text =
    typeof content === 'string'
      ? content
      : content.map((block) => (block.type === 'text' ? block.text : PLACEHOLDERS[block.type])).join('\n');
  return { role: 'tool', tool_call_id: formatCallId(tool_use_id), content: text };
}

const NO_DOCUMENTS = '[A document was attached here; this model cannot read documents.]';
const PLACEHOLDERS = { image: '[The picture follows.]', document: NO_DOCUMENTS } as const;

function buildImagePart({ source }: ImageBlock): JsonObject {
  const url = source.type === 'url' ? source.url : `data:${source.media_type};base64,${source.data}`;
  return { type: 'image_url', image_url: { url } };
}
