import { lstat, realpath, stat } from 'node:fs/promises';
import { basename, dirname, join, relative, resolve } from 'node:path';
import { createStoredSessionOperations } from '../../app/replay/session-archive.ts';
import type { ProcessIo } from '../../command/process-io.ts';
import type { SubcommandInput } from '../../command/subcommands.ts';
import { UsageError } from '../../command/usage-error.ts';
import { formatCount } from '../../lib/text/format.ts';
import { sanitize } from '../../lib/text/sanitize.ts';
import { truncateEnd } from '../../lib/text/text-width.ts';
import { openStoredSessionUndo, type StoredSessionUndo, type UndoOutcome } from '../../session/undo-stored-session.ts';

const ID_CHARS = 8;

/** Runs `ouro undo`: reverts the file changes of the last prompt, or of the named files, also after `-p`. */
export async function runUndoCommand({ args, flags, io }: SubcommandInput): Promise<number> {
  const { session, words } = await splitOperands(args, flags.session, io);
  const chosen = ['list', 'to', 'redo'].filter((name) => flags[name] !== undefined);
  if (chosen.length > 1) throw new UsageError(`--${chosen.join(' and --')} contradict each other. Choose one.`);
  if (words.length > 0 && (flags.list === true || flags.redo === true))
    throw new UsageError('--list and --redo take no files. Usage: ouro undo [session] [path…]');
  const archive = createStoredSessionOperations(io.environment, io.cwd);
  const match = session === undefined ? await archive.newest() : await archive.find(session);
  const opened = match.ok ? await openStoredSessionUndo(match.session, io.environment) : match;
  if (!opened.ok) {
    io.stderr.write(`${sanitize(opened.problem, 'line')}\n`);
    return 1;
  }
  try {
    if (flags.list === true) return await list(opened.undo, io);
    const paths = await Promise.all(words.map((word) => resolveOperand(word, io.cwd)));
    return flags.redo === true
      ? printOutcome(await opened.undo.redo(), 'the undo', io)
      : printOutcome(await undo(opened.undo, flags.to, paths), 'the change', io);
  } finally {
    await opened.undo.close();
  }
}

/** Session ids as they are printed, whole or abbreviated. */
const SESSION_ID = /^[0-9a-f]{8}(-[0-9a-f-]*)?$/i;

/** Splits the arguments into a session and paths: the first argument may be a session id that is not a file here. */
async function splitOperands(args: readonly string[], flag: unknown, { cwd }: Pick<ProcessIo, 'cwd'>) {
  if (args.includes('')) throw new UsageError('A path is empty. Usage: ouro undo [session] [path…]');
  const [first = '', ...rest] = args;
  if (typeof flag === 'string') return { session: flag, words: args };
  const isSession = SESSION_ID.test(first) && (await lstat(join(cwd, first)).catch(() => undefined)) === undefined;
  return isSession ? { session: first, words: rest } : { session: undefined, words: args };
}

/** Resolves links in a path, but not a link that the path itself names. The file and its folders may not exist. */
async function resolveOperand(word: string, cwd: string): Promise<string> {
  const path = resolve(cwd, word);
  const stats = await stat(path).catch(() => undefined);
  if (stats?.isDirectory() === true) return realpath(path);
  const parent = dirname(path);
  return parent === path ? path : join(await resolveOperand(parent, cwd), basename(path));
}

async function list(desk: StoredSessionUndo, io: ProcessIo): Promise<number> {
  const checkpoints = await desk.list();
  for (const { id, at, files, prompt, notCaptured } of checkpoints.toReversed()) {
    const shortPrompt = truncateEnd(sanitize(prompt, 'line'), 60);
    const missing = notCaptured.length === 0 ? '' : `; not captured: ${sanitize(notCaptured.join(', '), 'line')}`;
    const time = at.slice(0, 16).replace('T', ' ');
    io.stdout.write(`${id.slice(0, ID_CHARS)}  ${time}  ${formatCount(files, 'file')}  ${shortPrompt}${missing}\n`);
  }
  if (checkpoints.length === 0) io.stdout.write('Nothing to undo.\n');
  return 0;
}

async function undo(desk: StoredSessionUndo, to: unknown, paths: readonly string[]): Promise<UndoOutcome> {
  const found = typeof to === 'string' ? (await desk.list()).filter(({ id }) => id.startsWith(to)) : [];
  if (found.length > 1) throw new UsageError(`Several checkpoints begin with ${to}. List them with: ouro undo --list`);
  const id = typeof to === 'string' ? (found[0]?.id ?? to) : undefined;
  return paths.length === 0 ? desk.undo(id) : desk.undoPaths(paths, id);
}

function printOutcome(outcome: UndoOutcome, undone: 'the undo' | 'the change', io: ProcessIo): number {
  if (!outcome.ok) {
    io.stderr.write(`${sanitize(outcome.problem, 'line')}\n`);
    return 1;
  }
  const formatPath = (path: string) => sanitize(relative(io.cwd, path), 'line');
  for (const path of outcome.restored) io.stdout.write(`restored ${formatPath(path)}\n`);
  for (const path of outcome.removed) io.stdout.write(`removed ${formatPath(path)}\n`);
  for (const problem of outcome.problems) io.stderr.write(`${sanitize(problem, 'line')}\n`);
  if (outcome.canRetry) io.stderr.write('Run the same command again to restore the rest.\n');
  const prompt = truncateEnd(sanitize(outcome.prompt, 'line'), 70);
  const isComplete = outcome.problems.length === 0;
  const summary = isComplete ? 'Restored the files from before' : 'Not all files could be restored from before';
  io.stdout.write(prompt === '' ? `${summary} ${undone}.\n` : `${summary}: ${prompt}\n`);
  return isComplete ? 0 : 1;
}
