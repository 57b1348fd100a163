import { createHash, randomBytes } from 'node:crypto';
import { readdir, rmdir, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { acquireLock, readLockHolder } from '../lib/files/file-lock.ts';

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
