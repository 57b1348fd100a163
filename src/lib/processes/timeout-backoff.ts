const MAX_PAUSE_MS = 600_000;

/** Creates an exponential backoff per script, so that a hanging script does not delay every turn. */
export function createTimeoutBackoff(now: () => number = () => performance.now()) {
  const pauses = new Map<string, { readonly timeouts: number; readonly untilMs: number }>();
  return {
    /** Returns whether the script must not be started yet. */
    isPaused: (script: string): boolean => now() < (pauses.get(script)?.untilMs ?? Number.NEGATIVE_INFINITY),
    record(script: string, { timedOut, tookMs }: { readonly timedOut: boolean; readonly tookMs: number }) {
      if (!timedOut) {
        pauses.delete(script);
        return;
      }
      const timeouts = (pauses.get(script)?.timeouts ?? 0) + 1;
      pauses.set(script, { timeouts, untilMs: now() + Math.min(MAX_PAUSE_MS, tookMs * 2 ** timeouts) });
    },
  };
}
