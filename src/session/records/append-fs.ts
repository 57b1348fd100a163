import { close, constants, fdatasync, fstatSync, open, read, readSync, statSync, write, writeSync } from 'node:fs';
import { mkdir, rename, rm } from 'node:fs/promises';
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
  /**
   * Looks whether the file is still where it was opened. One that was deleted is written anew with all it held, one that
   * another stands in the place of is left to it; either has to be opened again.
   */
  readonly moved?: () => Promise<'no' | 'restored' | 'replaced'>;
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
      moved: () => lookAfter(file, path),
    };
  },
};

async function lookAfter(file: number, path: string): Promise<'no' | 'restored' | 'replaced'> {
  const own = fstatSync(file);
  const there = statSync(path, { throwIfNoEntry: false });
  if (there !== undefined) return there.ino === own.ino && there.dev === own.dev ? 'no' : 'replaced';
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  // Under a name of its own first: half of a conversation must not look like all of it.
  const draft = `${path}.restored`;
  await rm(draft, { force: true });
  const fresh = await opened(draft, APPENDING | constants.O_CREAT | constants.O_EXCL, 0o600);
  try {
    await copyAll(file, own.size, fresh);
    await promisify(fdatasync)(fresh);
  } finally {
    await promisify(close)(fresh);
  }
  await rename(draft, path);
  return 'restored';
}

/** What was deleted can be read for as long as it is open. */
async function copyAll(from: number, size: number, to: number): Promise<void> {
  const buffer = Buffer.alloc(COPY_BYTES);
  for (let at = 0; at < size; ) {
    const { bytesRead } = await promisify(read)(from, buffer, 0, COPY_BYTES, at);
    if (bytesRead === 0) return;
    await writeAll(to, buffer.subarray(0, bytesRead));
    at += bytesRead;
  }
}

const COPY_BYTES = 1024 * 1024;

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
