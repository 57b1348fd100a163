import type { FileHandle } from 'node:fs/promises';

const CHUNK_BYTES = 1 << 22;
const NEWLINE = 0x0a;

/** A byte range of a file; `to` is exclusive. */
export type ByteRange = { readonly from: number; readonly to: number };

/**
 * Calls `onLine` with each line of a range without its newline, reading in chunks. Runs of NUL bytes, which a lost disk
 * page leaves, are collapsed to one; a line of excessive length is cut to its start.
 */
export async function readLinesInRange(
  file: FileHandle,
  range: ByteRange,
  onLine: (line: Buffer) => void,
): Promise<void> {
  const buffer = Buffer.allocUnsafe(Math.max(1, Math.min(CHUNK_BYTES, range.to - range.from)));
  let partial = createPartialLine();
  for (let at = range.from; at < range.to; ) {
    const { bytesRead } = await file.read(buffer, 0, Math.min(buffer.length, range.to - at), at);
    if (bytesRead === 0) break;
    at += bytesRead;
    let start = 0;
    const chunk = buffer.subarray(0, bytesRead);
    for (let end = chunk.indexOf(NEWLINE); end !== -1; end = chunk.indexOf(NEWLINE, start)) {
      const line = chunk.subarray(start, end);
      onLine(collapseNulRuns(partial.bytes === 0 ? line : completeLine(partial, line)));
      partial = createPartialLine();
      start = end + 1;
    }
    if (start < bytesRead) appendPart(partial, Buffer.from(collapseNulRuns(chunk.subarray(start))));
  }
  if (partial.bytes > 0) onLine(collapseNulRuns(completeLine(partial)));
}

/** Longer than any line ouro writes: no request could contain it, and it might not fit in memory. */
const MAX_LINE_BYTES = 100_000_000;
const TRUNCATED_LINE_BYTES = 1_000;

/** The parts read so far of a line that crosses chunks. */
type PartialLine = { bytes: number; readonly parts: Buffer[] };

const createPartialLine = (): PartialLine => ({ bytes: 0, parts: [] });

function appendPart(line: PartialLine, part: Buffer): void {
  line.bytes += part.length;
  if (line.bytes <= MAX_LINE_BYTES) line.parts.push(part);
  else line.parts.length = 1;
}

function completeLine({ bytes, parts }: PartialLine, last: Buffer = Buffer.alloc(0)): Buffer {
  const isTooLong = bytes + last.length > MAX_LINE_BYTES;
  return isTooLong ? Buffer.concat(parts).subarray(0, TRUNCATED_LINE_BYTES) : Buffer.concat([...parts, last]);
}

function collapseNulRuns(bytes: Buffer): Buffer {
  let run = bytes.indexOf(0);
  if (run === -1) return bytes;
  const parts: Buffer[] = [];
  let from = 0;
  while (run !== -1) {
    parts.push(bytes.subarray(from, run + 1));
    from = run + 1;
    while (bytes[from] === 0) from += 1;
    run = bytes.indexOf(0, from);
  }
  return Buffer.concat([...parts, bytes.subarray(from)]);
}

/** Returns the last offset of a byte sequence in a file, searching from the end; -1 if it does not occur. */
export async function findLastByteSequence(file: FileHandle, size: number, wanted: Buffer): Promise<number> {
  const buffer = Buffer.allocUnsafe(CHUNK_BYTES + wanted.length);
  for (let end = size; end > 0; ) {
    const from = Math.max(0, end - CHUNK_BYTES);
    // Chunks overlap, so that a match across two chunks is found.
    const length = Math.min(size, end + wanted.length) - from;
    const { bytesRead } = await file.read(buffer, 0, length, from);
    const found = buffer.subarray(0, bytesRead).lastIndexOf(wanted);
    if (found !== -1) return from + found;
    end = from;
  }
  return -1;
}
