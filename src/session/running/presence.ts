import { createHash, randomBytes } from 'node:crypto';
import { readdir, rmdir, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { lockHolder, takeLock } from '../../lib/files/file-lock.ts';

/** A process that is in a folder, from its start on: long before it has a session there. */
export type Presence = {
  /** The other processes that are in it now. */
  others(): Promise<readonly number[]>;
  leave(): Promise<void>;
};

/** Says that this process is in a folder. Where that cannot be written, nobody is told, and the work goes on. */
export async function enterFolder(ouroHome: string, realDir: string): Promise<Presence> {
  const marks = join(ouroHome, 'present', createHash('sha256').update(realDir).digest('hex').slice(0, 16));
  const own = `${process.pid}-${randomBytes(4).toString('hex')}.lock`;
  const taken = await takeLock(join(marks, own)).catch(() => undefined);
  return {
    async others() {
      const names = await readdir(marks).catch(() => []);
      const marked = names.filter((name) => name.endsWith('.lock') && name !== own);
      const pids = await Promise.all(
        marked.map(async (name) => {
          const holder = await lockHolder(join(marks, name));
          // Of one that was killed nothing else remains.
          if (holder === undefined) await unlink(join(marks, name)).catch(() => undefined);
          return holder?.pid ?? [];
        }),
      );
      return pids.flat();
    },
    async leave() {
      if (taken?.ok === true) await taken.release();
      // It stays while somebody else is in it.
      await rmdir(marks).catch(() => undefined);
    },
  };
}
