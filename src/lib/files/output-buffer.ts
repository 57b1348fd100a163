import { closeSync, mkdirSync, openSync, writeSync } from 'node:fs';
import { dirname } from 'node:path';
import { formatBytes } from '../text/format.ts';

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
  let whole: Uint8Array[] = [];
  let head: Buffer = Buffer.alloc(0);
  let tail: Buffer = Buffer.alloc(0);
  let total = 0;
  let read = 0;
  let file: number | undefined;
  let written = 0;
  let spilled = false;
  let fileProblem = false;
  let closed = false;

  function spill(chunks: readonly Uint8Array[]): void {
    if (closed) return;
    try {
      if (file === undefined) {
        mkdirSync(dirname(limits.filePath), { recursive: true, mode: 0o700 });
        file = openSync(limits.filePath, 'w', 0o600);
      }
      for (const chunk of chunks) {
        const room = limits.fileBytes - written;
        if (room <= 0) return;
        writeSync(file, chunk.length > room ? chunk.subarray(0, room) : chunk);
        written += Math.min(room, chunk.length);
      }
    } catch {
      // The disk is full or closed to us: head and tail are still here.
      fileProblem = true;
    }
  }

  function startSpilling(): void {
    const all = Buffer.concat(whole);
    spill([all]);
    head = all.subarray(0, limits.headBytes);
    tail = all.subarray(-limits.tailBytes);
    whole = [];
    spilled = true;
  }

  function ending(): Buffer {
    return spilled ? tail : Buffer.concat(whole);
  }

  return {
    push(chunk) {
      total += chunk.length;
      if (!spilled) {
        // The stream may reuse its memory.
        whole.push(Buffer.from(chunk));
        if (total > limits.keepBytes) startSpilling();
        return;
      }
      spill([chunk]);
      tail = Buffer.concat([tail, chunk.subarray(-limits.tailBytes)]).subarray(-limits.tailBytes);
    },
    totalBytes: () => total,
    tail: (lines) =>
      decode(lastPart(ending(), 8_192))
        .split('\n')
        .filter((line) => line.trim() !== '')
        .slice(-lines),
    text() {
      if (!spilled) return decode(Buffer.concat(whole));
      const shownHead = head.subarray(0, characterStart(head, head.length));
      const shownTail = tail.subarray(characterStart(tail, 0));
      const hidden = total - shownHead.length - shownTail.length;
      const where = fileProblem
        ? 'the rest could not be kept'
        : `the ${written < total ? 'beginning' : 'whole'} is in ${limits.filePath}`;
      return `${decode(shownHead)}\n… ${formatBytes(hidden)} left out here; ${where} …\n${decode(shownTail)}`;
    },
    takeNew() {
      const kept = ending();
      // Half a character waits for its other half.
      const until = characterStart(kept, kept.length);
      const fresh = total - (kept.length - until) - read;
      read += fresh;
      if (fresh <= until) return decode(kept.subarray(until - fresh, until));
      return `… ${formatBytes(fresh - until)} left out here …\n${decode(kept.subarray(characterStart(kept, 0), until))}`;
    },
    path: () => (spilled && !fileProblem ? limits.filePath : undefined),
    close() {
      closed = true;
      if (file !== undefined) closeSync(file);
      file = undefined;
    },
  };
}

/** Text from bytes that may be anything; what is no character shows as one that says so. */
function decode(bytes: Uint8Array): string {
  const text = new TextDecoder('utf-8', { fatal: false }).decode(bytes);
  return (text.includes('\r') ? text.split('\n').map(settled).join('\n') : text).replaceAll(CONTROL, '');
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

/** Escape sequences first, then every control character but tab and newline. */
const CONTROL =
  /\u001b\[[0-?]*[ -/]*[@-~]|\u001b\][^\u0007\u001b]*(?:\u0007|\u001b\\)|\u001b[PX^_][^\u001b]*\u001b\\|\u001b.|[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g;
