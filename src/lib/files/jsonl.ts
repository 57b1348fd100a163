import type { FileHandle } from 'node:fs/promises';

const CHUNK_BYTES = 1 << 22;
const NEWLINE = 0x0a;

/** A stretch of a file, in bytes. */
export type Range = { readonly from: number; readonly to: number };

/**
 * Hands over every line of a stretch without its newline, in order; holds one chunk in memory, not the file. Of the NULs
 * that a lost page leaves, one stands for all, and of a line that nobody could have written so long its beginning.
 */
export async function eachLine(file: FileHandle, range: Range, hear: (line: Buffer) => void): Promise<void> {
  const buffer = Buffer.allocUnsafe(Math.max(1, Math.min(CHUNK_BYTES, range.to - range.from)));
  let carried = noLine();
  for (let at = range.from; at < range.to; ) {
    const { bytesRead } = await file.read(buffer, 0, Math.min(buffer.length, range.to - at), at);
    if (bytesRead === 0) break;
    at += bytesRead;
    let start = 0;
    const chunk = buffer.subarray(0, bytesRead);
    for (let end = chunk.indexOf(NEWLINE); end !== -1; end = chunk.indexOf(NEWLINE, start)) {
      const line = chunk.subarray(start, end);
      hear(withoutNulRuns(carried.bytes === 0 ? line : ended(carried, line)));
      carried = noLine();
      start = end + 1;
    }
    if (start < bytesRead) carry(carried, Buffer.from(withoutNulRuns(chunk.subarray(start))));
  }
  if (carried.bytes > 0) hear(withoutNulRuns(ended(carried)));
}

/** Longer than any line of ours, with which no request could be made; text of its size could not be held either. */
const LONGEST_LINE_BYTES = 100_000_000;
const SHOWN_OF_LONGER_BYTES = 1_000;

/** What came so far of a line that lies across chunks. */
type Carried = { bytes: number; readonly parts: Buffer[] };

const noLine = (): Carried => ({ bytes: 0, parts: [] });

function carry(carried: Carried, part: Buffer): void {
  carried.bytes += part.length;
  if (carried.bytes <= LONGEST_LINE_BYTES) carried.parts.push(part);
  else carried.parts.length = 1;
}

function ended({ bytes, parts }: Carried, last: Buffer = Buffer.alloc(0)): Buffer {
  const isTooLong = bytes + last.length > LONGEST_LINE_BYTES;
  return isTooLong ? Buffer.concat(parts).subarray(0, SHOWN_OF_LONGER_BYTES) : Buffer.concat([...parts, last]);
}

function withoutNulRuns(bytes: Buffer): Buffer {
  let run = bytes.indexOf(0);
  if (run === -1) return bytes;
  const kept: Buffer[] = [];
  let from = 0;
  while (run !== -1) {
    kept.push(bytes.subarray(from, run + 1));
    from = run + 1;
    while (bytes[from] === 0) from += 1;
    run = bytes.indexOf(0, from);
  }
  return Buffer.concat([...kept, bytes.subarray(from)]);
}

/** Where these bytes stand last in a file, found from its end; -1 when they do not. */
export async function lastPlaceOf(file: FileHandle, size: number, wanted: Buffer): Promise<number> {
  const buffer = Buffer.allocUnsafe(CHUNK_BYTES + wanted.length);
  for (let end = size; end > 0; ) {
    const from = Math.max(0, end - CHUNK_BYTES);
    // A few bytes more than the chunk, so that what lies across two chunks is seen.
    const length = Math.min(size, end + wanted.length) - from;
    const { bytesRead } = await file.read(buffer, 0, length, from);
    const found = buffer.subarray(0, bytesRead).lastIndexOf(wanted);
    if (found !== -1) return from + found;
    end = from;
  }
  return -1;
}
