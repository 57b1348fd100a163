import { formatCount } from '../lib/text/format.ts';
import { sanitizeUntrusted } from '../lib/text/sanitize.ts';

const MAX_LINES = 5;
const MAX_CHARS = 600;

/** Shortens a server's text for a question to the user: a longer one could imitate a whole screen. */
export function shortenServerText(text: string): string {
  const lines = sanitizeUntrusted(text).trim().split('\n');
  const shown = lines.length > MAX_LINES ? lines.slice(0, MAX_LINES - 1) : lines;
  const joined = shown.join('\n');
  const cut = joined.slice(0, MAX_CHARS).toWellFormed();
  if (lines.length > MAX_LINES) return `${cut}\n… ${formatCount(lines.length - shown.length, 'more line')}`;
  return joined === cut ? cut : `${cut} … ${formatCount(joined.length - cut.length, 'more character')}`;
}
