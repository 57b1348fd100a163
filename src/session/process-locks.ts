import { createHash, randomBytes } from 'node:crypto';
import { readdir, rmdir, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { acquireLock, type LockResult, readLockHolder } from '../lib/files/file-lock.ts';
import { getProcessState, type ProcessIdentity } from '../lib/processes/process-info.ts';

/** An exclusive lock on a session. Two writers would corrupt it, so a second process works on a copy. */
export type SessionLock = { readonly release: () => Promise<void> };

/** The lock, or a notice that names the process holding it. */
type SessionLockResult =
  | { readonly ok: true; readonly lock: SessionLock }
  | { readonly ok: false; readonly notice: string };

/** Locks a stored session for this process. Succeeds without a lock if none can be written, as on a read-only disk. */
export async function lockSession(transcriptPath: string): Promise<SessionLockResult> {
  const attempt = await acquireLock(getSessionLockPath(transcriptPath)).catch(
    (): LockResult => ({ ok: true, release: () => Promise.resolve() }),
  );
  if (attempt.ok) return { ok: true, lock: { release: attempt.release } };
  return { ok: false, notice: describeHolder(attempt.holder) };
}

export function findSessionLockHolder(transcriptPath: string): Promise<ProcessIdentity | undefined> {
  return readLockHolder(getSessionLockPath(transcriptPath));
}

/** Returns the path of a session's lock file. */
export function getSessionLockPath(transcriptPath: string): string {
  return transcriptPath.replace(/\.jsonl$/, '.lock');
}

function describeHolder(holder: ProcessIdentity): string {
  const elsewhere = getProcessState(holder) === 'elsewhere' ? ' in another container or on another machine' : '';
  return `This session is open in another ouro process (PID ${holder.pid}${elsewhere}). You continue in a copy of it.`;
}

/** Announces this process in a folder, before it has a session. Continues silently if that cannot be written. */
export async function announcePresence(ouroHome: string, realDir: string) {
  const lockFolder = join(ouroHome, 'present', createHash('sha256').update(realDir).digest('hex').slice(0, 16));
  const ownName = `${process.pid}-${randomBytes(4).toString('hex')}.lock`;
  const lock = await acquireLock(join(lockFolder, ownName)).catch(() => undefined);
  return {
    /** Returns the PIDs of the other processes in the folder. */
    async listOthers(): Promise<readonly number[]> {
      const names = await readdir(lockFolder).catch(() => []);
      const otherNames = names.filter((name) => name.endsWith('.lock') && name !== ownName);
      const pids = await Promise.all(
        otherNames.map(async (name) => {
          const holder = await readLockHolder(join(lockFolder, name));
          // A killed process leaves only its lock file.
          if (holder === undefined) await unlink(join(lockFolder, name)).catch(() => undefined);
          return holder?.pid ?? [];
        }),
      );
      return pids.flat();
    },
    async leave() {
      if (lock?.ok === true) await lock.release();
      // Fails while the folder still holds the locks of other processes.
      await rmdir(lockFolder).catch(() => undefined);
    },
  };
}
