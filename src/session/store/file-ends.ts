import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs';

/** The two ends of a file; for a small file, both are the whole file. */
export type FileEnds = {
  readonly head: Buffer;
  readonly tail: Buffer;
  readonly bytes: number;
  readonly modifiedMs: number;
};

/** The number of bytes read from each end of a file. */
const HEAD_BYTES = 8_192;
const TAIL_BYTES = 16_384;

/** Reads the two ends of a file; `undefined` when it is gone or unreadable. */
export function readFileEnds(path: string, scratch: Buffer): FileEnds | undefined {
  let file: number | undefined;
  try {
    // Opening a pipe would wait for a writer.
    file = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
    const stats = fstatSync(file);
    if (!stats.isFile()) return undefined;
    const { size, mtimeMs } = stats;
    const facts = { bytes: size, modifiedMs: mtimeMs };
    // A small file takes one read.
    if (size <= scratch.length) {
      const all = scratch.subarray(0, readSync(file, scratch, 0, scratch.length, 0));
      return { head: all, tail: all, ...facts };
    }
    const head = scratch.subarray(0, readSync(file, scratch, 0, HEAD_BYTES, 0));
    const tailBytes = readSync(file, scratch, HEAD_BYTES, TAIL_BYTES, size - TAIL_BYTES);
    return { head, tail: scratch.subarray(HEAD_BYTES, HEAD_BYTES + tailBytes), ...facts };
  } catch {
    // Deleted or made unreadable since it was listed.
    return undefined;
  } finally {
    if (file !== undefined) closeSync(file);
  }
}

/** Creates the buffer for the ends of a file; one buffer serves a whole list. */
export const createFileEndsBuffer = (): Buffer => Buffer.allocUnsafe(HEAD_BYTES + TAIL_BYTES);
