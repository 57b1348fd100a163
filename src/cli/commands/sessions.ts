import { writeFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { openArchive, type SessionArchive, type SessionSummary } from '../../app/replay/session-archive.ts';
import { formatCount } from '../../lib/text/format.ts';
import { sanitize } from '../../lib/text/sanitize.ts';
import type { ValuesOf } from '../args/flag.ts';
import { readFlags } from '../args/read-flags.ts';
import { type CommandRequest, SUBCOMMANDS } from '../args/subcommands.ts';
import { UsageError } from '../args/usage-error.ts';
import type { Io } from '../io.ts';
import { checkLine, hitLines, sessionJson, sessionTable } from './session-lines.ts';

type Flags = ValuesOf<typeof SUBCOMMANDS.sessions.flags>;

type Wish = {
  readonly words: readonly string[];
  readonly flags: Flags;
  readonly io: Io;
  readonly archive: SessionArchive;
};
type Action = (wish: Wish) => Promise<number>;

const ACTIONS: Readonly<Record<string, Action>> = {
  list,
  show: (wish) => give(wish, (session) => wish.archive.exported(session, wish.flags.json ? 'json' : 'markdown')),
  check,
  search,
  rename,
  delete: remove,
  export: (wish) => give(wish, (session) => wish.archive.exported(session, wish.flags.format)),
  capsule: (wish) => give(wish, (session) => wish.archive.capsule(session)),
  prune,
};

/** `ouro sessions …`: what is stored, and what may be done with it. */
export async function run({ words, flags, io }: CommandRequest): Promise<number> {
  const given = readFlags(SUBCOMMANDS.sessions.flags, flags);
  const [name = 'list', ...rest] = words;
  const action = Object.hasOwn(ACTIONS, name) ? ACTIONS[name] : undefined;
  if (action === undefined) {
    throw new UsageError(`There is no "ouro sessions ${name}". There are: ${Object.keys(ACTIONS).join(', ')}.`);
  }
  return action({ words: rest, flags: given, io, archive: openArchive(io.environment, io.cwd) });
}

async function list({ flags, io, archive }: Wish): Promise<number> {
  const sessions = await archive.list(scopeOf(flags));
  if (flags.json) io.stdout.write(`${JSON.stringify(sessions.map(sessionJson), null, 2)}\n`);
  else if (sessions.length > 0) io.stdout.write(sessionTable(sessions, Date.now(), io.stdout.columns()));
  else io.stdout.write(`No sessions ${flags.all ? 'yet' : 'of this folder; --all shows those of others'}.\n`);
  return 0;
}

/** Prints a session in some form, or writes it into a file that is not there yet. */
async function give(wish: Wish, form: (session: SessionSummary) => Promise<string>): Promise<number> {
  const { flags, io } = wish;
  const session = await theOne(wish);
  if (session === undefined) return 1;
  const text = await form(session);
  if (flags.output === undefined) {
    io.stdout.write(io.stdout.isTty ? sanitize(text, 'prompt') : text);
    return 0;
  }
  const path = resolve(io.cwd, flags.output);
  try {
    await writeFile(path, text, { flag: 'wx', mode: 0o600 });
  } catch {
    io.stderr.write(`${path} could not be written. It may be there already: choose another name.\n`);
    return 1;
  }
  io.stdout.write(`${path}\n`);
  return 0;
}

async function check(wish: Wish): Promise<number> {
  const { words, flags, io, archive } = wish;
  const one = words.length === 0 ? undefined : await theOne(wish);
  if (words.length > 0 && one === undefined) return 1;
  const sessions = one === undefined ? await archive.list(scopeOf(flags)) : [one];
  let left = 0;
  for (const session of sessions) {
    const report = await archive.check(session, flags.repair ? 'repair' : 'look');
    if (report.words !== 'sound' && report.repaired === undefined) left += 1;
    io.stdout.write(flags.json ? `${JSON.stringify(report)}\n` : checkLine(session, report));
  }
  if (left > 0 && !flags.repair) io.stderr.write('--repair writes such files anew; the old ones stay beside them.\n');
  return left === 0 ? 0 : 1;
}

async function search({ words, flags, io, archive }: Wish): Promise<number> {
  const wanted = words.join(' ');
  if (wanted.trim() === '') throw new UsageError('Say what to look for: ouro sessions search <words>');
  let found = 0;
  for await (const hit of archive.search(wanted, scopeOf(flags), new AbortController().signal)) {
    found += 1;
    const { session, ...rest } = hit;
    io.stdout.write(
      flags.json ? `${JSON.stringify({ id: session.id, title: session.title, ...rest })}\n` : hitLines(hit),
    );
  }
  if (found === 0 && !flags.json) io.stderr.write('Nothing found.\n');
  return found === 0 ? 1 : 0;
}

async function rename(wish: Wish): Promise<number> {
  const [wanted, ...title] = wish.words;
  if (wanted === undefined || title.length === 0) throw new UsageError('Usage: ouro sessions rename <id> <title>');
  const session = await theOne({ ...wish, words: [wanted] });
  if (session === undefined) return 1;
  return report(await wish.archive.rename(session, title.join(' ')), wish.io);
}

async function remove(wish: Wish): Promise<number> {
  const session = await theOne(wish);
  if (session === undefined) return 1;
  return report(await wish.archive.delete(session), wish.io);
}

async function prune({ flags, io, archive }: Wish): Promise<number> {
  const gone = await archive.prune(flags.days, flags.dryRun ? 'preview' : 'delete');
  const what = `${formatCount(gone.length, 'session')} older than ${formatCount(flags.days, 'day')}`;
  io.stdout.write(`${flags.dryRun ? 'Would delete' : 'Deleted'} ${what}.\n`);
  return 0;
}

function report(done: { readonly ok: true } | { readonly ok: false; readonly why: string }, io: Io): number {
  if (done.ok) return 0;
  io.stderr.write(`${done.why}\n`);
  return 1;
}

async function theOne({ words, io, archive }: Wish): Promise<SessionSummary | undefined> {
  const [wanted] = words;
  const found = wanted === undefined ? await archive.newest() : await archive.find(words.join(' '));
  if (found.ok) return found.session;
  io.stderr.write(`${sanitize(found.why, 'line')}\n`);
  return undefined;
}

const scopeOf = ({ all }: Flags) => (all ? 'all' : 'folder');
