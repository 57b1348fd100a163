import type { AssistantMessage, Usage } from '../contracts/message.ts';
import type { ModelEvent, ModelFailure, ModelOutcome, ModelPort, StreamOptions } from '../contracts/model.ts';
import { isRetryable } from './stream/error-response.ts';
import { ABORTED_FAILURE } from './stream/failures.ts';

/** Retry limits and delays, and the clock they use. */
export type RetryPolicy = {
  /** Called at each failure, so that changed settings apply at once. */
  readonly limits?: () => { readonly maxRetries?: number | undefined; readonly baseMs?: number | undefined };
  /** Upper limit of the backoff. */
  readonly capMs?: number;
  readonly clock?: RetryClock;
  /** Returns a number between 0 and 1, for the jitter. */
  readonly random?: () => number;
};

/** Clock of the retry countdown. `sleep` resolves early when its signal aborts. */
type RetryClock = {
  readonly now: () => number;
  readonly sleep: (ms: number, signal: AbortSignal) => Promise<void>;
};

const NO_LIMITS: NonNullable<RetryPolicy['limits']> = () => ({});
const DEFAULT_MAX_RETRIES = 10;
const DEFAULT_BASE_MS = 500;
const DEFAULT_MAX_DELAY_MS = 60_000;

/** Wraps a port so that transient failures are retried with backoff; each retry is announced by a `retry` event. */
export function withRetry(port: ModelPort, policy: RetryPolicy = {}): ModelPort {
  const { limits = NO_LIMITS, capMs = 32_000, clock = SYSTEM_CLOCK, random = Math.random } = policy;

  const getMaxRetries = (options: StreamOptions) => options.maxRetries ?? limits().maxRetries ?? DEFAULT_MAX_RETRIES;

  /** Decides whether a failed attempt is returned or repeated after a delay. */
  function decideRetry(
    outcome: FailedOutcome,
    state: RetryState,
    options: StreamOptions,
  ): FailedOutcome | { readonly delayMs: number } {
    const { failure } = outcome;
    const { baseMs = DEFAULT_BASE_MS } = limits();
    if (!isRetryable(failure) || !options.restartable()) return outcome;
    if (state.overloads >= options.overloadLimit) return outcome;
    const { retryAfterMs } = failure;
    // Requests often succeed before a rate limit is fully reset, so the reset time counts only if it is too far away.
    const availableInMs = retryAfterMs ?? failure.resetsAfterMs;
    if (availableInMs !== undefined && availableInMs > (options.maxRetryDelayMs ?? DEFAULT_MAX_DELAY_MS)) {
      return { ...outcome, failure: { ...failure, message: formatRetryLater(failure, availableInMs, clock.now()) } };
    }
    if (state.retries >= getMaxRetries(options)) return { ...outcome, failure: formatGaveUp(failure, state.retries) };
    const backoff = Math.min(options.maxRetryDelayMs ?? capMs, baseMs * 2 ** state.retries);
    // Never earlier than `retry-after`, and never without backoff: some servers always send `retry-after: 0`.
    return { delayMs: Math.max(retryAfterMs ?? 0, Math.round(backoff * (1 - random() / 4))) };
  }

  return {
    ...port,
    retries: true,
    async *stream(request, options, signal) {
      let state: RetryState = { retries: 0, overloads: 0, endedComplete: false };
      while (true) {
        const { outcome, shown } = yield* streamAttempt(port.stream(request, options, signal), state.retries + 1);
        if (outcome.ok) return outcome;
        const { failure, partial } = outcome;
        // Two replies in a row without an end event but with complete blocks: this server never sends one.
        if (state.endedComplete && failure.looksWhole && partial?.usage) return completePartial(partial, partial.usage);
        const overloads = failure.kind === 'overloaded' ? state.overloads + 1 : 0;
        state = { ...state, overloads, endedComplete: failure.looksWhole === true };
        const decision = decideRetry(outcome, state, options);
        if (!('delayMs' in decision)) return decision;
        state = { ...state, retries: state.retries + 1 };
        if (shown) yield { type: 'discarded', ...(shown.messageId !== undefined && { messageId: shown.messageId }) };
        const limit = getMaxRetries(options);
        yield { type: 'retry', attempt: state.retries, limit, delayMs: decision.delayMs, failure };
        await waitForRetry(decision.delayMs, options, clock, signal);
        if (signal.aborted) return { ok: false, failure: ABORTED_FAILURE };
      }
    },
  };
}

type RetryState = { readonly retries: number; readonly overloads: number; readonly endedComplete: boolean };
type FailedOutcome = Extract<ModelOutcome, { ok: false }>;
type ShownReply = { readonly messageId?: string };

/** Forwards the events of one attempt and records whether any of them was visible to the user. */
async function* streamAttempt(
  attempt: AsyncGenerator<ModelEvent, ModelOutcome>,
  number: number,
): AsyncGenerator<ModelEvent, { readonly outcome: ModelOutcome; readonly shown: ShownReply | undefined }> {
  let shown: ShownReply | undefined;
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
    // An abandoned stream must also close the socket of the attempt.
    await attempt.return({ ok: false, failure: ABORTED_FAILURE });
  }
}

function completePartial(partial: AssistantMessage, usage: Usage): ModelOutcome {
  const stopReason = partial.blocks.some(({ type }) => type === 'tool_use') ? 'tool_use' : 'end_turn';
  return { ok: true, message: { ...partial, stopReason }, stopReason, usage };
}

async function waitForRetry(ms: number, options: StreamOptions, clock: RetryClock, signal: AbortSignal): Promise<void> {
  const skip = new AbortController();
  options.onWait?.(() => skip.abort());
  await clock.sleep(ms, AbortSignal.any([signal, skip.signal]));
}

function formatGaveUp(failure: ModelFailure, retries: number): ModelFailure {
  if (retries === 0) return failure;
  const advice = failure.kind === 'network' ? '' : ' Try again later.';
  return { ...failure, message: `${failure.message} Gave up after ${retries + 1} attempts.${advice}` };
}

function formatRetryLater(failure: ModelFailure, waitMs: number, now: number): string {
  const date = new Date(now + waitMs);
  const pad = (value: number) => String(value).padStart(2, '0');
  const time = `${pad(date.getHours())}:${pad(date.getMinutes())}`;
  const minutes = Math.ceil(waitMs / 60_000);
  const span = minutes < 120 ? `${minutes} minutes` : `${Math.round(minutes / 60)} hours`;
  const isToday = date.toDateString() === new Date(now).toDateString();
  const day = isToday ? '' : ` on ${date.getFullYear()}-${pad(date.getMonth() + 1)}-${pad(date.getDate())}`;
  return `${failure.message} The API asks to wait ${span}. Try again after ${time}${day}.`;
}

const SYSTEM_CLOCK: RetryClock = { now: Date.now, sleep };

/** Resolves after `ms`, or as soon as the signal aborts. */
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
