import type { ModelEvent, ModelFailure, ModelOutcome, ModelPort } from '../contracts/model.ts';
import { serializeModelRequest } from './providers/anthropic/messages-request.ts';
import { ABORTED_FAILURE } from './stream/failures.ts';

/** One recorded request with its events and outcome. */
export type Exchange = {
  readonly request: string;
  readonly events: readonly ModelEvent[];
  readonly outcome: ModelOutcome;
};

const CONTEXT_CHARS = 60;

/** Creates a port that replays recorded exchanges. An unknown request fails with its first difference from the record. */
export function createReplayPort(
  record: readonly Exchange[],
  normalize: (request: string) => string = (request) => request,
): ModelPort {
  let remaining = [...record];
  let requestCount = 0;
  return {
    name: 'replay',
    async *stream(request, _options, signal) {
      if (signal.aborted) return { ok: false, failure: ABORTED_FAILURE };
      requestCount += 1;
      const text = normalize(serializeModelRequest(request));
      // Side calls run concurrently with the loop, so requests may arrive in another order than recorded.
      const match = remaining.find((exchange) => exchange.request === text);
      if (!match) return { ok: false, failure: describeMismatch(requestCount, remaining[0]?.request, text) };
      remaining = remaining.filter((exchange) => exchange !== match);
      yield* match.events;
      return match.outcome;
    },
  };
}

function describeMismatch(number: number, recorded: string | undefined, bytes: string): ModelFailure {
  if (recorded === undefined) {
    return { kind: 'invalid', message: `Request ${number} is not in the record: all recorded replies are used.` };
  }
  const at = findFirstDifference(recorded, bytes);
  const around = (text: string) => JSON.stringify(text.slice(Math.max(0, at - CONTEXT_CHARS), at + CONTEXT_CHARS));
  return {
    kind: 'invalid',
    message: `Request ${number} differs from the record at character ${at}. Recorded: ${around(recorded)}. Now: ${around(bytes)}.`,
  };
}

function findFirstDifference(a: string, b: string): number {
  const shorter = Math.min(a.length, b.length);
  for (let at = 0; at < shorter; at += 1) if (a[at] !== b[at]) return at;
  return shorter;
}

/** Wraps a port so that each finished exchange is passed to `onExchange`. Streams abandoned by their reader are not. */
export function withRecord(port: ModelPort, onExchange: (exchange: Exchange) => void): ModelPort {
  return {
    ...port,
    async *stream(request, options, signal) {
      const events: ModelEvent[] = [];
      const stream = port.stream(request, options, signal);
      try {
        while (true) {
          const next = await stream.next();
          if (next.done) {
            onExchange({ request: serializeModelRequest(request), events, outcome: next.value });
            return next.value;
          }
          events.push(next.value);
          yield next.value;
        }
      } finally {
        await stream.return({ ok: false, failure: { kind: 'aborted', message: 'Interrupted.' } });
      }
    },
  };
}
