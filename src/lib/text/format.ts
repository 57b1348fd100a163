/** Bytes for people: `812 B`, `3.2 KB`, `1.2 MB`. */
export function formatBytes(bytes: number): string {
  if (bytes < 1000) return `${bytes} B`;
  const units = ['KB', 'MB', 'GB'];
  let value = bytes / 1024;
  let unit = 0;
  while (value >= 999.5 && unit < units.length - 1) {
    value /= 1024;
    unit += 1;
  }
  return `${value < 99.95 ? trimZero(value.toFixed(1)) : value.toFixed(0)} ${units[unit]}`;
}

/** A duration for people: `0.4s`, `14s`, `2m57s`, `1h05m`. */
export function formatDuration(ms: number): string {
  if (ms < 950) return `${(ms / 1000).toFixed(1)}s`;
  const seconds = Math.round(ms / 1000);
  if (seconds < 60) return `${seconds}s`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)}m${pad(seconds % 60)}s`;
  return `${Math.floor(seconds / 3600)}h${pad(Math.floor((seconds % 3600) / 60))}m`;
}

/** How long ago, in one unit: `now`, `5m`, `3h`, `2d`, `6w`. */
export function formatAge(ms: number): string {
  const minutes = Math.floor(ms / 60_000);
  if (minutes < 1) return 'now';
  if (minutes < 60) return `${minutes}m`;
  if (minutes < 24 * 60) return `${Math.floor(minutes / 60)}h`;
  const days = Math.floor(minutes / (24 * 60));
  return days < 14 ? `${days}d` : `${Math.floor(days / 7)}w`;
}

const HALF_A_DAY_MS = 12 * 3_600_000;

/** When something was, as people say it: `just now`, `3h ago`, `yesterday`, `5d ago`. */
export function formatAgo(thenMs: number, nowMs: number): string {
  const age = formatAge(nowMs - thenMs);
  if (age === 'now') return 'just now';
  const isYesterday = new Date(thenMs).toDateString() === new Date(dayBefore(nowMs)).toDateString();
  return isYesterday && nowMs - thenMs >= HALF_A_DAY_MS ? 'yesterday' : `${age} ago`;
}

/** The same time on the day before, also where that day had an hour more or less. */
function dayBefore(ms: number): number {
  const date = new Date(ms);
  return date.setDate(date.getDate() - 1);
}

/** When something was said, on the clock of this machine: `09:05`; empty where that is not known. */
export function formatClock(at: string | undefined): string {
  const time = new Date(at ?? Number.NaN);
  return Number.isNaN(time.getTime()) ? '' : `${pad(time.getHours())}:${pad(time.getMinutes())}`;
}

/** A count of tokens: `312`, `1.2k`, `187k`, `1M`. */
export function formatTokens(tokens: number): string {
  if (tokens < 1000) return String(tokens);
  if (tokens < 9950) return `${trimZero((tokens / 1000).toFixed(1))}k`;
  if (tokens < 999_500) return `${Math.round(tokens / 1000)}k`;
  return `${trimZero((tokens / 1_000_000).toFixed(1))}M`;
}

/** Money: cents, or as many digits as it takes to see a small sum: `$0.12`, `$0.004`. */
export function formatMoney(dollars: number): string {
  if (dollars <= 0 || dollars >= 0.01) return `$${dollars.toFixed(2)}`;
  return dollars < 0.0005 ? '<$0.001' : `$${dollars.toFixed(3)}`;
}

/** `1 line`, `2 lines`. */
export function formatCount(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}

function pad(value: number): string {
  return String(value).padStart(2, '0');
}

function trimZero(digits: string): string {
  return digits.replace(/\.0$/, '');
}
