import { createHash } from 'node:crypto';
import { constants, type Stats } from 'node:fs';
import { type FileHandle, open, realpath, stat } from 'node:fs/promises';
import { ToolFailure } from '../contracts/tool.ts';
import { messageOf } from '../lib/errors.ts';
import { errnoOf } from '../lib/files/errno.ts';
import { formatBytes } from '../lib/text/format.ts';

/** A file's content and what identifies this state of it. */
export type FileBytes = {
  readonly realPath: string;
  readonly bytes: Uint8Array;
  readonly mtimeMs: number;
  readonly size: number;
  readonly hash: string;
};

// The largest file that is taken into memory.
const MAX_FILE_BYTES = 64 * 1024 * 1024;

const CHUNK_BYTES = 256 * 1024;

/** Reads a regular file whole. Anything that could hang or flood is refused before the first byte. */
export async function readFileBytes(file: string, signal: AbortSignal): Promise<FileBytes> {
  try {
    refuseUnreadable(file, await stat(file));
    // Non-blocking, in case a FIFO took the file's place after we looked.
    const handle = await open(file, constants.O_RDONLY | constants.O_NONBLOCK);
    try {
      const facts = await handle.stat();
      refuseUnreadable(file, facts);
      const bytes = await readAll(handle, facts.size, file, signal);
      const realPath = await realpath(file);
      return { realPath, bytes, mtimeMs: facts.mtimeMs, size: bytes.length, hash: hashOf(bytes) };
    } finally {
      await handle.close();
    }
  } catch (thrown) {
    throw readFailure(file, thrown);
  }
}

/** What tells two states of a file apart. */
export function hashOf(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('base64url');
}

async function readAll(handle: FileHandle, size: number, file: string, signal: AbortSignal): Promise<Uint8Array> {
  // Files of /proc say 0 and have content, so the end is where nothing more comes.
  let buffer = Buffer.allocUnsafe(size === 0 ? 4096 : size + 1);
  let length = 0;
  while (true) {
    signal.throwIfAborted();
    if (length === buffer.length) buffer = Buffer.concat([buffer], buffer.length * 2);
    const { bytesRead } = await handle.read(buffer, length, Math.min(buffer.length - length, CHUNK_BYTES * 16), length);
    if (bytesRead === 0) return buffer.subarray(0, length);
    length += bytesRead;
    if (length > MAX_FILE_BYTES) throw tooLarge(file, length);
  }
}

function refuseUnreadable(file: string, facts: Stats): void {
  if (facts.isDirectory()) throw new ToolFailure(`${file} is a directory. Use Glob to list the files in it.`);
  if (facts.isFIFO()) throw new ToolFailure(`${file} is a FIFO (named pipe); reading it could wait for ever.`);
  if (facts.isSocket()) throw new ToolFailure(`${file} is a socket, not a file that can be read.`);
  if (!facts.isFile()) throw new ToolFailure(`${file} is a device, not a file that can be read.`);
  if (facts.size > MAX_FILE_BYTES) throw tooLarge(file, facts.size);
}

function tooLarge(file: string, size: number): ToolFailure {
  const limit = formatBytes(MAX_FILE_BYTES);
  return new ToolFailure(
    `${file} is too large (${formatBytes(size)}, the limit is ${limit}). Search it with Grep, or cut a part out with head, tail or sed.`,
  );
}

function readFailure(file: string, thrown: unknown): unknown {
  if (thrown instanceof ToolFailure) return thrown;
  const code = errnoOf(thrown);
  if (code === 'ENOENT' || code === 'ENOTDIR') {
    return new ToolFailure(`${file} does not exist. Check the path, or look for it with Glob.`, { cause: thrown });
  }
  if (code === 'EACCES' || code === 'EPERM') {
    return new ToolFailure(`No permission to read ${file}.`, { cause: thrown });
  }
  if (code === undefined) return thrown;
  return new ToolFailure(`${file} could not be read: ${messageOf(thrown)}`, { cause: thrown });
}
