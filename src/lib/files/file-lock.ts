import { randomBytes } from 'node:crypto';
import { link, mkdir, readFile, stat, unlink, utimes, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { markOf, type ProcessMark, processState } from '../processes/process-mark.ts';
import { errnoOf } from './errno.ts';

export type LockTry =
  | { readonly ok: true; readonly release: () => Promise<void> }
  | { readonly ok: false; readonly holder: ProcessMark };

/** What a lock needs of the disk; tests hand in one that cannot link. */
export type LockFs = { readonly link: (from: string, to: string) => Promise<void> };

const TRIES = 100;
const PAUSE_MS = 5;
/** Whoever holds a lock for long shows that it lives; in another container nobody could find out otherwise. */
const BEAT_MS = 10_000;
const SILENT_MS = 60_000;

/** Takes a lock file, or says who has it. A lock whose process is gone counts for nothing. */
export async function takeLock(path: string, fs: LockFs = { link }): Promise<LockTry> {
  const text = JSON.stringify(markOf());
  const draft = `${path}.${randomBytes(6).toString('hex')}`;
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  await writeFile(draft, text, { flag: 'wx', mode: 0o600 });
  try {
    // By the clock of the disk, which may be another one than ours.
    const nowMs = (await stat(draft)).mtimeMs;
    for (let tries = 0; tries < TRIES; tries += 1) {
      if (await placed(draft, path, text, fs)) return { ok: true, release: held(path, text) };
      const found = await holderIn(path);
      if (found === undefined) continue;
      if (isHeld(found, nowMs)) return { ok: false, holder: found.holder };
      if (found.text !== '' || nowMs - found.seenMs > WRITING_MS) await removeDead(path, found.text, fs);
      await new Promise((resolve) => setTimeout(resolve, PAUSE_MS * Math.min(1, tries)));
    }
  } finally {
    await unlink(draft);
  }
  throw new Error(`The lock ${path} could not be taken: others keep taking it.`);
}

/** Keeps a lock fresh until it is let go. */
function held(path: string, text: string): () => Promise<void> {
  const beat = setInterval(() => {
    const now = new Date();
    utimes(path, now, now).catch(() => undefined);
  }, BEAT_MS);
  beat.unref();
  return async () => {
    clearInterval(beat);
    const now = await readFile(path, 'utf8').catch(() => undefined);
    if (now === text) await unlink(path).catch(() => undefined);
  };
}

const PATIENCE_MS = 10_000;
const BETWEEN_TRIES_MS = 10;

/**
 * Does work on a file while no other process that asks here does. Where no lock can be written at all, the work is done
 * without one; whoever keeps a lock for too long is named in what is thrown.
 */
export async function lockedFile<Answer>(
  file: string,
  work: () => Promise<Answer>,
  patienceMs = PATIENCE_MS,
): Promise<Answer> {
  const end = performance.now() + patienceMs;
  let taken = await tryLock(file);
  while (!taken.ok) {
    if (performance.now() > end) throw new Error(`${file} is being written by another process (${taken.holder.pid}).`);
    await new Promise((resolve) => setTimeout(resolve, BETWEEN_TRIES_MS));
    taken = await tryLock(file);
  }
  try {
    return await work();
  } finally {
    await taken.release();
  }
}

async function tryLock(file: string): Promise<LockTry> {
  try {
    return await takeLock(`${file}.lock`);
  } catch (thrown) {
    // Without an error of the system it was only taken by others again and again.
    if (errnoOf(thrown) === undefined) return { ok: false, holder: { pid: 0, startTime: '' } };
    return { ok: true, release: () => Promise.resolve() };
  }
}

/** Who holds the lock and lives. */
export async function lockHolder(path: string): Promise<ProcessMark | undefined> {
  const found = await holderIn(path);
  return found !== undefined && isHeld(found, Date.now()) ? found.holder : undefined;
}

/** A lock that is not linked into its place is empty for a moment. */
const WRITING_MS = 1_000;
const NO_LINKS = ['EPERM', 'EACCES', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EINVAL', 'EMLINK', 'EXDEV'];

/** A link appears with its content or not at all: nobody can read half a lock. Not every disk has links. */
async function placed(draft: string, path: string, text: string, fs: LockFs): Promise<boolean> {
  try {
    await fs.link(draft, path).catch(async (thrown: unknown) => {
      if (!NO_LINKS.includes(errnoOf(thrown) ?? '')) throw thrown;
      await writeFile(path, text, { flag: 'wx', mode: 0o600 });
    });
    return true;
  } catch (thrown) {
    if (errnoOf(thrown) === 'EEXIST') return false;
    throw thrown;
  }
}

type Found = { readonly text: string; readonly holder: ProcessMark; readonly seenMs: number };

async function holderIn(path: string): Promise<Found | undefined> {
  try {
    const [text, { mtimeMs }] = [await readFile(path, 'utf8'), await stat(path)];
    return { text, holder: parseHolder(text), seenMs: mtimeMs };
  } catch {
    return undefined;
  }
}

function isHeld({ holder, seenMs }: Found, nowMs: number): boolean {
  const state = processState(holder);
  return state === 'alive' || (state === 'elsewhere' && Math.abs(nowMs - seenMs) < SILENT_MS);
}

function parseHolder(text: string): ProcessMark {
  try {
    const value = JSON.parse(text);
    if (typeof value?.pid === 'number' && typeof value?.startTime === 'string') return value;
  } catch {
    // Whatever it is, it was not written by us.
  }
  return { pid: 0, startTime: '' };
}

/** Only who holds the lock on removing may remove: a lock taken meanwhile is never mistaken for the dead one. */
async function removeDead(path: string, dead: string, fs: LockFs): Promise<void> {
  const turn = await takeLock(`${path}.next`, fs);
  if (!turn.ok) return;
  const now = await holderIn(path);
  if (now?.text === dead) await unlink(path);
  await turn.release();
}
