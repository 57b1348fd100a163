import type { JsonObject } from '../../../contracts/json.ts';
import type { ModelPort, ModelRequest } from '../../../contracts/model.ts';
import { parseGeminiGeneration } from '../../efforts.ts';
import { postStreamingRequest } from '../../stream/http-stream.ts';
import { narrowToNumber, narrowToObject, parseNetworkJson } from '../../stream/json-values.ts';
import type { StreamTimeouts } from '../../stream/model-attempt.ts';
import { createRequestVariantSender, createStreamingPort } from '../../stream/streaming-port.ts';
import { mapSentToolNames } from '../tool-identifiers.ts';
import { adaptGeminiVariant, buildGeminiRequest, DEFAULT_GEMINI_VARIANT } from './gemini-request.ts';
import { createGeminiTranslator } from './gemini-translator.ts';

/** Connection settings for Google's Gemini API. */
export type GeminiSettings = {
  /** Includes the version; the URL of the chat completions endpoint is accepted too. */
  readonly baseUrl: string;
  readonly apiKey?: string;
  readonly name: string;
  readonly timeouts?: () => Partial<StreamTimeouts>;
  readonly fetch?: typeof fetch;
};

/** Long enough for models that think for minutes before the first token. */
const DEFAULT_TIMEOUTS: StreamTimeouts = { headerTimeoutMs: 300_000, idleTimeoutMs: 300_000 };

/**
 * Creates a port for the Gemini API, with one attempt per stream. A request rejected for an unsupported field is resent
 * in another variant, which is kept for the model.
 */
export function createGeminiPort(settings: GeminiSettings): ModelPort {
  const { name, timeouts, fetch: send = fetch } = settings;
  const baseUrl = settings.baseUrl.replace(/\/+$/, '').replace(/\/openai$/, '');
  const sendVariant = createRequestVariantSender(DEFAULT_GEMINI_VARIANT, adaptGeminiVariant);
  const buildUrl = (model: string, method: string) =>
    `${baseUrl}/models/${encodeURIComponent(model.replace(/^models\//, ''))}:${method}`;

  function buildHeaders(requestKey?: string): Readonly<Record<string, string>> {
    const key = requestKey ?? settings.apiKey;
    return key === undefined ? {} : { 'x-goog-api-key': key };
  }

  return {
    ...createStreamingPort(
      {
        name,
        timeouts: DEFAULT_TIMEOUTS,
        sendRequest: (request, requestKey, attempt) =>
          sendVariant(request.model, attempt, (variant) => {
            const url = buildUrl(request.model, 'streamGenerateContent?alt=sse');
            return postStreamingRequest(
              url,
              { headers: buildHeaders(requestKey), body: buildGeminiRequest(request, variant), send },
              attempt,
            );
          }),
        createReader: ({ model, tools }, newId) =>
          createGeminiTranslator(
            newId,
            mapSentToolNames(tools),
            parseGeminiGeneration(model) >= 3 ? 'per query' : 'per prompt',
          ),
      },
      timeouts,
    ),
    async countTokens(request, signal) {
      try {
        const body = JSON.stringify(buildCountBody(request));
        const headers = { 'content-type': 'application/json', ...buildHeaders() };
        const response = await send(buildUrl(request.model, 'countTokens'), { method: 'POST', headers, body, signal });
        return narrowToNumber(narrowToObject(parseNetworkJson(await response.text()))?.totalTokens);
      } catch {
        // Counting is optional: the caller falls back to an estimate.
        return undefined;
      }
    },
  };
}

function buildCountBody(request: ModelRequest): JsonObject {
  const { generationConfig: _limits, ...rest } = buildGeminiRequest(request, DEFAULT_GEMINI_VARIANT);
  return { generateContentRequest: { model: `models/${request.model.replace(/^models\//, '')}`, ...rest } };
}
