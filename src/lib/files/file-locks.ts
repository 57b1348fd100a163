import { createHash } from 'node:crypto';
import { lstatSync, mkdirSync } from 'node:fs';
import { readdir, rmdir, stat, unlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { getErrnoCode } from '../errors.ts';
import type { ProcessIdentity } from '../processes/process-info.ts';
import { acquireLock, type LockResult } from './file-lock.ts';
import { resolveRealTarget } from './real-path.ts';

/** A file stays locked by another process. Nothing was changed. */
export class FileStaysLocked extends Error {
  override readonly name = 'FileStaysLocked';
}

/** Returns the folder of the locks on the user's files, which are never beside the files themselves. */
const getFileLocksDir = (ouroHome: string) => join(ouroHome, 'locks');

const WAIT_MS = 30_000;
const MIN_PAUSE_MS = 5;
const MAX_PAUSE_MS = 50;

/**
 * The locks on files that ouro compares and replaces. A file is locked by its real path, and one with several hard links
 * by its inode, too. Where no lock can be written, nothing is locked. Throws `FileStaysLocked` when another process
 * does not finish in time.
 */
export type FileLocks = {
  /** Runs work while no other ouro process of the user changes the files. */
  run<Result>(files: readonly string[], work: () => Promise<Result>, signal?: AbortSignal): Promise<Result>;
  /** Locks files until they are released. Meanwhile `run` of the same locks does not wait for them. */
  hold(files: readonly string[], signal?: AbortSignal): Promise<() => Promise<void>>;
};

/** Creates locks in the home folder of ouro, which the sessions of a user share, or else in a temporary folder. */
export function createFileLocks(ouroHome: string, { waitMs = WAIT_MS, temporary = tmpdir() } = {}): FileLocks {
  const folders = [getFileLocksDir(ouroHome), join(temporary, `ouro-locks-${process.getuid?.() ?? 'user'}`)] as const;
  const held = new Set<string>();

  async function lock(files: readonly string[], signal: AbortSignal | undefined): Promise<FileLock> {
    while (true) {
      const names = (await listLockNames(files)).filter((name) => !held.has(name));
      const release = await lockAll(names, { folders, files, signal, waitMs });
      const current = (await listLockNames(files)).filter((name) => !held.has(name));
      if (String(current) === String(names)) return { names, release };
      // A file that was moved, linked or replaced by a link meanwhile has other locks.
      await release();
    }
  }

  return {
    async run(files, work, signal) {
      const { release } = await lock(files, signal);
      try {
        return await work();
      } finally {
        await release();
      }
    },
    async hold(files, signal) {
      const { names, release } = await lock(files, signal);
      for (const name of names) held.add(name);
      return async () => {
        for (const name of names) held.delete(name);
        await release();
      };
    },
  };
}

type FileLock = { readonly names: readonly string[]; readonly release: () => Promise<void> };

/** Returns the names of all locks in the order in which every process takes them. */
async function listLockNames(files: readonly string[]): Promise<readonly string[]> {
  const names = files.map(async (file) => {
    // The work reports why a path cannot be followed.
    const target = await resolveRealTarget(file).catch(() => resolve(file));
    const found = await stat(target).catch(() => undefined);
    return found?.isFile() === true && found.nlink > 1
      ? [createName(target), createName(`${found.dev}:${found.ino}`)]
      : [createName(target)];
  });
  return [...new Set((await Promise.all(names)).flat())].sort();
}

const createName = (text: string) => `${createHash('sha256').update(text).digest('hex').slice(0, 32)}.lock`;

/** The folder of the locks, and the one that is used where no lock can be written in the first. */
type LockFolders = readonly [string, string];

type LockRequest = {
  readonly folders: LockFolders;
  readonly files: readonly string[];
  readonly signal: AbortSignal | undefined;
  readonly waitMs: number;
};

/** Takes all locks or none; returns the function that releases them. */
async function lockAll(names: readonly string[], request: LockRequest): Promise<() => Promise<void>> {
  const releases: (() => Promise<void>)[] = [];
  const releaseAll = async () => {
    for (const release of releases) await release();
  };
  try {
    for (const name of names) releases.push(await waitForLock(name, request));
    return releaseAll;
  } catch (thrown) {
    await releaseAll();
    throw thrown;
  }
}

async function waitForLock(
  name: string,
  { folders, files, signal, waitMs }: LockRequest,
): Promise<() => Promise<void>> {
  const endsAt = performance.now() + waitMs;
  for (let pauseMs = MIN_PAUSE_MS; ; pauseMs = Math.min(MAX_PAUSE_MS, pauseMs * 2)) {
    signal?.throwIfAborted();
    const lock = await tryLock(name, folders);
    if (lock.ok) return lock.release;
    if (performance.now() > endsAt) throw new FileStaysLocked(describeHolder(files, lock.holder, waitMs));
    // Different pauses, so that processes that wait do not always meet.
    await new Promise((resolve) => setTimeout(resolve, pauseMs * (0.5 + Math.random())));
  }
}

function describeHolder(files: readonly string[], { pid }: ProcessIdentity, waitMs: number): string {
  const name = files.length === 1 ? files[0] : `One of ${files.join(', ')}`;
  const holder = pid > 0 ? `another ouro process (PID ${pid})` : 'other ouro processes';
  return `${name} is still being changed by ${holder} after ${waitMs / 1_000} s. Continue that process if it is suspended, or end it, then try again.`;
}

/** Tries to take a lock. Where no lock can be written, none is needed to go on. */
async function tryLock(name: string, [folder, temporary]: LockFolders): Promise<LockResult> {
  const lock = await acquireIn(folder, name);
  if (lock !== undefined) return lock;
  const second = openPrivateFolder(temporary) ? await acquireIn(temporary, name, GONE) : undefined;
  if (second === undefined) return { ok: true, release: () => Promise.resolve() };
  if (!second.ok) return second;
  const release = async () => {
    await second.release();
    // Fails while it has locks of others.
    await rmdir(temporary).catch(() => undefined);
  };
  return { ok: true, release };
}

/** Error of a folder that another process deletes as it has no more locks. */
const GONE = 'ENOENT';

/** Tries to take a lock; `undefined` if no lock can be written in the folder. An error with the code `busy` does not count. */
async function acquireIn(folder: string, name: string, busy?: typeof GONE): Promise<LockResult | undefined> {
  try {
    return await acquireLock(join(folder, name));
  } catch (thrown) {
    const code = getErrnoCode(thrown);
    // Without a code, other processes kept taking the lock.
    return code === undefined || code === busy ? { ok: false, holder: { pid: 0, startTime: '' } } : undefined;
  }
}

/** Creates a folder unless it exists; returns `false` if other users have access to it. */
function openPrivateFolder(folder: string): boolean {
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    const stats = lstatSync(folder);
    return stats.isDirectory() && stats.uid === (process.getuid?.() ?? stats.uid) && (stats.mode & 0o077) === 0;
  } catch {
    return false;
  }
}

/** A killed process leaves its lock; the next one that needs this lock takes it over. */
const STALE_AGE_MS = 86_400_000;

/** Deletes old locks that no process holds. */
export async function deleteStaleFileLocks(ouroHome: string, nowMs: number): Promise<void> {
  const folder = getFileLocksDir(ouroHome);
  for (const name of await readdir(folder).catch(() => [])) {
    const path = join(folder, name);
    const stats = await stat(path).catch(() => undefined);
    if (stats === undefined || nowMs - stats.mtimeMs < STALE_AGE_MS) continue;
    if (name.endsWith('.lock')) {
      // Taken over first, as another process may do the same at this moment.
      const lock = await acquireLock(path).catch(() => undefined);
      if (lock?.ok === true) await lock.release();
    } else await unlink(path).catch(() => undefined);
  }
}
