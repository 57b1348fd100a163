/** A lane that this machine cannot serve for now; other machines may. */
export type SkippedRateLimitLane = { readonly why: 'no-key' | 'no-connection'; readonly message: string };

/** The lanes that this machine skips, each for a time that doubles until one of its tasks has run. */
export type SkippedRateLimitLanes = {
  /** Skips a lane. Returns the time until the next try. */
  skip(lane: string, reason: SkippedRateLimitLane): number;
  /** Serves a lane again, because one of its tasks has run. */
  clear(lane: string): void;
  /** Returns the lanes to skip now. */
  list(): ReadonlyMap<string, SkippedRateLimitLane>;
};

const FIRST_PAUSE_MS = 30_000;
const MAX_PAUSE_MS = 600_000;

/** Returns the pause after a number of failures in a row, doubling from half a minute to ten minutes. */
export const getLaneOutagePause = (failures: number): number =>
  Math.min(MAX_PAUSE_MS, FIRST_PAUSE_MS * 2 ** (failures - 1));

export function createSkippedRateLimitLanes(now: () => number = () => performance.now()): SkippedRateLimitLanes {
  const lanes = new Map<
    string,
    { readonly reason: SkippedRateLimitLane; readonly until: number; readonly failures: number }
  >();
  return {
    skip(lane, reason) {
      const before = lanes.get(lane);
      // Tasks that were started together fail together.
      if (before !== undefined && before.until > now()) return before.until - now();
      const failures = (before?.failures ?? 0) + 1;
      const pauseMs = getLaneOutagePause(failures);
      lanes.set(lane, { reason, until: now() + pauseMs, failures });
      return pauseMs;
    },
    clear: (lane) => void lanes.delete(lane),
    list: () =>
      new Map([...lanes].flatMap(([lane, { reason, until }]) => (until > now() ? [[lane, reason] as const] : []))),
  };
}
