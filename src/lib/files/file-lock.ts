import { randomBytes } from 'node:crypto';
import { link, mkdir, readFile, rm, stat, unlink, utimes, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { getErrnoCode } from '../errors.ts';
import { getProcessIdentity, getProcessState, type ProcessIdentity } from '../processes/process-info.ts';

/** The result of taking a lock: a function that releases it, or the process that holds it. */
export type LockResult =
  | { readonly ok: true; readonly release: () => Promise<void> }
  | { readonly ok: false; readonly holder: ProcessIdentity };

/** The file system calls of a lock; tests pass one without hard links. */
export type LockFs = { readonly link: (from: string, to: string) => Promise<void> };

const MAX_TRIES = 100;
const PAUSE_MS = 5;
/** The holder touches the lock file: a process in another container cannot check its pid. */
const HEARTBEAT_MS = 10_000;
const EXPIRED_AFTER_MS = 60_000;

/** Takes a lock file, or returns its holder. The lock of a process that no longer runs is ignored. */
export async function acquireLock(path: string, fs: LockFs = { link }): Promise<LockResult> {
  const text = JSON.stringify(getProcessIdentity());
  const draft = `${path}.${randomBytes(6).toString('hex')}`;
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  try {
    await writeFile(draft, text, { flag: 'wx', mode: 0o600 });
    // Uses the clock of the file system, which may differ from the local clock.
    const nowMs = (await stat(draft)).mtimeMs;
    for (let tries = 0; tries < MAX_TRIES; tries += 1) {
      if (await placeLock(draft, path, text, fs)) return { ok: true, release: keepFresh(path, text) };
      const existing = await readLock(path);
      if (existing === undefined) continue;
      if (isHeld(existing, nowMs)) return { ok: false, holder: existing.holder };
      if (existing.text !== '' || nowMs - existing.touchedMs > WRITING_MS) await removeStale(path, existing.text, fs);
      await new Promise((resolve) => setTimeout(resolve, PAUSE_MS * Math.min(1, tries)));
    }
  } finally {
    // On a full disk the draft may be there without its text, or not at all.
    await rm(draft, { force: true });
  }
  throw new Error(`The lock ${path} could not be taken: other processes keep taking it.`);
}

/** Touches the lock file until it is released. */
function keepFresh(path: string, text: string): () => Promise<void> {
  const heartbeat = setInterval(() => {
    const now = new Date();
    utimes(path, now, now).catch(() => undefined);
  }, HEARTBEAT_MS);
  heartbeat.unref();
  return async () => {
    clearInterval(heartbeat);
    const current = await readFile(path, 'utf8').catch(() => undefined);
    if (current === text) await unlink(path).catch(() => undefined);
  };
}

const TIMEOUT_MS = 10_000;
const RETRY_PAUSE_MS = 10;

/**
 * Runs `work` while holding the lock of a file. Where no lock file can be written, it runs without a lock. Rejects with
 * the pid of the holder if the lock is not released in time.
 */
export async function runWithFileLock<Result>(
  file: string,
  work: () => Promise<Result>,
  timeoutMs = TIMEOUT_MS,
): Promise<Result> {
  const end = performance.now() + timeoutMs;
  let lock = await tryLock(file);
  while (!lock.ok) {
    if (performance.now() > end) throw new Error(`${file} is locked by another process (pid ${lock.holder.pid}).`);
    await new Promise((resolve) => setTimeout(resolve, RETRY_PAUSE_MS));
    lock = await tryLock(file);
  }
  try {
    return await work();
  } finally {
    await lock.release();
  }
}

async function tryLock(file: string): Promise<LockResult> {
  try {
    return await acquireLock(`${file}.lock`);
  } catch (thrown) {
    // Without a system error code, other processes kept taking the lock.
    if (getErrnoCode(thrown) === undefined) return { ok: false, holder: { pid: 0, startTime: '' } };
    return { ok: true, release: () => Promise.resolve() };
  }
}

/** Returns the running process that holds a lock. */
export async function readLockHolder(path: string): Promise<ProcessIdentity | undefined> {
  const lock = await readLock(path);
  return lock !== undefined && isHeld(lock, Date.now()) ? lock.holder : undefined;
}

/** A lock that is written instead of linked is empty for a moment. */
const WRITING_MS = 1_000;
const LINK_UNSUPPORTED = ['EPERM', 'EACCES', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EINVAL', 'EMLINK', 'EXDEV'];

/** Creates the lock by a hard link, which appears with its full content, or by a write if links are unsupported. */
async function placeLock(draft: string, path: string, text: string, fs: LockFs): Promise<boolean> {
  try {
    await fs.link(draft, path).catch(async (thrown: unknown) => {
      if (!LINK_UNSUPPORTED.includes(getErrnoCode(thrown) ?? '')) throw thrown;
      await writeFile(path, text, { flag: 'wx', mode: 0o600 });
    });
    return true;
  } catch (thrown) {
    if (getErrnoCode(thrown) === 'EEXIST') return false;
    throw thrown;
  }
}

type LockFile = { readonly text: string; readonly holder: ProcessIdentity; readonly touchedMs: number };

async function readLock(path: string): Promise<LockFile | undefined> {
  try {
    const [text, { mtimeMs }] = [await readFile(path, 'utf8'), await stat(path)];
    return { text, holder: parseHolder(text), touchedMs: mtimeMs };
  } catch {
    return undefined;
  }
}

function isHeld({ holder, touchedMs }: LockFile, nowMs: number): boolean {
  const state = getProcessState(holder);
  return state === 'alive' || (state === 'elsewhere' && Math.abs(nowMs - touchedMs) < EXPIRED_AFTER_MS);
}

function parseHolder(text: string): ProcessIdentity {
  try {
    const value = JSON.parse(text);
    if (typeof value?.pid === 'number' && typeof value?.startTime === 'string') return value;
  } catch {
    // Not written by ouro.
  }
  return { pid: 0, startTime: '' };
}

/** Removes a stale lock under a second lock, so that a lock taken meanwhile is never removed by mistake. */
async function removeStale(path: string, staleText: string, fs: LockFs): Promise<void> {
  const removal = await acquireLock(`${path}.next`, fs);
  if (!removal.ok) return;
  const current = await readLock(path);
  if (current?.text === staleText) await unlink(path);
  await removal.release();
}
