const LONGEST_PAUSE_MS = 600_000;

/** Remembers which scripts did not answer in time: each is started again later and later, not with every turn. */
export function createHanging(now: () => number = () => performance.now()) {
  const pauses = new Map<string, { readonly misses: number; readonly untilMs: number }>();
  return {
    /** Is it too early to start it again? */
    isPaused: (script: string) => now() < (pauses.get(script)?.untilMs ?? Number.NEGATIVE_INFINITY),
    note(script: string, { timedOut, tookMs }: { readonly timedOut: boolean; readonly tookMs: number }): void {
      if (!timedOut) {
        pauses.delete(script);
        return;
      }
      const misses = (pauses.get(script)?.misses ?? 0) + 1;
      pauses.set(script, { misses, untilMs: now() + Math.min(LONGEST_PAUSE_MS, tookMs * 2 ** misses) });
    },
  };
}
