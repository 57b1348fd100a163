const MAX_PAUSE_MS = 600_000;

/** Pauses scripts that have timed out. */
export type TimeoutBackoff = {
  /** Returns whether the script must not be started yet. */
  isPaused(script: string): boolean;
  record(script: string, end: { readonly timedOut: boolean; readonly tookMs: number }): void;
};

/** Creates an exponential backoff per script, so that a hanging script does not delay every turn. */
export function createTimeoutBackoff(now: () => number = () => performance.now()): TimeoutBackoff {
  const pauses = new Map<string, { readonly timeouts: number; readonly untilMs: number }>();
  return {
    isPaused: (script) => now() < (pauses.get(script)?.untilMs ?? Number.NEGATIVE_INFINITY),
    record(script, { timedOut, tookMs }) {
      if (!timedOut) {
        pauses.delete(script);
        return;
      }
      const timeouts = (pauses.get(script)?.timeouts ?? 0) + 1;
      pauses.set(script, { timeouts, untilMs: now() + Math.min(MAX_PAUSE_MS, tookMs * 2 ** timeouts) });
    },
  };
}
