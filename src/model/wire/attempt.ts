import type { ModelFailure } from '../../contracts/model.ts';
import { ABORTED } from './stream-failures.ts';

/** How long a provider may stay silent. */
export type Patience = {
  readonly headerTimeoutMs: number;
  readonly idleTimeoutMs: number;
  /** Upper limit for the whole attempt. */
  readonly totalTimeoutMs?: number;
};

/** What is configured now, completed by defaults, with the limit of one request. */
export function patienceOf(defaults: Patience, given: Partial<Patience> = {}, totalTimeoutMs?: number): Patience {
  return {
    headerTimeoutMs: given.headerTimeoutMs ?? defaults.headerTimeoutMs,
    idleTimeoutMs: given.idleTimeoutMs ?? defaults.idleTimeoutMs,
    ...(totalTimeoutMs !== undefined && { totalTimeoutMs }),
  };
}

/** One try of one request: its own abort signal, and the clocks that may pull it. */
export type Attempt = {
  /** Give this to `fetch`; pulling it closes the socket. */
  readonly signal: AbortSignal;
  /** Headers arrived: from now on content must. */
  headersArrived(): void;
  /** Content arrived. */
  progressed(): void;
  /** Why the attempt was ended from our side; `undefined` while nobody did. */
  endedBy(): ModelFailure | undefined;
  /** The reply is complete: its connection may be used again. */
  completed(): void;
  /** Stops the clocks and, unless the reply is complete, closes the socket. */
  close(): void;
};

/** Starts the clocks of one attempt. Whoever starts one closes it. */
export function startAttempt(patience: Patience, signal: AbortSignal): Attempt {
  const controller = new AbortController();
  let ended: ModelFailure | undefined;
  let lastProgress = performance.now();
  let idleTimer: NodeJS.Timeout | undefined;
  let isComplete = false;

  function end(failure: ModelFailure) {
    ended ??= failure;
    controller.abort();
  }
  const stop = () => end(ABORTED);
  signal.addEventListener('abort', stop, { once: true });
  if (signal.aborted) stop();

  const headerTimer = setTimeout(
    () => end(stalled(`No answer within ${seconds(patience.headerTimeoutMs)}.`)),
    patience.headerTimeoutMs,
  );
  const { totalTimeoutMs } = patience;
  const totalTimer =
    totalTimeoutMs === undefined
      ? undefined
      : setTimeout(() => end(stalled(`The reply took longer than ${seconds(totalTimeoutMs)}.`)), totalTimeoutMs);

  // One timer that looks back is far cheaper than one timer per delta.
  function watchIdle(delayMs: number) {
    idleTimer = setTimeout(() => {
      const silentMs = performance.now() - lastProgress;
      if (silentMs >= patience.idleTimeoutMs - 1) {
        end(stalled(`The reply stalled: nothing new for ${seconds(patience.idleTimeoutMs)}.`));
      } else {
        watchIdle(patience.idleTimeoutMs - silentMs);
      }
    }, delayMs);
  }

  return {
    signal: controller.signal,
    headersArrived() {
      clearTimeout(headerTimer);
      lastProgress = performance.now();
      watchIdle(patience.idleTimeoutMs);
    },
    progressed() {
      lastProgress = performance.now();
    },
    endedBy: () => ended,
    completed() {
      isComplete = true;
    },
    close() {
      clearTimeout(headerTimer);
      clearTimeout(totalTimer);
      clearTimeout(idleTimer);
      signal.removeEventListener('abort', stop);
      if (!isComplete) controller.abort();
    },
  };
}

function stalled(message: string): ModelFailure {
  return { kind: 'stalled', message };
}

function seconds(ms: number): string {
  return ms < 1000 ? `${ms} ms` : `${Math.round(ms / 100) / 10} s`;
}
