/** Reads a header by its lower-case name. */
type ReadHeader = (name: string) => string | null | undefined;

/** Lists the headers of the known rate limits: the remaining amount and the reset time. */
const listLimitHeaders = (): readonly { readonly remaining: string; readonly reset: string }[] => [
  ...['requests', 'tokens', 'input-tokens', 'output-tokens'].map((what) => ({
    remaining: `anthropic-ratelimit-${what}-remaining`,
    reset: `anthropic-ratelimit-${what}-reset`,
  })),
  ...['requests', 'tokens', 'requests-day', 'tokens-minute'].map((what) => ({
    remaining: `x-ratelimit-remaining-${what}`,
    reset: `x-ratelimit-reset-${what}`,
  })),
  { remaining: 'x-ratelimit-remaining', reset: 'x-ratelimit-reset' },
  { remaining: 'ratelimit-remaining', reset: 'ratelimit-reset' },
];

/**
 * Returns the milliseconds until the exhausted rate limit resets: the latest reset of all exhausted limits, or else the
 * earliest of those whose remaining amount is unknown. `undefined` if the headers do not tell.
 */
export function readRateLimitReset(header: ReadHeader, nowMs: number): number | undefined {
  const limits = listLimitHeaders().flatMap(({ remaining, reset }) => {
    const resetsAfterMs = parseResetTime(header(reset) ?? '', nowMs);
    return resetsAfterMs === undefined ? [] : [{ remaining: Number(header(remaining) || Number.NaN), resetsAfterMs }];
  });
  const exhausted = limits.filter((limit) => limit.remaining <= 0).map(({ resetsAfterMs }) => resetsAfterMs);
  if (exhausted.length > 0) return Math.max(...exhausted);
  // A limit with a remaining amount was not the cause.
  const unknownLimits = limits
    .filter((limit) => Number.isNaN(limit.remaining))
    .map(({ resetsAfterMs }) => resetsAfterMs);
  return unknownLimits.length === 0 ? undefined : Math.min(...unknownLimits);
}

/** Larger numbers are Unix times in milliseconds or seconds; smaller ones are seconds from now. */
const MIN_EPOCH_MS = 1e12;
const MIN_EPOCH_SECONDS = 1e9;

/** Parses a reset time (a date, a number, or a duration such as `6m0s`) into milliseconds from now. */
function parseResetTime(text: string, nowMs: number): number | undefined {
  const trimmed = text.trim();
  if (trimmed === '') return undefined;
  const number = Number(trimmed);
  if (number >= 0)
    return Math.max(
      0,
      number >= MIN_EPOCH_MS ? number - nowMs : number >= MIN_EPOCH_SECONDS ? number * 1000 - nowMs : number * 1000,
    );
  if (!Number.isNaN(number)) return undefined;
  const duration = /^(?:(\d+)d)?(?:(\d+)h)?(?:(\d+)m(?!s))?(?:(\d+(?:\.\d+)?)s)?(?:(\d+(?:\.\d+)?)ms)?$/.exec(trimmed);
  if (duration !== null) {
    const [days, hours, minutes, seconds, ms] = duration.slice(1).map((part) => Number(part ?? 0));
    return (((days ?? 0) * 24 + (hours ?? 0)) * 60 + (minutes ?? 0)) * 60_000 + (seconds ?? 0) * 1000 + (ms ?? 0);
  }
  const date = Date.parse(trimmed);
  return Number.isNaN(date) ? undefined : Math.max(0, date - nowMs);
}

/** Parses Google's retry delay, which is in the body: `"retryDelay": "34s"`. */
export function parseRetryDelay(body: string): number | undefined {
  const seconds = /"retryDelay":\s*"(\d+(?:\.\d+)?)s"/.exec(body)?.[1];
  return seconds === undefined ? undefined : acceptDelay(Number(seconds) * 1000);
}

/** Reads the delay of a `retry-after` header, in seconds, milliseconds or as a date. */
export function readRetryAfter(header: ReadHeader): number | undefined {
  const ms = Number(header('retry-after-ms') || Number.NaN);
  if (ms >= 0) return acceptDelay(ms);
  const retryAfter = header('retry-after')?.trim();
  if (!retryAfter) return undefined;
  const seconds = Number(retryAfter);
  if (seconds >= 0) return acceptDelay(seconds * 1000);
  return Number.isNaN(seconds) ? acceptDelay(Math.max(0, Date.parse(retryAfter) - Date.now())) : undefined;
}

/** No limit lasts longer than a month; a longer delay is a mistake. */
const MAX_DELAY_MS = 31 * 24 * 3_600_000;

/** Returns a delay in milliseconds unless it is a mistake. */
export function acceptDelay(ms: number): number | undefined {
  return ms <= MAX_DELAY_MS ? ms : undefined;
}
