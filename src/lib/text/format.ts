/** Formats a size in bytes: `812 B`, `3.2 KB`, `1.2 MB`. */
export function formatBytes(bytes: number): string {
  if (bytes < 1000) return `${bytes} B`;
  const units = ['KB', 'MB', 'GB'];
  let value = bytes / 1024;
  let unit = 0;
  while (value >= 999.5 && unit < units.length - 1) {
    value /= 1024;
    unit += 1;
  }
  return `${value < 99.95 ? trimTrailingZero(value.toFixed(1)) : value.toFixed(0)} ${units[unit]}`;
}

/** Formats a duration: `0.4s`, `14s`, `2m57s`, `1h05m`. */
export function formatDuration(ms: number): string {
  if (ms < 950) return `${(ms / 1000).toFixed(1)}s`;
  const seconds = Math.round(ms / 1000);
  if (seconds < 60) return `${seconds}s`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)}m${padTwoDigits(seconds % 60)}s`;
  return `${Math.floor(seconds / 3600)}h${padTwoDigits(Math.floor((seconds % 3600) / 60))}m`;
}

/** Formats an age in one unit: `now`, `5m`, `3h`, `2d`, `6w`. */
export function formatAge(ms: number): string {
  const minutes = Math.floor(ms / 60_000);
  if (minutes < 1) return 'now';
  if (minutes < 60) return `${minutes}m`;
  if (minutes < 24 * 60) return `${Math.floor(minutes / 60)}h`;
  const days = Math.floor(minutes / (24 * 60));
  return days < 14 ? `${days}d` : `${Math.floor(days / 7)}w`;
}

const HALF_A_DAY_MS = 12 * 3_600_000;

/** Formats a time relative to now: `just now`, `3h ago`, `yesterday`, `5d ago`. */
export function formatAgo(thenMs: number, nowMs: number): string {
  const age = formatAge(nowMs - thenMs);
  if (age === 'now') return 'just now';
  const isYesterday = new Date(thenMs).toDateString() === new Date(subtractDay(nowMs)).toDateString();
  return isYesterday && nowMs - thenMs >= HALF_A_DAY_MS ? 'yesterday' : `${age} ago`;
}

/** Returns the same clock time on the day before, also across a change to or from daylight saving time. */
function subtractDay(ms: number): number {
  const date = new Date(ms);
  return date.setDate(date.getDate() - 1);
}

/** Formats an ISO time as local clock time: `09:05`. Empty if the time is missing or invalid. */
export function formatClock(at: string | undefined): string {
  const time = new Date(at ?? Number.NaN);
  return Number.isNaN(time.getTime()) ? '' : `${padTwoDigits(time.getHours())}:${padTwoDigits(time.getMinutes())}`;
}

/** Formats a number of tokens: `312`, `1.2k`, `187k`, `1M`. */
export function formatTokens(tokens: number): string {
  if (tokens < 1000) return String(tokens);
  if (tokens < 9950) return `${trimTrailingZero((tokens / 1000).toFixed(1))}k`;
  if (tokens < 999_500) return `${Math.round(tokens / 1000)}k`;
  return `${trimTrailingZero((tokens / 1_000_000).toFixed(1))}M`;
}

/** Formats an amount in dollars, with more digits below one cent: `$0.12`, `$0.004`. */
export function formatMoney(dollars: number): string {
  if (dollars <= 0 || dollars >= 0.01) return `$${dollars.toFixed(2)}`;
  return dollars < 0.0005 ? '<$0.001' : `$${dollars.toFixed(3)}`;
}

/** Formats a cost. What models without a known price have cost is never shown as zero. */
export function formatModelCost(dollars: number, { isComplete }: { readonly isComplete: boolean }): string {
  if (isComplete) return formatMoney(dollars);
  return dollars > 0 ? `${formatMoney(dollars)} plus models without a known price` : 'price unknown';
}

/** Formats a count with its noun: `1 line`, `2 lines`. */
export function formatCount(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}

function padTwoDigits(value: number): string {
  return String(value).padStart(2, '0');
}

function trimTrailingZero(digits: string): string {
  return digits.replace(/\.0$/, '');
}

const MAX_CHARS = 160;

/** Formats untrusted text, such as a name, as one line without control characters, cut to 160 characters. */
export function formatOneLine(text: string): string {
  const line = text.replace(/[\u0000-\u001f\u007f-\u009f\u2028\u2029]+/g, ' ').toWellFormed();
  return truncate(line, MAX_CHARS + 1);
}

/** Cuts a text at the end so that it has at most `maxChars` characters with its `…`. What is left is well-formed. */
export function truncate(text: string, maxChars: number): string {
  return text.length > maxChars ? `${text.slice(0, maxChars - 1).toWellFormed()}…` : text;
}
