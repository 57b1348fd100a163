import type {
  ModelEvent,
  ModelFailure,
  ModelOutcome,
  ModelPort,
  ModelRequest,
  StreamOptions,
} from '../../contracts/model.ts';
import { askedKey } from '../keys/asked-key.ts';
import { type ModelAttempt, type Patience, patienceOf, startAttempt } from './attempt.ts';
import { readReply, type WireReader } from './read-reply.ts';
import { ABORTED } from './stream-failures.ts';

/** What one API does in its own way. */
export type Wire = {
  readonly name: string;
  readonly patience: Patience;
  /** Sends a request once; `key` replaces the credentials of the port. */
  readonly open: (
    request: ModelRequest,
    key: string | undefined,
    attempt: ModelAttempt,
  ) => Promise<Response | ModelFailure>;
  readonly readerFor: (request: ModelRequest, newId: () => string) => WireReader;
  /** Loads what the first stream will need. */
  readonly prepare?: () => Promise<unknown>;
  /** Says of a failure where in the request it lies, when the API counts otherwise than we do. */
  readonly located?: (failure: ModelFailure, request: ModelRequest) => ModelFailure;
};

/** A port that makes one try per stream: repeating is the business of `withRetry`. */
export function createWirePort(wire: Wire, given: (() => Partial<Patience>) | undefined): ModelPort {
  const { prepare, located = (failure) => failure } = wire;
  return {
    name: wire.name,
    ...(prepare && {
      async prepare() {
        // Whatever is missing is told by the request that needs it.
        await prepare().catch(() => undefined);
      },
    }),
    async *stream(request, options, signal): AsyncGenerator<ModelEvent, ModelOutcome> {
      if (signal.aborted) return { ok: false, failure: ABORTED };
      const attempt = startAttempt(patienceOf(wire.patience, given?.(), options.timeoutMs), signal);
      try {
        const opening = orEnded(openWithKey(wire, request, options, attempt), attempt);
        yield { type: 'request_sent', attempt: 1 };
        const response = await opening;
        if (!(response instanceof Response)) return { ok: false, failure: located(response, request) };
        const newId = () => `msg_${crypto.randomUUID()}`;
        const reader = wire.readerFor(request, newId);
        const outcome = yield* readReply(response, { reader, model: request.model, newId, attempt, options });
        return outcome.ok ? outcome : { ...outcome, failure: located(outcome.failure, request) };
      } finally {
        attempt.close();
      }
    },
  };
}

/** A key that is fetched, or a sign-in, knows nothing of the attempt: nobody waits for it longer than that lasts. */
function orEnded(
  opening: Promise<Response | ModelFailure>,
  { signal, endedBy }: ModelAttempt,
): Promise<Response | ModelFailure> {
  return new Promise((resolve, reject) => {
    const leave = () => resolve(endedBy() ?? ABORTED);
    if (signal.aborted) leave();
    signal.addEventListener('abort', leave, { once: true });
    opening.then(resolve, reject).finally(() => signal.removeEventListener('abort', leave));
  });
}

async function openWithKey(
  wire: Wire,
  request: ModelRequest,
  { getApiKey }: Pick<StreamOptions, 'getApiKey'>,
  attempt: ModelAttempt,
): Promise<Response | ModelFailure> {
  const key = await askedKey(getApiKey);
  return typeof key === 'object' ? key : wire.open(request, key, attempt);
}
