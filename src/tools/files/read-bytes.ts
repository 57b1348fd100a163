import { createHash } from 'node:crypto';
import { constants, type Stats } from 'node:fs';
import { type FileHandle, open, stat } from 'node:fs/promises';
import { ToolFailure } from '../../contracts/tool.ts';
import { getErrnoCode, getErrorMessage } from '../../lib/errors.ts';
import { findRealPath } from '../../lib/files/real-path.ts';
import { formatBytes } from '../../lib/text/format.ts';

/** The content of a file, with the metadata that identifies this version. */
export type FileBytes = {
  readonly realPath: string;
  readonly bytes: Uint8Array;
  /** The content on disk; `bytes` may have the unsaved changes of an editor. */
  readonly diskBytes: Uint8Array;
  readonly mtimeMs: number;
  readonly size: number;
  readonly hash: string;
};

// Largest file that is read into memory.
const MAX_FILE_BYTES = 64 * 1024 * 1024;

const CHUNK_BYTES = 256 * 1024;

/** Reads a regular file. Devices, pipes and files that are too large are refused before the first byte. */
export async function readFileBytes(file: string, signal: AbortSignal): Promise<FileBytes> {
  try {
    assertReadable(file, await stat(file));
    // Non-blocking, in case a FIFO replaced the file after the check.
    const handle = await open(file, constants.O_RDONLY | constants.O_NONBLOCK);
    try {
      const stats = await handle.stat();
      assertReadable(file, stats);
      const [bytes, realPath] = await Promise.all([readAll(handle, stats.size, file, signal), findRealPath(file)]);
      if (realPath === undefined) throw createMissingFailure(file);
      return { realPath, bytes, diskBytes: bytes, mtimeMs: stats.mtimeMs, size: bytes.length, hash: hashBytes(bytes) };
    } finally {
      // The content is there; nothing has to wait for this.
      void handle.close().catch(() => undefined);
    }
  } catch (thrown) {
    throw toReadFailure(file, thrown);
  }
}

/** Returns the hash that identifies a version of a file. */
export function hashBytes(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('base64url');
}

async function readAll(handle: FileHandle, size: number, file: string, signal: AbortSignal): Promise<Uint8Array> {
  // Files in /proc report size 0 but have content, so read until nothing more comes.
  let buffer = Buffer.allocUnsafe(size === 0 ? 4096 : size + 1);
  let length = 0;
  while (true) {
    signal.throwIfAborted();
    if (length === buffer.length) buffer = Buffer.concat([buffer], buffer.length * 2);
    const { bytesRead } = await handle.read(buffer, length, Math.min(buffer.length - length, CHUNK_BYTES * 16), length);
    if (bytesRead === 0) return buffer.subarray(0, length);
    length += bytesRead;
    if (length > MAX_FILE_BYTES) throw createTooLargeFailure(file, length);
    // Complete, without another read to see the end.
    if (length === size) return buffer.subarray(0, length);
  }
}

function assertReadable(file: string, stats: Stats): void {
  if (stats.isDirectory()) throw new ToolFailure(`${file} is a directory. Use Glob to list the files in it.`);
  if (stats.isFIFO()) throw new ToolFailure(`${file} is a FIFO (named pipe); reading it could wait for ever.`);
  if (stats.isSocket()) throw new ToolFailure(`${file} is a socket, not a file that can be read.`);
  if (!stats.isFile()) throw new ToolFailure(`${file} is a device, not a file that can be read.`);
  if (stats.size > MAX_FILE_BYTES) throw createTooLargeFailure(file, stats.size);
}

function createTooLargeFailure(file: string, size: number): ToolFailure {
  const limit = formatBytes(MAX_FILE_BYTES);
  return new ToolFailure(
    `${file} is too large (${formatBytes(size)}, the limit is ${limit}). Search it with Grep, or cut a part out with head, tail or sed.`,
  );
}

function createMissingFailure(file: string, cause?: unknown): ToolFailure {
  return new ToolFailure(`${file} does not exist. Check the path, or look for it with Glob.`, { cause });
}

function toReadFailure(file: string, thrown: unknown): unknown {
  if (thrown instanceof ToolFailure) return thrown;
  const code = getErrnoCode(thrown);
  if (code === 'ENOENT' || code === 'ENOTDIR') {
    return createMissingFailure(file, thrown);
  }
  if (code === 'EACCES' || code === 'EPERM') {
    return new ToolFailure(`No permission to read ${file}.`, { cause: thrown });
  }
  if (code === undefined) return thrown;
  return new ToolFailure(`${file} could not be read: ${getErrorMessage(thrown)}`, { cause: thrown });
}
