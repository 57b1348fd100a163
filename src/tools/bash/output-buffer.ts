import { closeSync, mkdirSync, openSync, writeSync } from 'node:fs';
import { dirname } from 'node:path';
import { formatBytes } from '../../lib/text/format.ts';
import { sanitize } from '../../lib/text/sanitize.ts';

/** Output of any size in bounded memory: its head, its tail, and the whole of it in a file. */
export type OutputBuffer = {
  push(chunk: Uint8Array): void;
  totalBytes(): number;
  /** The last lines, for progress. */
  tail(lines: number): readonly string[];
  /** Everything, or head and tail with the place of the rest. */
  text(): string;
  /** What came since the last time this was asked. */
  takeNew(): string;
  /** Where the whole output is, if it was too much to keep. */
  path(): string | undefined;
  close(): void;
};

export type OutputLimits = {
  /** Up to here the output is kept whole. */
  readonly keepBytes: number;
  readonly headBytes: number;
  readonly tailBytes: number;
  /** The file ends here; what comes after it is counted and dropped. */
  readonly fileBytes: number;
  readonly filePath: string;
};

export function createOutputBuffer(limits: OutputLimits): OutputBuffer {
  const file = overflowFile(limits);
  /** Every piece, as long as it is little enough. */
  let whole: Buffer[] | undefined = [];
  let head: Buffer = Buffer.alloc(0);
  let tail: Buffer = Buffer.alloc(0);
  let totalBytes = 0;
  let readBytes = 0;

  function overflow(all: Buffer): void {
    file.write(all);
    head = all.subarray(0, limits.headBytes);
    tail = all.subarray(-limits.tailBytes);
    whole = undefined;
  }

  const ending = () => (whole === undefined ? tail : Buffer.concat(whole));

  return {
    push(chunk) {
      totalBytes += chunk.length;
      if (whole === undefined) {
        file.write(chunk);
        tail = Buffer.concat([tail, chunk.subarray(-limits.tailBytes)]).subarray(-limits.tailBytes);
        return;
      }
      // The stream may reuse its memory.
      whole.push(Buffer.from(chunk));
      if (totalBytes > limits.keepBytes) overflow(Buffer.concat(whole));
    },
    totalBytes: () => totalBytes,
    tail: (lines) =>
      decode(lastPart(ending(), 8_192))
        .split('\n')
        .filter((line) => line.trim() !== '')
        .slice(-lines),
    text() {
      if (whole !== undefined) return decode(Buffer.concat(whole));
      const shownHead = head.subarray(0, characterStart(head, head.length));
      const shownTail = tail.subarray(characterStart(tail, 0));
      const hidden = formatBytes(totalBytes - shownHead.length - shownTail.length);
      return `${decode(shownHead)}\n… ${hidden} left out here; ${file.words(totalBytes)} …\n${decode(shownTail)}`;
    },
    takeNew() {
      const kept = ending();
      // Half a character waits for its other half.
      const until = characterStart(kept, kept.length);
      const fresh = totalBytes - (kept.length - until) - readBytes;
      readBytes += fresh;
      if (fresh <= until) return decode(kept.subarray(until - fresh, until));
      return `… ${formatBytes(fresh - until)} left out here …\n${decode(kept.subarray(characterStart(kept, 0), until))}`;
    },
    path: () => (whole === undefined && !file.isBroken() ? limits.filePath : undefined),
    close: file.close,
  };
}

/** Where an output goes that is too large to keep; made when the first byte of it comes. */
function overflowFile({ filePath, fileBytes }: OutputLimits) {
  let file: number | undefined;
  let written = 0;
  let isBroken = false;
  let isClosed = false;
  return {
    write(chunk: Uint8Array): void {
      if (isClosed) return;
      try {
        if (file === undefined) {
          mkdirSync(dirname(filePath), { recursive: true, mode: 0o700 });
          file = openSync(filePath, 'w', 0o600);
        }
        const part = chunk.subarray(0, Math.max(0, fileBytes - written));
        writeSync(file, part);
        written += part.length;
      } catch {
        // The disk is full or closed to us: head and tail are still here.
        isBroken = true;
      }
    },
    isBroken: () => isBroken,
    words: (totalBytes: number) =>
      isBroken ? 'the rest could not be kept' : `the ${written < totalBytes ? 'beginning' : 'whole'} is in ${filePath}`,
    close(): void {
      isClosed = true;
      if (file !== undefined) closeSync(file);
      file = undefined;
    },
  };
}

/** Text from bytes that may be anything; what is no character shows as one that says so. */
function decode(bytes: Uint8Array): string {
  const text = new TextDecoder('utf-8', { fatal: false }).decode(bytes);
  const last = text.includes('\r') ? text.split('\n').map(settled).join('\n') : text;
  return sanitize(last, 'output');
}

/** Carriage returns overwrite their line on a terminal; here the last state of the line is what counts. */
function settled(line: string): string {
  const ended = line.replace(/\r+$/, '');
  return ended.slice(ended.lastIndexOf('\r') + 1);
}

function lastPart(bytes: Buffer, size: number): Buffer {
  const part = bytes.subarray(-size);
  return part.length === bytes.length ? part : part.subarray(characterStart(part, 0));
}

/** The nearest place that is not inside a UTF-8 character: onwards from the front, backwards from the end. */
function characterStart(bytes: Buffer, at: number): number {
  if (at === 0) {
    let start = 0;
    while (start < 3 && isContinuation(bytes[start])) start += 1;
    return start;
  }
  for (let back = 1; back <= 3 && back <= at; back += 1) {
    const byte = bytes[at - back] ?? 0;
    if (isContinuation(byte)) continue;
    const length = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : byte >= 0xc0 ? 2 : 1;
    return length > back ? at - back : at;
  }
  return at;
}

function isContinuation(byte: number | undefined): boolean {
  return byte !== undefined && byte >= 0x80 && byte < 0xc0;
}
