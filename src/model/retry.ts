import type { AssistantMessage, Usage } from '../contracts/message.ts';
import type { ModelEvent, ModelFailure, ModelOutcome, ModelPort, StreamOptions } from '../contracts/model.ts';
import { isRetryable } from './wire/failures.ts';
import { ABORTED } from './wire/stream-failures.ts';

/** How often and how patiently a request is repeated. */
export type RetryPolicy = {
  /** Asked at each failure. */
  readonly limits?: () => { readonly maxRetries?: number | undefined; readonly baseMs?: number | undefined };
  readonly capMs?: number;
  readonly clock?: RetryClock;
  /** Between 0 and 1. */
  readonly random?: () => number;
};

/** Time, as the countdown needs it. A sleep ends early, and quietly, when its signal is pulled. */
type RetryClock = {
  readonly now: () => number;
  readonly sleep: (ms: number, signal: AbortSignal) => Promise<void>;
};

const AS_USUAL: NonNullable<RetryPolicy['limits']> = () => ({});
const MOST_RETRIES = 10;
const FIRST_WAIT_MS = 500;
const LONGEST_WAIT_MS = 60_000;

/** The same port with patience: failures that may heal are tried again, each time told as a `retry` event. */
export function withRetry(port: ModelPort, policy: RetryPolicy = {}): ModelPort {
  const { limits = AS_USUAL, capMs = 32_000, clock = SYSTEM_CLOCK, random = Math.random } = policy;

  const mostRetries = (options: StreamOptions) => options.maxRetries ?? limits().maxRetries ?? MOST_RETRIES;

  /** What to do with a failed attempt: give it back, or wait and repeat. */
  function judge(outcome: Failed, facts: Facts, options: StreamOptions): Failed | { readonly delayMs: number } {
    const { failure } = outcome;
    const { baseMs = FIRST_WAIT_MS } = limits();
    if (!isRetryable(failure) || !options.restartable()) return outcome;
    if (facts.overloads >= options.overloadLimit) return outcome;
    const wish = failure.retryAfterMs;
    // A limit is often usable again before it is whole, so it is only believed where nobody could wait for it.
    const due = wish ?? failure.resetsAfterMs;
    if (due !== undefined && due > (options.maxRetryDelayMs ?? LONGEST_WAIT_MS)) {
      return { ...outcome, failure: { ...failure, message: comeBackLater(failure, due, clock.now()) } };
    }
    if (facts.retries >= mostRetries(options)) return { ...outcome, failure: gaveUp(failure, facts.retries) };
    const backoff = Math.min(options.maxRetryDelayMs ?? capMs, baseMs * 2 ** facts.retries);
    // Never sooner than was asked for; who always asks for nothing is not asked ten times in a row at once.
    return { delayMs: Math.max(wish ?? 0, Math.round(backoff * (1 - random() / 4))) };
  }

  return {
    ...port,
    retries: true,
    async *stream(request, options, signal) {
      let facts: Facts = { retries: 0, overloads: 0, endedWhole: false };
      while (true) {
        const { outcome, shown } = yield* runOnce(port.stream(request, options, signal), facts.retries + 1);
        if (outcome.ok) return outcome;
        const { failure, partial } = outcome;
        // Twice without an end, and nothing missing: this server never says it.
        if (facts.endedWhole && failure.looksWhole && partial?.usage) return withEnd(partial, partial.usage);
        const overloads = failure.kind === 'overloaded' ? facts.overloads + 1 : 0;
        facts = { ...facts, overloads, endedWhole: failure.looksWhole === true };
        const verdict = judge(outcome, facts, options);
        if (!('delayMs' in verdict)) return verdict;
        facts = { ...facts, retries: facts.retries + 1 };
        if (shown) yield { type: 'discarded', ...(shown.messageId !== undefined && { messageId: shown.messageId }) };
        const limit = mostRetries(options);
        yield { type: 'retry', attempt: facts.retries, limit, delayMs: verdict.delayMs, failure };
        await pause(verdict.delayMs, options, clock, signal);
        if (signal.aborted) return { ok: false, failure: ABORTED };
      }
    },
  };
}

type Facts = { readonly retries: number; readonly overloads: number; readonly endedWhole: boolean };
type Failed = Extract<ModelOutcome, { ok: false }>;
type Shown = { readonly messageId?: string };

/** Passes one attempt on and remembers whether anything of it was shown. */
async function* runOnce(
  attempt: AsyncGenerator<ModelEvent, ModelOutcome>,
  number: number,
): AsyncGenerator<ModelEvent, { readonly outcome: ModelOutcome; readonly shown: Shown | undefined }> {
  let shown: Shown | undefined;
  try {
    while (true) {
      const next = await attempt.next();
      if (next.done) return { outcome: next.value, shown };
      const event = next.value;
      if (event.type === 'message_start') shown = { messageId: event.messageId };
      else if (event.type !== 'request_sent') shown ??= {};
      yield event.type === 'request_sent' ? { ...event, attempt: number } : event;
    }
  } finally {
    // When our reader leaves, the attempt must let go of its socket too.
    await attempt.return({ ok: false, failure: ABORTED });
  }
}

function withEnd(partial: AssistantMessage, usage: Usage): ModelOutcome {
  const stopReason = partial.blocks.some(({ type }) => type === 'tool_use') ? 'tool_use' : 'end_turn';
  return { ok: true, message: { ...partial, stopReason }, stopReason, usage };
}

async function pause(ms: number, options: StreamOptions, clock: RetryClock, signal: AbortSignal): Promise<void> {
  const skip = new AbortController();
  options.onWait?.(() => skip.abort());
  await clock.sleep(ms, AbortSignal.any([signal, skip.signal]));
}

function gaveUp(failure: ModelFailure, retries: number): ModelFailure {
  return retries === 0 ? failure : { ...failure, message: `${failure.message} Gave up after ${retries + 1} tries.` };
}

function comeBackLater(failure: ModelFailure, waitMs: number, now: number): string {
  const at = new Date(now + waitMs);
  const time = `${String(at.getHours()).padStart(2, '0')}:${String(at.getMinutes()).padStart(2, '0')}`;
  const minutes = Math.ceil(waitMs / 60_000);
  const span = minutes < 120 ? `${minutes} minutes` : `${Math.round(minutes / 60)} hours`;
  return `${failure.message} The API asks to wait ${span}: try again after ${time}.`;
}

const SYSTEM_CLOCK: RetryClock = { now: Date.now, sleep };

/** Waits; ends early, and quietly, when the signal is pulled. */
export function sleep(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) return resolve();
    const done = () => {
      clearTimeout(timer);
      signal.removeEventListener('abort', done);
      resolve();
    };
    const timer = setTimeout(done, ms);
    signal.addEventListener('abort', done, { once: true });
  });
}
