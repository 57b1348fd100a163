import {
  close,
  constants,
  fdatasync,
  fstatSync,
  ftruncate,
  open,
  read,
  readSync,
  type Stats,
  statSync,
  write,
  writeSync,
} from 'node:fs';
import { mkdir, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { promisify } from 'node:util';
import { getErrnoCode } from '../errors.ts';

/** The part of a file system needed for appending; tests inject a failing one. */
export type AppendFs = {
  readonly open: (path: string) => Promise<AppendHandle>;
};

/** A file opened for appending. */
export type AppendHandle = {
  readonly write: (text: string) => Promise<void>;
  readonly sync: () => Promise<void>;
  readonly close: () => Promise<void>;
  /** True when the file is empty or its last byte is a newline. */
  readonly endsWithNewline: boolean;
  /**
   * Checks that the path still names this file. A deleted file is written again with its full content; a path that now
   * names another file is left alone. Unless the answer is `no`, the file has to be opened again.
   */
  readonly checkLocation?: () => Promise<'no' | 'restored' | 'replaced'>;
};

const openFile = promisify(open);
const writeBytes = promisify(write);

/**
 * The real disk: creates private folders and files and never follows symbolic links. Uses raw descriptors, because an
 * unclosed FileHandle crashes the process when it is garbage-collected.
 */
export const diskAppendFs: AppendFs = {
  async open(path) {
    await mkdir(dirname(path), { recursive: true, mode: 0o700 });
    const file = await openPrivate(path);
    const opened = fstatSync(file);
    return {
      endsWithNewline: endsWithNewline(file),
      write: (text) => writeWhole(file, opened, path, Buffer.from(text)),
      sync: () => promisify(fdatasync)(file),
      close: () => promisify(close)(file),
      checkLocation: () => checkLocation(file, opened, path),
    };
  },
};

async function checkLocation(file: number, opened: Stats, path: string): Promise<'no' | 'restored' | 'replaced'> {
  const current = statSync(path, { throwIfNoEntry: false });
  if (current !== undefined) return isSameFile(current, opened) ? 'no' : 'replaced';
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  // Written under a temporary name first: half a conversation must not look like the whole one.
  const temporaryPath = `${path}.restored`;
  await rm(temporaryPath, { force: true });
  const target = await openFile(temporaryPath, APPENDING | constants.O_CREAT | constants.O_EXCL, 0o600);
  try {
    await copyAll(file, fstatSync(file).size, target);
    await promisify(fdatasync)(target);
  } catch (thrown) {
    await rm(temporaryPath, { force: true });
    throw thrown;
  } finally {
    await promisify(close)(target);
  }
  await rename(temporaryPath, path);
  return 'restored';
}

const isSameFile = (one: Stats, other: Stats) => one.ino === other.ino && one.dev === other.dev;

/** Copies a file by its descriptor: a deleted file stays readable while it is open. */
async function copyAll(from: number, size: number, to: number): Promise<void> {
  const buffer = Buffer.alloc(COPY_BYTES);
  for (let offset = 0; offset < size; ) {
    const { bytesRead } = await promisify(read)(from, buffer, 0, COPY_BYTES, offset);
    if (bytesRead === 0) return;
    await writeAll(to, buffer.subarray(0, bytesRead));
    offset += bytesRead;
  }
}

const COPY_BYTES = 1024 * 1024;

/**
 * Writes all bytes or none. Half a batch would count as damage when its lines are written again, and an empty file would
 * look like a session.
 */
async function writeWhole(file: number, opened: Stats, path: string, bytes: Buffer): Promise<void> {
  const { size } = fstatSync(file);
  const progress = { written: 0 };
  try {
    await writeAll(file, bytes, progress);
  } catch (thrown) {
    // Another process may have added a title since.
    if (fstatSync(file).size === size + progress.written) await promisify(ftruncate)(file, size).catch(() => undefined);
    const current = statSync(path, { throwIfNoEntry: false });
    if (current?.size === 0 && isSameFile(current, opened)) await rm(path, { force: true }).catch(() => undefined);
    throw thrown;
  }
}

/** Up to this size a synchronous write into the page cache is faster than dispatching to a thread. */
const MAX_SYNC_BYTES = 64 * 1024;

async function writeAll(file: number, bytes: Buffer, progress = { written: 0 }): Promise<void> {
  while (progress.written < bytes.length) {
    const { written } = progress;
    if (bytes.length <= MAX_SYNC_BYTES) progress.written += writeSync(file, bytes, written);
    else progress.written += (await writeBytes(file, bytes, written)).bytesWritten;
  }
}

const APPENDING = constants.O_RDWR | constants.O_APPEND | constants.O_NOFOLLOW;

/** Opens an existing file for appending, or creates it exclusively. */
async function openPrivate(path: string): Promise<number> {
  try {
    return await openFile(path, APPENDING, 0o600);
  } catch (thrown) {
    if (getErrnoCode(thrown) !== 'ENOENT') throw thrown;
    return openFile(path, APPENDING | constants.O_CREAT | constants.O_EXCL, 0o600);
  }
}

function endsWithNewline(file: number): boolean {
  const { size } = fstatSync(file);
  if (size === 0) return true;
  const last = Buffer.alloc(1);
  readSync(file, last, 0, 1, size - 1);
  return last[0] === 0x0a;
}
