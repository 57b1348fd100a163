import type {
  ModelEvent,
  ModelFailure,
  ModelOutcome,
  ModelPort,
  ModelRequest,
  StreamOptions,
} from '../../contracts/model.ts';
import { getErrorMessage } from '../../lib/errors.ts';
import { ABORTED_FAILURE } from './failures.ts';
import { type ModelAttempt, resolveStreamTimeouts, type StreamTimeouts, startModelAttempt } from './model-attempt.ts';
import { readReply, type StreamEventTranslator } from './read-reply.ts';

/** The API-specific parts of a streaming port. */
type StreamingApi = {
  readonly name: string;
  readonly timeouts: StreamTimeouts;
  /** Sends a request once; `key` overrides the credentials of the port. */
  readonly sendRequest: (
    request: ModelRequest,
    key: string | undefined,
    attempt: ModelAttempt,
  ) => Promise<Response | ModelFailure>;
  readonly createReader: (request: ModelRequest, newId: () => string) => StreamEventTranslator;
  /** Preloads modules for the first stream. */
  readonly prepare?: () => Promise<unknown>;
  /** Maps the rejected position of the wire request to the position in `ModelRequest`. */
  readonly locateFailure?: (failure: ModelFailure, request: ModelRequest) => ModelFailure;
};

/** Creates a port that makes one attempt per stream; `withRetry` adds retries. */
export function createStreamingPort(
  api: StreamingApi,
  getTimeouts: (() => Partial<StreamTimeouts>) | undefined,
): ModelPort {
  const { prepare, locateFailure = (failure) => failure } = api;
  return {
    name: api.name,
    ...(prepare && {
      async prepare() {
        // Errors are reported by the first request that needs the module.
        await prepare().catch(() => undefined);
      },
    }),
    async *stream(request, options, signal): AsyncGenerator<ModelEvent, ModelOutcome> {
      if (signal.aborted) return { ok: false, failure: ABORTED_FAILURE };
      const attempt = startModelAttempt(
        resolveStreamTimeouts(api.timeouts, getTimeouts?.(), options.timeoutMs),
        signal,
      );
      try {
        const opening = raceWithAttempt(sendWithKey(api, request, options, attempt), attempt);
        yield { type: 'request_sent', attempt: 1 };
        const response = await opening;
        if (!(response instanceof Response)) return { ok: false, failure: locateFailure(response, request) };
        const newId = () => `msg_${crypto.randomUUID()}`;
        const reader = api.createReader(request, newId);
        const outcome = yield* readReply(response, { reader, model: request.model, newId, attempt, options });
        return outcome.ok ? outcome : { ...outcome, failure: locateFailure(outcome.failure, request) };
      } finally {
        attempt.close();
      }
    },
  };
}

/** Settles when the attempt ends, because fetching a key or signing in does not react to its abort signal. */
function raceWithAttempt(
  response: Promise<Response | ModelFailure>,
  { signal, getFailure }: ModelAttempt,
): Promise<Response | ModelFailure> {
  return new Promise((resolve, reject) => {
    const handleAbort = () => resolve(getFailure() ?? ABORTED_FAILURE);
    if (signal.aborted) handleAbort();
    signal.addEventListener('abort', handleAbort, { once: true });
    response.then(resolve, reject).finally(() => signal.removeEventListener('abort', handleAbort));
  });
}

async function sendWithKey(
  api: StreamingApi,
  request: ModelRequest,
  { getApiKey }: StreamOptions,
  attempt: ModelAttempt,
): Promise<Response | ModelFailure> {
  const key = await fetchRequestKey(getApiKey);
  return typeof key === 'object' ? key : api.sendRequest(request, key, attempt);
}

/** Sends a request in the variant that the model is known to accept. */
type SendVariant<Variant> = (
  model: string,
  attempt: ModelAttempt,
  send: (variant: Variant) => Promise<Response | ModelFailure>,
) => Promise<Response | ModelFailure>;

/** Creates a sender that retries a rejected request in another variant and keeps the accepted variant per model. */
export function createRequestVariantSender<Variant>(
  defaultVariant: Variant,
  adaptVariant: (variant: Variant, failure: ModelFailure) => Variant | undefined,
): SendVariant<Variant> {
  const variants = new Map<string, Variant>();
  return async (model, attempt, send) => {
    const triedVariants = new Set<string>();
    while (true) {
      const variant = variants.get(model) ?? defaultVariant;
      const response = await send(variant);
      const nextVariant = response instanceof Response ? undefined : adaptVariant(variant, response);
      triedVariants.add(JSON.stringify(variant));
      if (nextVariant === undefined || triedVariants.has(JSON.stringify(nextVariant)) || attempt.getFailure())
        return response;
      variants.set(model, nextVariant);
    }
  };
}

/** Gets the key of a request from the caller's callback; returns a failure if the callback throws. */
async function fetchRequestKey(getApiKey: StreamOptions['getApiKey']): Promise<string | undefined | ModelFailure> {
  try {
    return await getApiKey?.();
  } catch (thrown) {
    return { kind: 'auth', message: `Cannot get the API key: ${getErrorMessage(thrown)}` };
  }
}
