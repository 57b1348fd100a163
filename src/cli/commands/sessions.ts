import { writeFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import {
  createStoredSessionOperations,
  type SessionSummary,
  type StoredSessionOperations,
} from '../../app/replay/session-archive.ts';
import type { FlagValuesOf } from '../../command/define-flag.ts';
import { parseFlagValues } from '../../command/flag-values.ts';
import type { ProcessIo } from '../../command/process-io.ts';
import { SUBCOMMANDS, type SubcommandInput } from '../../command/subcommands.ts';
import { UsageError } from '../../command/usage-error.ts';
import { formatAge, formatBytes, formatCount } from '../../lib/text/format.ts';
import { sanitize } from '../../lib/text/sanitize.ts';
import { padToWidth, truncateEnd } from '../../lib/text/text-width.ts';

type Flags = FlagValuesOf<typeof SUBCOMMANDS.sessions.flags>;

type SessionsRequest = {
  readonly args: readonly string[];
  readonly flags: Flags;
  readonly io: ProcessIo;
  readonly archive: StoredSessionOperations;
};
type Action = (request: SessionsRequest) => Promise<number>;

const ACTIONS: Readonly<Record<string, Action>> = {
  list,
  show: (request) =>
    printSession(request, (session) => request.archive.export(session, request.flags.json ? 'json' : 'markdown')),
  check,
  search,
  rename,
  delete: remove,
  export: (request) => printSession(request, (session) => request.archive.export(session, request.flags.format)),
  // A capsule is to be attached to a report; its lines on a screen help nobody, so there it gets a file.
  capsule: (request) =>
    printSession(
      request,
      (session) => request.archive.capsule(session),
      request.io.stdout.isTty ? ({ id }) => `ouro-${id.slice(0, 8)}.capsule` : undefined,
    ),
  prune,
};

/** Runs `ouro sessions …`: lists, shows, searches, checks, exports and deletes stored sessions. */
export async function runSessionsCommand({ args, flags: rawFlags, io }: SubcommandInput): Promise<number> {
  const flags = parseFlagValues(SUBCOMMANDS.sessions.flags, rawFlags);
  const [name = 'list', ...rest] = args;
  const action = Object.hasOwn(ACTIONS, name) ? ACTIONS[name] : undefined;
  if (action === undefined) {
    throw new UsageError(`Unknown command "ouro sessions ${name}". Use one of: ${Object.keys(ACTIONS).join(', ')}.`);
  }
  return action({ args: rest, flags, io, archive: createStoredSessionOperations(io.environment, io.cwd) });
}

async function list({ flags, io, archive }: SessionsRequest): Promise<number> {
  const { sessions, damaged } = await archive.scan(resolveScope(flags));
  if (flags.json) io.stdout.write(`${JSON.stringify(sessions.map(serializeSession), null, 2)}\n`);
  else if (sessions.length > 0) io.stdout.write(formatSessionTable(sessions, Date.now(), io.stdout.columns()));
  else io.stdout.write(formatNoSessions(flags));
  if (damaged.length > 0) {
    const ids = damaged.map(({ id }) => id.slice(0, ID_CHARS)).join(', ');
    io.stderr.write(`Damaged: ${ids}. Run "ouro sessions check${flags.all ? ' --all' : ''}".\n`);
  }
  return 0;
}

function formatNoSessions({ all }: Flags): string {
  return all ? 'No sessions yet.\n' : 'No sessions in this folder. --all includes all folders.\n';
}

/** Prints a session in the given format, or writes it to a new file: that of `--output`, or the default one. */
async function printSession(
  request: SessionsRequest,
  format: (session: SessionSummary) => Promise<string>,
  getDefaultFile?: (session: SessionSummary) => string,
): Promise<number> {
  const { flags, io } = request;
  const session = await findSession(request);
  if (session === undefined) return 1;
  const text = await format(session);
  const output = flags.output ?? getDefaultFile?.(session);
  if (output === undefined) {
    io.stdout.write(io.stdout.isTty ? sanitize(text, 'prompt') : text);
    return 0;
  }
  const path = resolve(io.cwd, output);
  try {
    await writeFile(path, text, { flag: 'wx', mode: 0o600 });
  } catch {
    io.stderr.write(`Could not write ${path}. It may already exist: choose another name with --output.\n`);
    return 1;
  }
  io.stdout.write(`${path}\n`);
  return 0;
}

async function check(request: SessionsRequest): Promise<number> {
  const { flags, io, archive } = request;
  const sessions = await selectSessions(request);
  if (sessions === undefined) return 1;
  let damaged = 0;
  for (const session of sessions) {
    const report = await archive.check(session, flags.repair ? 'repair' : 'look');
    if (report.state === 'damaged' && report.repaired === undefined) damaged += 1;
    io.stdout.write(flags.json ? `${JSON.stringify(report)}\n` : formatSessionCheck(session, report));
  }
  if (sessions.length === 0 && !flags.json) io.stdout.write(formatNoSessions(flags));
  if (damaged > 0 && !flags.repair)
    io.stderr.write('--repair rewrites damaged files and keeps the old ones beside them.\n');
  return damaged === 0 ? 0 : 1;
}

/** Selects the named session, or all sessions of the scope; the damaged ones as well. */
async function selectSessions(request: SessionsRequest): Promise<readonly SessionFile[] | undefined> {
  const { args, flags, archive } = request;
  if (args.length > 0) {
    const session = await findSessionFile(request);
    return session && [session];
  }
  const { sessions, damaged } = await archive.scan(resolveScope(flags));
  return [...damaged, ...sessions];
}

async function search({ args, flags, io, archive }: SessionsRequest): Promise<number> {
  const query = args.join(' ');
  if (query.trim() === '') throw new UsageError('Usage: ouro sessions search <text>');
  let hits = 0;
  for await (const hit of archive.search(query, resolveScope(flags), new AbortController().signal)) {
    hits += 1;
    const { session, ...rest } = hit;
    io.stdout.write(
      flags.json ? `${JSON.stringify({ id: session.id, title: session.title, ...rest })}\n` : formatSearchHit(hit),
    );
  }
  if (hits === 0 && !flags.json) io.stderr.write('Nothing found.\n');
  return hits === 0 ? 1 : 0;
}

async function rename(request: SessionsRequest): Promise<number> {
  const [id, ...title] = request.args;
  if (id === undefined || title.length === 0) throw new UsageError('Usage: ouro sessions rename <id> <title>');
  const session = await findSession({ ...request, args: [id] });
  if (session === undefined) return 1;
  return printOutcome(await request.archive.rename(session, title.join(' ')), request.io);
}

async function remove(request: SessionsRequest): Promise<number> {
  // Never the newest one by default: it cannot be restored.
  if (request.args.length === 0) throw new UsageError('Usage: ouro sessions delete <id>');
  const session = await findSessionFile(request);
  if (session === undefined) return 1;
  const outcome = await request.archive.delete(session);
  if (outcome.ok)
    request.io.stdout.write(`Deleted ${session.id.slice(0, ID_CHARS)}: ${sanitize(session.title, 'line')}\n`);
  return printOutcome(outcome, request.io);
}

async function prune({ flags, io, archive }: SessionsRequest): Promise<number> {
  const pruned = await archive.prune(flags.days, flags.dryRun ? 'preview' : 'delete');
  const count = `${formatCount(pruned.length, 'session')} older than ${formatCount(flags.days, 'day')}`;
  io.stdout.write(`${flags.dryRun ? 'Would delete' : 'Deleted'} ${count}.\n`);
  return 0;
}

function printOutcome(
  outcome: { readonly ok: true } | { readonly ok: false; readonly problem: string },
  io: ProcessIo,
): number {
  if (outcome.ok) return 0;
  io.stderr.write(`${outcome.problem}\n`);
  return 1;
}

type SessionFile = Pick<SessionSummary, 'id' | 'path' | 'title'>;

/** Returns the session named by the arguments, or the newest; prints an error when there is none. */
async function findSession({ args, io, archive }: SessionsRequest): Promise<SessionSummary | undefined> {
  const match = args.length === 0 ? await archive.newest() : await archive.find(args.join(' '));
  if (match.ok) return match.session;
  io.stderr.write(`${sanitize(match.problem, 'line')}\n`);
  return undefined;
}

/** Returns the named session, also a damaged one; prints an error when there is none. */
async function findSessionFile({ args, io, archive }: SessionsRequest): Promise<SessionFile | undefined> {
  const match = await archive.find(args.join(' '));
  const session = match.ok ? match.session : match.damaged;
  if (session === undefined && !match.ok) io.stderr.write(`${sanitize(match.problem, 'line')}\n`);
  return session;
}

const resolveScope = ({ all }: Flags) => (all ? 'all' : 'folder');

const ID_CHARS = 8;
const MIN_TITLE_WIDTH = 20;

/** Formats sessions as a table: id, age, size, branch, title. */
export function formatSessionTable(sessions: readonly SessionSummary[], nowMs: number, columns: number): string {
  const rows = sessions.map(({ id, modifiedMs, bytes, gitBranch, title }) => [
    id.slice(0, ID_CHARS),
    formatAge(nowMs - modifiedMs),
    formatBytes(bytes),
    truncateEnd(sanitize(gitBranch ?? '', 'line'), 20),
    sanitize(title, 'line'),
  ]);
  const widths = [0, 1, 2, 3].map((column) => Math.max(...rows.map((row) => (row[column] ?? '').length)));
  const titleWidth = Math.max(MIN_TITLE_WIDTH, columns - widths.reduce((sum, width) => sum + width + 2, 0));
  return rows
    .map((row) =>
      row.map((cell, column) => (column < 4 ? padToWidth(cell, widths[column] ?? 0) : truncateEnd(cell, titleWidth))),
    )
    .map((row) => `${row.join('  ').trimEnd()}\n`)
    .join('');
}

/** Converts a session summary for `--json`. */
export function serializeSession({ modifiedMs, path, ...rest }: SessionSummary) {
  return { ...rest, modified: new Date(modifiedMs).toISOString(), path };
}

type CheckReport = Awaited<ReturnType<StoredSessionOperations['check']>>;

/** Formats the check of a session as one line. */
export function formatSessionCheck({ id, title }: SessionFile, report: CheckReport): string {
  const done = report.records === 0 ? 'moved to' : 'repaired, the old file is';
  const repair = report.repaired === undefined ? '' : `; ${done} ${report.repaired}`;
  const shortTitle = truncateEnd(sanitize(title, 'line'), 40);
  return `${id.slice(0, ID_CHARS)}  ${report.words} (${report.records} records)${repair}  ${shortTitle}\n`;
}

type SearchHit = ReturnType<StoredSessionOperations['search']> extends AsyncGenerator<infer Hit, void> ? Hit : never;

/** Formats a search result as two lines: session and excerpt. */
export function formatSearchHit({ session, role, excerpt }: SearchHit): string {
  const speaker = role === 'user' ? 'you' : 'ouro';
  const title = truncateEnd(sanitize(session.title, 'line'), 60);
  return `${session.id.slice(0, ID_CHARS)}  ${title}\n          ${speaker}: ${sanitize(excerpt, 'line')}\n`;
}
