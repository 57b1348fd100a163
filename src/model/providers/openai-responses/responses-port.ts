import type { OpenAI } from 'openai/client';
import type { ModelPort } from '../../../contracts/model.ts';
import { createLazy } from '../../../lib/memoize.ts';
import { fetch } from '../../../lib/network/fetch.ts';
import { classifyThrown } from '../../stream/failures.ts';
import { getOrigin, shortenErrorBodies } from '../../stream/http-stream.ts';
import type { StreamTimeouts } from '../../stream/model-attempt.ts';
import { createRequestVariantSender, createStreamingPort } from '../../stream/streaming-port.ts';
import { getToolCallIdFormatter, mapSentToolNames } from '../tool-identifiers.ts';
import { adaptResponsesVariant, buildResponsesRequest, DEFAULT_REQUEST_VARIANT } from './responses-request.ts';
import { createResponsesTranslator } from './responses-translator.ts';

/** Connection settings for OpenAI's Responses API, Azure OpenAI, or a compatible gateway. */
export type ResponsesApiSettings = {
  /** Includes the version: `https://api.openai.com/v1`. */
  readonly baseUrl: string;
  readonly apiKey?: string;
  readonly name: string;
  /** Gets an Entra token for each request to Azure without a key; its presence also selects Azure's key header. */
  readonly getAzureToken?: () => Promise<string>;
  readonly timeouts?: () => Partial<StreamTimeouts>;
  readonly fetch?: typeof fetch;
};

/** Long enough for models that think for minutes before the first token. */
const DEFAULT_TIMEOUTS: StreamTimeouts = { headerTimeoutMs: 300_000, idleTimeoutMs: 300_000 };
/** Effectively no timeout: `startAttempt` has its own timers. */
const SDK_TIMEOUT_MS = 86_400_000;

/** Creates a port for the Responses API; a request rejected for a field is resent in another variant. */
export function createResponsesPort(settings: ResponsesApiSettings): ModelPort {
  const { baseUrl, name, timeouts } = settings;
  const formatCallId = getToolCallIdFormatter('https://api.openai.com');
  const sendVariant = createRequestVariantSender(DEFAULT_REQUEST_VARIANT, adaptResponsesVariant);
  const client = createLazy(() => loadClient(settings));
  return createStreamingPort(
    {
      name,
      timeouts: DEFAULT_TIMEOUTS,
      prepare: client,
      sendRequest: (request, requestKey, attempt) =>
        sendVariant(request.model, attempt, async (variant) => {
          try {
            const body = buildResponsesRequest(request, variant, formatCallId);
            const headers = await buildAuthHeaders(settings, requestKey);
            const options = { body, headers, signal: attempt.signal, stream: true };
            return await (await client()).post('/responses', options).asResponse();
          } catch (thrown) {
            return attempt.getFailure() ?? classifyThrown(thrown, getOrigin(baseUrl));
          }
        }),
      createReader: ({ tools }) => createResponsesTranslator(mapSentToolNames(tools)),
    },
    timeouts,
  );
}

async function buildAuthHeaders(
  { apiKey, getAzureToken }: ResponsesApiSettings,
  requestKey: string | undefined,
): Promise<Record<string, string | null>> {
  const key = requestKey ?? apiKey;
  if (getAzureToken === undefined) return { authorization: key === undefined ? null : `Bearer ${key}` };
  if (key !== undefined) return { 'api-key': key, authorization: null };
  return { authorization: `Bearer ${await getAzureToken()}` };
}

async function loadClient({ baseUrl, fetch: send, timeouts }: ResponsesApiSettings): Promise<OpenAI> {
  const { OpenAI } = await import('openai/client');
  return new OpenAI({
    // The SDK requires a key; the real one is set per request.
    apiKey: 'set per request',
    baseURL: baseUrl.replace(/(?<!\/)\/+$/, ''),
    maxRetries: 0,
    timeout: SDK_TIMEOUT_MS,
    // The SDK must not write to the terminal.
    logLevel: 'off',
    // A redirect would contact a host that is not configured.
    fetchOptions: { redirect: 'manual' },
    fetch: shortenErrorBodies(send ?? fetch, timeouts),
  });
}
