/** A limit of the time in which this program runs. */
export type TimeLimit = {
  stop(): void;
  /** Returns the time so far in which the program was stopped, as by SIGSTOP or in a paused virtual machine. */
  getStoppedMs(): number;
};

const SLICE_MS = 1_000;
/** A timer that is later than this did not wait for a busy machine: the program was stopped. */
const STOPPED_MS = 1_500;
/** Time to hear first of what has happened meanwhile. */
const CATCH_UP_MS = 500;

/**
 * Calls back when the program has run for some time. A timer of the runtime counts the time in which the program was
 * stopped, too, and is called before everything that has arrived meanwhile, such as the end of the awaited process.
 */
export function startTimeLimit(limitMs: number, onReached: () => void): TimeLimit {
  let leftMs = limitMs;
  let stoppedMs = 0;
  let timer: ReturnType<typeof setTimeout>;
  const wait = () => {
    const sliceMs = Math.max(0, Math.min(leftMs, SLICE_MS));
    const startedMs = performance.now();
    timer = setTimeout(() => {
      const lateMs = performance.now() - startedMs - sliceMs;
      const isLate = isLateTimer(startedMs, sliceMs);
      leftMs -= isLate ? sliceMs : sliceMs + lateMs;
      if (isLate) {
        stoppedMs += lateMs;
        leftMs = Math.max(leftMs, CATCH_UP_MS);
      }
      if (leftMs > 0) wait();
      else onReached();
    }, sliceMs);
  };
  wait();
  return { stop: () => clearTimeout(timer), getStoppedMs: () => stoppedMs };
}

/** Returns whether a timer that ends now is so late that the program was stopped meanwhile. */
export const isLateTimer = (startedMs: number, limitMs: number): boolean =>
  performance.now() - startedMs - limitMs > STOPPED_MS;
