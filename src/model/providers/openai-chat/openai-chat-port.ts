import type { JsonObject } from '../../../contracts/json.ts';
import type { Effort, ModelFailure, ModelPort, ModelRequest, RefusedPosition } from '../../../contracts/model.ts';
import { fetch } from '../../../lib/network/fetch.ts';
import type { ReasoningParameter } from '../../provider-presets.ts';
import { getOrigin, postStreamingRequest } from '../../stream/http-stream.ts';
import type { StreamTimeouts } from '../../stream/model-attempt.ts';
import { createRequestVariantSender, createStreamingPort } from '../../stream/streaming-port.ts';
import {
  getToolCallIdFormatter,
  mapSentToolNames,
  shortenToolName,
  type ToolCallIdFormatter,
} from '../tool-identifiers.ts';
import { buildChatMessages, type SentReasoning } from './chat-messages.ts';
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
  readonly reasoning: SentReasoning;
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
      ...request.messages.flatMap((message) => buildChatMessages(message, variant.reasoning, formatCallId)),
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
    buildChatMessages(message, 'omitted', (id) => id).map((wireMessage, wireIndex) => ({
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
