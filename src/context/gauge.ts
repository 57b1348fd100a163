/** How far the guess may be corrected by what the API counted. */
const FACTOR_MIN = 0.6;
const FACTOR_MAX = 2;

/** Turns raw estimates into tokens of the whole request: the API's last count is the anchor, the guess only fills the gap. */
export function createGauge(overheadTokens: () => number): {
  tokens(rawTokens: number): number;
  /** What a raw difference is worth in the API's tokens. */
  scale(rawTokens: number): number;
  /** `clearedTokens` is what the provider left out by itself: it was guessed, and not counted. */
  calibrate(rawTokens: number, countedTokens: number, clearedTokens?: number): void;
  /** The conversation was replaced: the last count says nothing about it any more, only the factor stays. */
  reset(): void;
  /** Looks at the overhead again; once a turn is enough, and measuring it is not free. */
  refresh(): void;
  overhead(): number;
} {
  let factor = 1;
  let overhead: number | undefined;
  const overheadOnce = () => {
    overhead ??= overheadTokens();
    return overhead;
  };
  let anchor: { readonly guessed: number; readonly counted: number } | undefined;
  return {
    tokens: (raw) => {
      const guessed = overheadOnce() + raw;
      if (anchor === undefined) return Math.round(guessed * factor);
      return Math.max(0, Math.round(anchor.counted + (guessed - anchor.guessed) * factor));
    },
    scale: (raw) => Math.round(raw * factor),
    calibrate: (raw, counted, cleared = 0) => {
      const guessed = overheadOnce() + raw;
      if (guessed > 0) factor = Math.min(FACTOR_MAX, Math.max(FACTOR_MIN, (counted + cleared) / guessed));
      anchor = { guessed, counted };
    },
    reset: () => {
      anchor = undefined;
    },
    refresh: () => {
      overhead = undefined;
    },
    overhead: overheadOnce,
  };
}

export type Gauge = ReturnType<typeof createGauge>;
