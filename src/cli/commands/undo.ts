import { relative } from 'node:path';
import { openArchive } from '../../app/replay/session-archive.ts';
import { openUndo, type UndoDesk, type Undone } from '../../app/session/undo-changes.ts';
import { formatCount } from '../../lib/text/format.ts';
import { sanitize } from '../../lib/text/sanitize.ts';
import { truncateEnd } from '../../lib/text/truncate.ts';
import type { CommandRequest } from '../args/subcommands.ts';
import type { Io } from '../io.ts';

const ID_CHARS = 8;

/** `ouro undo`: takes back what the last prompt changed in files, also after `-p`. */
export async function run({ flags, io }: CommandRequest): Promise<number> {
  const archive = openArchive(io.environment, io.cwd);
  const wanted = typeof flags.session === 'string' ? flags.session : undefined;
  const found = wanted === undefined ? await archive.newest() : await archive.find(wanted);
  const opened = found.ok ? await openUndo(found.session, io.environment) : found;
  if (!opened.ok) {
    io.stderr.write(`${sanitize(opened.why, 'line')}\n`);
    return 1;
  }
  try {
    if (flags.list === true) return await list(opened.desk, io);
    return report(flags.redo === true ? await opened.desk.redo() : await undo(opened.desk, flags.to), io);
  } finally {
    await opened.desk.close();
  }
}

async function list(desk: UndoDesk, io: Io): Promise<number> {
  const points = await desk.list();
  for (const { id, at, files, prompt, notCaptured } of points.toReversed()) {
    const words = truncateEnd(sanitize(prompt, 'line'), 60);
    const lost = notCaptured.length === 0 ? '' : `; not kept: ${sanitize(notCaptured.join(', '), 'line')}`;
    io.stdout.write(
      `${id.slice(0, ID_CHARS)}  ${at.slice(0, 16).replace('T', ' ')}  ${formatCount(files, 'file')}  ${words}${lost}\n`,
    );
  }
  if (points.length === 0) io.stdout.write('Nothing to go back to.\n');
  return 0;
}

async function undo(desk: UndoDesk, to: unknown): Promise<Undone> {
  if (typeof to !== 'string') return desk.undo(undefined);
  const id = (await desk.list()).find((one) => one.id.startsWith(to))?.id;
  return desk.undo(id ?? to);
}

function report(done: Undone, io: Io): number {
  if (!done.ok) {
    io.stderr.write(`${done.why}\n`);
    return 1;
  }
  const name = (path: string) => sanitize(relative(io.cwd, path), 'line');
  for (const path of done.restored) io.stdout.write(`restored ${name(path)}\n`);
  for (const path of done.removed) io.stdout.write(`removed ${name(path)}\n`);
  for (const problem of done.problems) io.stderr.write(`${sanitize(problem, 'line')}\n`);
  const prompt = truncateEnd(sanitize(done.prompt, 'line'), 70);
  const files = done.problems.length === 0 ? 'Files are as before' : 'Not all files are as before';
  io.stdout.write(prompt === '' ? `${files} the undo.\n` : `${files}: ${prompt}\n`);
  return done.problems.length === 0 ? 0 : 1;
}
