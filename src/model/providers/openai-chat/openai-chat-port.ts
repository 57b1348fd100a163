import type { ModelFailure, ModelPort, ModelRequest } from '../../../contracts/model.ts';
import type { ReasoningParameter } from '../../provider-presets.ts';
import { getOrigin, postStreamingRequest } from '../../stream/http-stream.ts';
import type { StreamTimeouts } from '../../stream/model-attempt.ts';
import { createRequestVariantSender, createStreamingPort } from '../../stream/streaming-port.ts';
import { getToolCallIdFormatter, mapSentToolNames } from '../tool-identifiers.ts';
import { adaptChatVariant, buildChatRequest, DEFAULT_CHAT_VARIANT, locateInModelRequest } from './chat-request.ts';
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
  const url = `${settings.baseUrl.replace(/\/+$/, '')}/chat/completions`;
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
