import { stat, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { ignoreMissingFile } from '../lib/errors.ts';
import { acquireLock, type LockResult, readLockHolder } from '../lib/files/file-lock.ts';
import { listFolderNames } from '../lib/files/read-or-default.ts';
import { getProcessState, type ProcessIdentity } from '../lib/processes/process-info.ts';
import {
  createUnsavedFolders,
  deleteEmptyFolders,
  findUnsavedFiles,
  getUnsavedPath,
  listUnsavedFolders,
} from './unsaved-lines.ts';

/** An exclusive lock on a session. Two writers would corrupt it, so a second process works on a copy. */
export type SessionLock = { readonly release: () => Promise<void> };

/** The lock, or a notice that names the process holding it. */
type SessionLockResult =
  | { readonly ok: true; readonly lock: SessionLock }
  | { readonly ok: false; readonly problem: string };

/**
 * Locks a stored session for this process: beside its file or, if that disk takes no lock, beside its unsaved lines.
 * Succeeds without a lock if none can be written.
 */
export async function lockSession(transcriptPath: string, parents?: readonly string[]): Promise<SessionLockResult> {
  const path = getSessionLockPath(transcriptPath);
  const beside = await tryLock(path);
  const lock = beside ?? (await lockUnsaved(path, parents));
  if (lock === undefined) return { ok: true, lock: { release: () => Promise.resolve() } };
  if (!lock.ok) return { ok: false, problem: describeHolder(lock.holder) };
  // Both look for the other's lock after taking their own, so of two processes at least one sees the other.
  const other = await findHolder(beside === undefined ? [path] : listUnsavedLocks(path, parents));
  if (other === undefined) return { ok: true, lock: { release: lock.release } };
  await lock.release();
  return { ok: false, problem: describeHolder(other) };
}

/** Finds the process that has a session open. */
export function findSessionLockHolder(transcriptPath: string): Promise<ProcessIdentity | undefined> {
  const path = getSessionLockPath(transcriptPath);
  return findHolder([path, ...listUnsavedLocks(path)]);
}

/** Returns the lock or its holder; `undefined` if no lock can be written there. */
const tryLock = (path: string): Promise<LockResult | undefined> => acquireLock(path).catch(() => undefined);

async function lockUnsaved(path: string, parents: readonly string[] | undefined): Promise<LockResult | undefined> {
  for (const folder of createUnsavedFolders(path, parents)) {
    const lock = await tryLock(getUnsavedPath(folder, path));
    if (lock?.ok === false) return lock;
    if (lock !== undefined)
      return {
        ok: true,
        async release() {
          await lock.release();
          deleteEmptyFolders(path, folder);
        },
      };
  }
  return undefined;
}

const listUnsavedLocks = (path: string, parents?: readonly string[]) =>
  findUnsavedFiles(path, listUnsavedFolders(parents));

async function findHolder(lockPaths: readonly string[]): Promise<ProcessIdentity | undefined> {
  for (const path of lockPaths) {
    const holder = await readLockHolder(path);
    if (holder !== undefined) return holder;
  }
  return undefined;
}

/** Deletes the locks of a session that killed processes left. */
export async function deleteSessionLocks(transcriptPath: string): Promise<void> {
  const path = getSessionLockPath(transcriptPath);
  for (const lock of [path, ...listUnsavedLocks(path)])
    if ((await readLockHolder(lock)) === undefined) await ignoreMissingFile(unlink(lock));
}

/** The draft of a lock, named by random digits; it exists for a moment. */
const LOCK_DRAFT = /\.lock\.[0-9a-f]{12}$/;
const DRAFT_AGE_MS = 60_000;

/** Deletes the locks and their drafts that killed processes left in a folder, unless they belong to a session file. */
export async function deleteDeadLocks(folder: string, nowMs = Date.now()): Promise<void> {
  const names = listFolderNames(folder);
  for (const name of names) {
    const path = join(folder, name);
    const isOrphan = name.endsWith('.lock') && !names.includes(name.replace(/lock$/, 'jsonl'));
    if (!isOrphan && !LOCK_DRAFT.test(name)) continue;
    const stats = await stat(path).catch(() => undefined);
    const isOld = stats !== undefined && nowMs - stats.mtimeMs > DRAFT_AGE_MS;
    if (isOld && (await readLockHolder(path)) === undefined) await unlink(path).catch(() => undefined);
  }
}

/** Returns the path of a session's lock file. */
export function getSessionLockPath(transcriptPath: string): string {
  return transcriptPath.replace(/\.jsonl$/, '.lock');
}

function describeHolder(holder: ProcessIdentity): string {
  const elsewhere = getProcessState(holder) === 'elsewhere' ? ' in another container or on another machine' : '';
  return `This session is open in another ouro process (PID ${holder.pid}${elsewhere}). You continue in a copy of it.`;
}
