import { copyFile, open, readdir, readFile, stat } from 'node:fs/promises';
import { basename, join } from 'node:path';
import type { SessionRecord } from '../contracts/session.ts';
import { projectDir } from './paths.ts';
import { readRecords } from './read-records.ts';

/** One stored session, as pickers and lists show it. */
export type SessionSummary = {
  readonly id: string;
  readonly path: string;
  readonly title: string;
  readonly firstPrompt: string;
  readonly cwd: string;
  readonly gitBranch: string | undefined;
  readonly modifiedMs: number;
  readonly bytes: number;
};

/** How much of each end of a file a summary looks at. */
const PEEK_BYTES = 16_384;

/** The sessions of one directory, newest first; of all directories when none is named. */
export async function listSessions(ouroHome: string, realCwd?: string): Promise<readonly SessionSummary[]> {
  const dirs = realCwd === undefined ? await allDirs(ouroHome) : [projectDir(ouroHome, realCwd)];
  const files = (await Promise.all(dirs.map(filesOf))).flat();
  const summaries = await Promise.all(files.map(summarize));
  return summaries.filter((one) => one !== undefined).toSorted((a, b) => b.modifiedMs - a.modifiedMs);
}

/** The session meant by an id, the beginning of one, or a title. */
export async function findSession(
  ouroHome: string,
  realCwd: string,
  wanted: string,
): Promise<{ readonly ok: true; readonly session: SessionSummary } | { readonly ok: false; readonly why: string }> {
  const here = await listSessions(ouroHome, realCwd);
  const pool = matching(here, wanted);
  const found = pool.length > 0 ? pool : matching(await listSessions(ouroHome), wanted);
  const [first, second] = found;
  if (first === undefined)
    return { ok: false, why: `There is no session "${wanted}". "ouro sessions list" shows what there is.` };
  if (second !== undefined && first.id !== wanted) {
    const names = found.slice(0, 5).map(({ id, title }) => `${id} (${title})`);
    return { ok: false, why: `"${wanted}" fits several sessions: ${names.join(', ')}. Use more of the id.` };
  }
  return { ok: true, session: first };
}

function matching(sessions: readonly SessionSummary[], wanted: string): readonly SessionSummary[] {
  const exact = sessions.filter(({ id, title }) => id === wanted || title === wanted);
  if (exact.length > 0) return exact;
  const lower = wanted.toLowerCase();
  return sessions.filter(({ id, title }) => id.startsWith(lower) || title.toLowerCase() === lower);
}

export async function readSession(path: string): Promise<ReturnType<typeof readRecords>> {
  return readRecords(await readFile(path, 'utf8'));
}

/** A copy under a new id; the original stays as it is. */
export async function forkSession(session: SessionSummary, newId: string): Promise<string> {
  const path = join(session.path, '..', `${newId}.jsonl`);
  await copyFile(session.path, path);
  return path;
}

async function allDirs(ouroHome: string): Promise<readonly string[]> {
  const root = join(ouroHome, 'projects');
  return (await namesIn(root)).map((name) => join(root, name));
}

async function filesOf(dir: string): Promise<readonly string[]> {
  return (await namesIn(dir)).filter((name) => name.endsWith('.jsonl')).map((name) => join(dir, name));
}

async function namesIn(dir: string): Promise<readonly string[]> {
  try {
    return await readdir(dir);
  } catch {
    return [];
  }
}

async function summarize(path: string): Promise<SessionSummary | undefined> {
  try {
    const { size, mtimeMs } = await stat(path);
    const { head, tail } = await peek(path, size);
    const records = [...readRecords(head).records, ...readRecords(tail).records];
    const prompt = records.find((record) => record.type === 'user');
    if (prompt === undefined) return undefined;
    const firstPrompt = wordsOf(prompt);
    const title = records.findLast((record) => record.type === 'title');
    return {
      id: basename(path, '.jsonl'),
      path,
      title: title?.type === 'title' ? title.title : firstPrompt.slice(0, 80),
      firstPrompt,
      cwd: prompt.cwd,
      gitBranch: records.at(-1)?.gitBranch,
      modifiedMs: mtimeMs,
      bytes: size,
    };
  } catch {
    return undefined;
  }
}

async function peek(path: string, size: number): Promise<{ readonly head: string; readonly tail: string }> {
  const file = await open(path, 'r');
  try {
    const head = await file.read(Buffer.alloc(PEEK_BYTES), 0, PEEK_BYTES, 0);
    const from = Math.max(PEEK_BYTES, size - PEEK_BYTES);
    const tail = size > PEEK_BYTES ? await file.read(Buffer.alloc(PEEK_BYTES), 0, PEEK_BYTES, from) : undefined;
    return {
      head: head.buffer.subarray(0, head.bytesRead).toString('utf8'),
      tail: tail === undefined ? '' : tail.buffer.subarray(0, tail.bytesRead).toString('utf8'),
    };
  } finally {
    await file.close();
  }
}

function wordsOf(record: SessionRecord): string {
  if (record.type !== 'user') return '';
  return record.message.blocks
    .flatMap((block) => (block.type === 'text' ? [block.text] : []))
    .join(' ')
    .replaceAll(/\s+/g, ' ')
    .trim();
}
