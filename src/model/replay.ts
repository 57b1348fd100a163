import type { ModelEvent, ModelFailure, ModelOutcome, ModelPort } from '../contracts/model.ts';
import { ABORTED } from './wire/stream-failures.ts';
import { requestBytes } from './wire/to-wire.ts';

/** One request and all that came of it: what a replay needs. */
export type Exchange = {
  readonly request: string;
  readonly events: readonly ModelEvent[];
  readonly outcome: ModelOutcome;
};

const CONTEXT_CHARS = 60;

/** Answers from a record, offline. A request that is not in the record ends with the first difference. */
export function createReplayPort(record: readonly Exchange[]): ModelPort {
  let left = [...record];
  let asked = 0;
  return {
    name: 'replay',
    async *stream(request, _options, signal) {
      if (signal.aborted) return { ok: false, failure: ABORTED };
      asked += 1;
      const bytes = requestBytes(request);
      // Side calls run beside the loop, so the same requests may come in another order.
      const match = left.find((exchange) => exchange.request === bytes);
      if (!match) return { ok: false, failure: mismatch(asked, left[0]?.request, bytes) };
      left = left.filter((exchange) => exchange !== match);
      yield* match.events;
      return match.outcome;
    },
  };
}

function mismatch(number: number, recorded: string | undefined, bytes: string): ModelFailure {
  if (recorded === undefined) {
    return { kind: 'invalid', message: `Request ${number} is not in the record: all its replies have been used.` };
  }
  const at = firstDifference(recorded, bytes);
  const around = (text: string) => JSON.stringify(text.slice(Math.max(0, at - CONTEXT_CHARS), at + CONTEXT_CHARS));
  return {
    kind: 'invalid',
    message: `Request ${number} differs from the record at character ${at}. Recorded: ${around(recorded)}. Now: ${around(bytes)}.`,
  };
}

function firstDifference(a: string, b: string): number {
  const shorter = Math.min(a.length, b.length);
  for (let at = 0; at < shorter; at += 1) if (a[at] !== b[at]) return at;
  return shorter;
}
