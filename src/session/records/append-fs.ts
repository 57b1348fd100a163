import { close, constants, fdatasync, fstatSync, open, readSync, write, writeSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { dirname } from 'node:path';
import { promisify } from 'node:util';
import { errnoOf } from '../../lib/files/errno.ts';

/** The little of a file system that appending needs; tests put a failing one here. */
export type AppendFs = {
  readonly open: (path: string) => Promise<AppendHandle>;
};

export type AppendHandle = {
  readonly write: (text: string) => Promise<void>;
  readonly sync: () => Promise<void>;
  readonly close: () => Promise<void>;
  /** The last byte is a newline, or there is none. */
  readonly endsClean: boolean;
};

const opened = promisify(open);
const written = promisify(write);

/**
 * The real disk: private folders and files, never through a link that somebody planted. The file is held by its number,
 * because a handle that is forgotten ends the program when it is collected.
 */
export const diskAppendFs: AppendFs = {
  async open(path) {
    await mkdir(dirname(path), { recursive: true, mode: 0o700 });
    const file = await openPrivate(path);
    return {
      endsClean: endsClean(file),
      write: (text) => writeAll(file, Buffer.from(text)),
      sync: () => promisify(fdatasync)(file),
      close: () => promisify(close)(file),
    };
  },
};

/** So much goes to the memory of the system in less time than another thread would take to begin. */
const AT_ONCE_BYTES = 64 * 1024;

async function writeAll(file: number, bytes: Buffer): Promise<void> {
  for (let at = 0; at < bytes.length; ) {
    if (bytes.length <= AT_ONCE_BYTES) at += writeSync(file, bytes, at);
    else at += (await written(file, bytes, at)).bytesWritten;
  }
}

const APPENDING = constants.O_RDWR | constants.O_APPEND | constants.O_NOFOLLOW;

/** What is there is appended to; what is not is made by us and nobody else. */
async function openPrivate(path: string): Promise<number> {
  try {
    return await opened(path, APPENDING, 0o600);
  } catch (thrown) {
    if (errnoOf(thrown) !== 'ENOENT') throw thrown;
    return opened(path, APPENDING | constants.O_CREAT | constants.O_EXCL, 0o600);
  }
}

function endsClean(file: number): boolean {
  const { size } = fstatSync(file);
  if (size === 0) return true;
  const last = Buffer.alloc(1);
  readSync(file, last, 0, 1, size - 1);
  return last[0] === 0x0a;
}
