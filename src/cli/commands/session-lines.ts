import type { SessionArchive, SessionSummary } from '../../app/replay/session-archive.ts';
import { formatAge, formatBytes } from '../../lib/text/format.ts';
import { sanitize } from '../../lib/text/sanitize.ts';
import { padWidth } from '../../lib/text/text-width.ts';
import { truncateEnd } from '../../lib/text/truncate.ts';

const ID_CHARS = 8;
const MIN_TITLE = 20;

/** Sessions as a table: id, age, size, branch, title. */
export function sessionTable(sessions: readonly SessionSummary[], nowMs: number, columns: number): string {
  const rows = sessions.map(({ id, modifiedMs, bytes, gitBranch, title }) => [
    id.slice(0, ID_CHARS),
    formatAge(nowMs - modifiedMs),
    formatBytes(bytes),
    truncateEnd(sanitize(gitBranch ?? '', 'line'), 20),
    sanitize(title, 'line'),
  ]);
  const widths = [0, 1, 2, 3].map((column) => Math.max(...rows.map((row) => (row[column] ?? '').length)));
  const room = Math.max(MIN_TITLE, columns - widths.reduce((all, width) => all + width + 2, 0));
  return rows
    .map((row) => row.map((cell, at) => (at < 4 ? padWidth(cell, widths[at] ?? 0) : truncateEnd(cell, room))))
    .map((row) => `${row.join('  ').trimEnd()}\n`)
    .join('');
}

export function sessionJson({ modifiedMs, path, ...rest }: SessionSummary) {
  return { ...rest, modified: new Date(modifiedMs).toISOString(), path };
}

type Report = Awaited<ReturnType<SessionArchive['check']>>;

export function checkLine({ id, title }: SessionSummary, { words, records, repaired }: Report): string {
  const done = repaired === undefined ? '' : `; repaired, the old file is ${repaired}`;
  const name = truncateEnd(sanitize(title, 'line'), 40);
  return `${id.slice(0, ID_CHARS)}  ${words} (${records} records)${done}  ${name}\n`;
}

type Hit = ReturnType<SessionArchive['search']> extends AsyncGenerator<infer One, void> ? One : never;

export function hitLines({ session, role, excerpt }: Hit): string {
  const who = role === 'user' ? 'you' : 'ouro';
  const title = truncateEnd(sanitize(session.title, 'line'), 60);
  return `${session.id.slice(0, ID_CHARS)}  ${title}\n          ${who}: ${sanitize(excerpt, 'line')}\n`;
}
