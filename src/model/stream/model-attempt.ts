import type { ModelFailure } from '../../contracts/model.ts';
import { startTimeLimit, type TimeLimit } from '../../lib/time-limit.ts';
import { ABORTED_FAILURE } from './failures.ts';

/** Timeouts of one attempt to stream a reply. */
export type StreamTimeouts = {
  /** Until the response headers arrive. */
  readonly headerTimeoutMs: number;
  /** Between two events of the reply. */
  readonly idleTimeoutMs: number;
  /** Without content, while the provider sends pings or empty parts. */
  readonly pingTimeoutMs?: number;
  /** For the whole attempt. */
  readonly totalTimeoutMs?: number;
  /** For the body of an error response. */
  readonly errorBodyTimeoutMs?: number;
};

/** Merges configured timeouts with defaults and the total timeout of a request. */
export function resolveStreamTimeouts(
  defaults: StreamTimeouts,
  configured: Partial<StreamTimeouts> = {},
  totalTimeoutMs?: number,
): StreamTimeouts {
  return {
    headerTimeoutMs: configured.headerTimeoutMs ?? defaults.headerTimeoutMs,
    idleTimeoutMs: configured.idleTimeoutMs ?? defaults.idleTimeoutMs,
    ...(configured.pingTimeoutMs !== undefined && { pingTimeoutMs: configured.pingTimeoutMs }),
    ...(totalTimeoutMs !== undefined && { totalTimeoutMs }),
    ...(configured.errorBodyTimeoutMs !== undefined && { errorBodyTimeoutMs: configured.errorBodyTimeoutMs }),
  };
}

/** One attempt at a request: its abort signal and the timers that may abort it. */
export type ModelAttempt = {
  /** Signal for `fetch`; aborting it closes the socket. */
  readonly signal: AbortSignal;
  readonly errorBodyTimeoutMs: number | undefined;
  /** Switches from the header timeout to the idle timeout. */
  markHeadersReceived(): void;
  /** Restarts the idle timeout. */
  markProgress(): void;
  /** Restarts the idle timeout after a ping or an empty part, as long as the ping timeout allows. */
  markAlive(): void;
  /** Shortens the idle timeout: the reply is complete, and only what is on its way is awaited. */
  markEnding(): void;
  /** Returns the failure if the attempt was aborted or timed out. */
  getFailure(): ModelFailure | undefined;
  /** Marks the reply as complete, so that the connection can be reused. */
  markComplete(): void;
  /** Stops the timers and, unless the reply is complete, closes the socket. */
  close(): void;
};

/** A model may think for minutes before its first word; pings show that the connection is alive meanwhile. */
const MAX_PING_TIMEOUT_MS = 600_000;
/** A shorter idle timeout also shortens the time in which only pings or empty parts arrive. */
const PING_TIMEOUT_FACTOR = 10;

/** Some providers announce the end of a reply, and send the rest of it and the end of the connection afterwards. */
const END_TIMEOUT_MS = 2000;

/** Starts the timers of one attempt. The caller must close it. */
export function startModelAttempt(timeouts: StreamTimeouts, signal: AbortSignal): ModelAttempt {
  const controller = new AbortController();
  let { idleTimeoutMs } = timeouts;
  const defaultPingTimeoutMs = Math.max(
    idleTimeoutMs,
    Math.min(MAX_PING_TIMEOUT_MS, PING_TIMEOUT_FACTOR * idleTimeoutMs),
  );
  const { pingTimeoutMs = defaultPingTimeoutMs } = timeouts;
  let failure: ModelFailure | undefined;
  let lastProgress = performance.now();
  /** Time of the last ping or event. */
  let lastSign = lastProgress;
  let idleLimit: TimeLimit | undefined;
  let [isEnding, isComplete] = [false, false];

  function fail(reason: ModelFailure) {
    failure ??= reason;
    controller.abort();
  }
  const handleAbort = () => fail(ABORTED_FAILURE);
  signal.addEventListener('abort', handleAbort, { once: true });
  if (signal.aborted) handleAbort();

  const headerLimit = startTimeLimit(timeouts.headerTimeoutMs, () =>
    fail(createStalledFailure(`No response within ${formatSeconds(timeouts.headerTimeoutMs)}.`)),
  );
  const { totalTimeoutMs } = timeouts;
  const totalLimit =
    totalTimeoutMs === undefined
      ? undefined
      : startTimeLimit(totalTimeoutMs, () =>
          fail(createStalledFailure(`The reply took longer than ${formatSeconds(totalTimeoutMs)}.`)),
        );

  // One timer that checks the time of the last event is far cheaper than restarting a timer per delta.
  function watchIdle(delayMs: number) {
    const limit = startTimeLimit(delayMs, () => {
      const nowMs = performance.now();
      lastSign = Math.min(nowMs, lastSign + limit.getStoppedMs());
      lastProgress = Math.min(nowMs, lastProgress + limit.getStoppedMs());
      const idleMs = idleTimeoutMs - (nowMs - lastSign);
      const pingedMs = lastSign > lastProgress ? pingTimeoutMs - (nowMs - lastProgress) : Number.POSITIVE_INFINITY;
      if (pingedMs <= 1)
        fail(createStalledFailure(`The reply stalled: only pings or empty parts for ${formatSeconds(pingTimeoutMs)}.`));
      else if (idleMs <= 1)
        fail(createStalledFailure(`The reply stalled: no data for ${formatSeconds(idleTimeoutMs)}.`));
      else watchIdle(Math.min(idleMs, pingedMs));
    });
    idleLimit = limit;
  }

  return {
    signal: controller.signal,
    errorBodyTimeoutMs: timeouts.errorBodyTimeoutMs,
    markHeadersReceived() {
      headerLimit.stop();
      lastProgress = performance.now();
      lastSign = lastProgress;
      watchIdle(Math.min(idleTimeoutMs, pingTimeoutMs));
    },
    markProgress() {
      lastProgress = performance.now();
      lastSign = lastProgress;
    },
    markAlive() {
      if (!isEnding) lastSign = performance.now();
    },
    markEnding() {
      if (isEnding) return;
      isEnding = true;
      idleTimeoutMs = Math.min(idleTimeoutMs, END_TIMEOUT_MS);
      idleLimit?.stop();
      watchIdle(idleTimeoutMs);
    },
    getFailure: () => failure,
    markComplete() {
      isComplete = true;
    },
    close() {
      headerLimit.stop();
      totalLimit?.stop();
      idleLimit?.stop();
      signal.removeEventListener('abort', handleAbort);
      if (!isComplete) controller.abort();
    },
  };
}

function createStalledFailure(message: string): ModelFailure {
  return { kind: 'stalled', message };
}

function formatSeconds(ms: number): string {
  return ms < 1000 ? `${ms} ms` : `${Math.round(ms / 100) / 10} s`;
}
