/** Reads a header by its lower-case name. */
type Header = (name: string) => string | null | undefined;

/** The limits that providers tell of, each with its names for what is left and for when it is whole again. */
const LIMITS: readonly { readonly left: string; readonly reset: string }[] = [
  ...['requests', 'tokens', 'input-tokens', 'output-tokens'].map((what) => ({
    left: `anthropic-ratelimit-${what}-remaining`,
    reset: `anthropic-ratelimit-${what}-reset`,
  })),
  ...['requests', 'tokens', 'requests-day', 'tokens-minute'].map((what) => ({
    left: `x-ratelimit-remaining-${what}`,
    reset: `x-ratelimit-reset-${what}`,
  })),
  { left: 'x-ratelimit-remaining', reset: 'x-ratelimit-reset' },
  { left: 'ratelimit-remaining', reset: 'ratelimit-reset' },
];

/** How long until the limit that was met is reset, where headers tell: the last of those used up, else the first that may be. */
export function readReset(header: Header, nowMs: number): number | undefined {
  const told = LIMITS.flatMap(({ left, reset }) => {
    const resetsAfterMs = readMoment(header(reset) ?? '', nowMs);
    return resetsAfterMs === undefined ? [] : [{ left: Number(header(left) || Number.NaN), resetsAfterMs }];
  });
  const usedUp = told.filter((limit) => limit.left <= 0).map(({ resetsAfterMs }) => resetsAfterMs);
  if (usedUp.length > 0) return Math.max(...usedUp);
  // One with something left was not met.
  const unknown = told.filter((limit) => Number.isNaN(limit.left)).map(({ resetsAfterMs }) => resetsAfterMs);
  return unknown.length === 0 ? undefined : Math.min(...unknown);
}

/** Numbers above are moments since 1970, in milliseconds and in seconds; smaller ones are seconds from now. */
const EPOCH_MS = 1e12;
const EPOCH_SECONDS = 1e9;

/** A moment as providers write it: a date, a number, or a span such as `6m0s`. */
function readMoment(text: string, nowMs: number): number | undefined {
  const written = text.trim();
  if (written === '') return undefined;
  const number = Number(written);
  if (number >= 0)
    return Math.max(
      0,
      number >= EPOCH_MS ? number - nowMs : number >= EPOCH_SECONDS ? number * 1000 - nowMs : number * 1000,
    );
  if (!Number.isNaN(number)) return undefined;
  const span = /^(?:(\d+)d)?(?:(\d+)h)?(?:(\d+)m(?!s))?(?:(\d+(?:\.\d+)?)s)?(?:(\d+(?:\.\d+)?)ms)?$/.exec(written);
  if (span !== null) {
    const [days, hours, minutes, seconds, ms] = span.slice(1).map((part) => Number(part ?? 0));
    return (((days ?? 0) * 24 + (hours ?? 0)) * 60 + (minutes ?? 0)) * 60_000 + (seconds ?? 0) * 1000 + (ms ?? 0);
  }
  const date = Date.parse(written);
  return Number.isNaN(date) ? undefined : Math.max(0, date - nowMs);
}
