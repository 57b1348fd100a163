import { randomBytes } from 'node:crypto';
import { link, mkdir, readFile, unlink, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { startTimeOf } from '../processes/process-facts.ts';
import { errnoOf } from './errno.ts';

/** Who holds a lock: a process by its number and the moment it started. */
export type LockHolder = { readonly pid: number; readonly startTime: string };

export type LockTry =
  | { readonly ok: true; readonly release: () => Promise<void> }
  | { readonly ok: false; readonly holder: LockHolder };

const TRIES = 100;
const PAUSE_MS = 5;

/** Takes a lock file, or says who has it. A lock whose process is gone counts for nothing. */
export async function takeLock(path: string, pid: number = process.pid): Promise<LockTry> {
  const own: LockHolder = { pid, startTime: startTimeOf(pid) ?? '' };
  const text = JSON.stringify(own);
  const draft = `${path}.${randomBytes(6).toString('hex')}`;
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  await writeFile(draft, text, { flag: 'wx', mode: 0o600 });
  try {
    for (let tries = 0; tries < TRIES; tries += 1) {
      // A link appears with its content or not at all: nobody can read half a lock.
      if (await linked(draft, path)) return { ok: true, release: () => release(path, text) };
      const found = await holderIn(path);
      if (found === undefined) continue;
      if (isAlive(found.holder)) return { ok: false, holder: found.holder };
      await removeDead(path, found.text);
      await new Promise((resolve) => setTimeout(resolve, PAUSE_MS * Math.min(1, tries)));
    }
  } finally {
    await unlink(draft);
  }
  throw new Error(`The lock ${path} could not be taken: others keep taking it.`);
}

const PATIENCE_MS = 10_000;
const BETWEEN_TRIES_MS = 10;

/**
 * Does work on a file while no other process that asks here does. Where no lock can be written at all, the work is done
 * without one; whoever keeps a lock for too long is named in what is thrown.
 */
export async function lockedFile<Answer>(file: string, work: () => Promise<Answer>): Promise<Answer> {
  const end = Date.now() + PATIENCE_MS;
  let taken = await tryLock(file);
  while (!taken.ok) {
    if (Date.now() > end) throw new Error(`${file} is being written by another process (${taken.holder.pid}).`);
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
export async function lockHolder(path: string): Promise<LockHolder | undefined> {
  const found = await holderIn(path);
  return found !== undefined && isAlive(found.holder) ? found.holder : undefined;
}

async function linked(from: string, to: string): Promise<boolean> {
  try {
    await link(from, to);
    return true;
  } catch (thrown) {
    if (errnoOf(thrown) === 'EEXIST') return false;
    throw thrown;
  }
}

async function holderIn(path: string): Promise<{ readonly text: string; readonly holder: LockHolder } | undefined> {
  const text = await readFile(path, 'utf8').catch(() => undefined);
  return text === undefined ? undefined : { text, holder: parseHolder(text) };
}

function parseHolder(text: string): LockHolder {
  try {
    const value = JSON.parse(text);
    if (typeof value?.pid === 'number' && typeof value?.startTime === 'string') return value;
  } catch {
    // Whatever it is, it was not written by us.
  }
  return { pid: 0, startTime: '' };
}

/** Does the process still run? Where its start is not known, the number has to do. */
export function isAlive({ pid, startTime }: LockHolder): boolean {
  if (pid <= 0) return false;
  if (startTime !== '') return startTimeOf(pid) === startTime;
  try {
    process.kill(pid, 0);
    return true;
  } catch (thrown) {
    return errnoOf(thrown) === 'EPERM';
  }
}

/** Only who holds the lock on removing may remove: a lock taken meanwhile is never mistaken for the dead one. */
async function removeDead(path: string, dead: string): Promise<void> {
  const turn = await takeLock(`${path}.next`);
  if (!turn.ok) return;
  const now = await holderIn(path);
  if (now?.text === dead) await unlink(path);
  await turn.release();
}

async function release(path: string, own: string): Promise<void> {
  const now = await readFile(path, 'utf8').catch(() => undefined);
  if (now === own) await unlink(path).catch(() => undefined);
}
