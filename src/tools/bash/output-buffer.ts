import { closeSync, mkdirSync, openSync, writeSync } from 'node:fs';
import { dirname } from 'node:path';
import { formatBytes } from '../../lib/text/format.ts';
import { sanitize } from '../../lib/text/sanitize.ts';

/** Output of any size in bounded memory: head and tail are kept, the whole output is written to a file. */
export type OutputBuffer = ReturnType<typeof createOutputBuffer>;

/** The sizes of the parts that are kept, and the file of the whole output. */
export type OutputLimits = {
  /** Size up to which the output is kept whole in memory. */
  readonly keepBytes: number;
  readonly headBytes: number;
  readonly tailBytes: number;
  /** Maximum size of the file; later output is counted and dropped. */
  readonly fileBytes: number;
  readonly filePath: string;
  /** Removes the keys of this process from what is stored. */
  readonly removeKeys?: ((text: string) => string) | undefined;
};

/** Creates an empty buffer. */
export function createOutputBuffer(limits: OutputLimits) {
  const file = createOverflowFile(limits);
  /** All chunks, until they exceed `keepBytes`. */
  let chunks: Buffer[] | undefined = [];
  let head: Buffer = Buffer.alloc(0);
  let tail: Buffer = Buffer.alloc(0);
  let totalBytes = 0;
  let readBytes = 0;
  const scanner = createLineScanner();

  function spill(all: Buffer): void {
    file.write(all);
    scanner.push(all);
    head = all.subarray(0, limits.headBytes);
    tail = all.subarray(-limits.tailBytes);
    chunks = undefined;
  }

  const lastBytes = () => (chunks === undefined ? tail : Buffer.concat(chunks));

  return {
    push(chunk: Uint8Array) {
      totalBytes += chunk.length;
      if (chunks === undefined) {
        file.write(chunk);
        scanner.push(chunk);
        tail = Buffer.concat([tail, chunk.subarray(-limits.tailBytes)]).subarray(-limits.tailBytes);
        return;
      }
      // A copy: the stream may reuse its memory.
      chunks.push(Buffer.from(chunk));
      if (totalBytes > limits.keepBytes) spill(Buffer.concat(chunks));
    },
    totalBytes: (): number => totalBytes,
    /** Returns the last lines that are not blank. */
    tail: (lines: number): readonly string[] =>
      decode(takeLastBytes(lastBytes(), 8_192))
        .split('\n')
        .filter((line) => line.trim() !== '')
        .slice(-lines),
    /** Returns the whole output, or head and tail with the path of the file. */
    text(): string {
      if (chunks !== undefined) return decode(Buffer.concat(chunks));
      const { shownHead, shownTail } = cutAtLines(head, tail);
      const hiddenBytes = totalBytes - shownHead.length - shownTail.length;
      const gap = describeGap(shownHead, shownTail, hiddenBytes, scanner);
      return `${decode(shownHead)}\n… ${gap.summary}; ${file.describeLocation(totalBytes)} …\n${decode(Buffer.from(gap.failures))}${decode(shownTail)}`;
    },
    /** Returns the output since the last call. */
    takeNew(): string {
      const bytes = lastBytes();
      // An incomplete character waits for its remaining bytes.
      const end = findCharacterBoundary(bytes, bytes.length);
      const newBytes = totalBytes - (bytes.length - end) - readBytes;
      readBytes += newBytes;
      if (newBytes <= end) return decode(bytes.subarray(end - newBytes, end));
      return `… ${formatBytes(newBytes - end)} left out here …\n${decode(bytes.subarray(findCharacterBoundary(bytes, 0), end))}`;
    },
    /** Path of the file with the whole output, if it was too large for memory. */
    path: (): string | undefined => (chunks === undefined && !file.isBroken() ? limits.filePath : undefined),
    close: file.close,
  };
}

/** Cuts head and tail at line ends, or at characters where a line is longer than that. */
function cutAtLines(head: Buffer, tail: Buffer): { readonly shownHead: Buffer; readonly shownTail: Buffer } {
  const headEnd = head.lastIndexOf('\n');
  const tailStart = tail.indexOf('\n') + 1;
  return {
    shownHead: head.subarray(0, headEnd > head.length / 2 ? headEnd : findCharacterBoundary(head, head.length)),
    shownTail: tail.subarray(tailStart > 0 && tailStart < tail.length / 2 ? tailStart : findCharacterBoundary(tail, 0)),
  };
}

/** Describes what is left out between head and tail: its lines, and those that look like failures. */
function describeGap(head: Buffer, tail: Buffer, hiddenBytes: number, scanner: LineScanner) {
  const first = countNewlines(head) + 2;
  const last = scanner.countLines() - countNewlines(tail);
  const size = formatBytes(hiddenBytes);
  if (last < first) return { summary: `${size} left out here`, failures: '' };
  const failures = scanner.listFailures(first, last).map(({ number, text }) => `${number}: ${text}\n`);
  const summary = `lines ${first} to ${last} (${size}) left out here`;
  if (failures.length === 0) return { summary, failures: '' };
  return { summary, failures: `Lines in between that look like failures:\n${failures.join('')}…\n` };
}

const NEWLINE = 10;

/** Counts line ends with native searches, as an output may have gigabytes. */
function countNewlines(bytes: Uint8Array): number {
  let count = 0;
  for (let at = bytes.indexOf(NEWLINE); at !== -1; at = bytes.indexOf(NEWLINE, at + 1)) count += 1;
  return count;
}

/** A longer line is stored in parts. */
const MAX_LINE_BYTES = 64 * 1024;

/**
 * Creates the file for an output that is too large for memory; opened with the first write. It takes whole lines, so that
 * a key is found that comes in two parts.
 */
function createOverflowFile({ filePath, fileBytes, removeKeys = (text) => text }: OutputLimits) {
  let line: Buffer = Buffer.alloc(0);
  let file: number | undefined;
  let written = 0;
  let isBroken = false;
  let isClosed = false;

  function store(lines: Buffer): void {
    try {
      if (file === undefined) {
        mkdirSync(dirname(filePath), { recursive: true, mode: 0o700 });
        file = openSync(filePath, 'w', 0o600);
      }
      const part = lines.subarray(0, Math.max(0, fileBytes - written));
      // As Latin-1 all bytes stay as they are.
      const text = part.toString('latin1');
      const clean = removeKeys(text);
      writeSync(file, clean === text ? part : Buffer.from(clean, 'latin1'));
      written += part.length;
    } catch {
      // The disk is full or not writable: head and tail are still in memory.
      isBroken = true;
    }
  }

  return {
    write(chunk: Uint8Array): void {
      if (isClosed) return;
      const bytes = Buffer.concat([line, chunk]);
      const lastLine = bytes.lastIndexOf(NEWLINE) + 1;
      const end = lastLine === 0 && bytes.length > MAX_LINE_BYTES ? bytes.length : lastLine;
      line = bytes.subarray(end);
      if (end > 0) store(bytes.subarray(0, end));
    },
    isBroken: () => isBroken,
    describeLocation: (totalBytes: number) =>
      isBroken
        ? 'the rest could not be kept'
        : `the ${written + line.length < totalBytes ? 'beginning' : 'whole'} is in ${filePath}`,
    close(): void {
      isClosed = true;
      if (line.length > 0) store(line);
      if (file !== undefined) closeSync(file);
      file = undefined;
    },
  };
}

/** Decodes arbitrary bytes; invalid ones become replacement characters. */
function decode(bytes: Uint8Array): string {
  const text = new TextDecoder('utf-8', { fatal: false }).decode(bytes);
  const visible = text.includes('\r') ? text.split('\n').map(applyCarriageReturns).join('\n') : text;
  return sanitize(visible, 'output');
}

/** Returns the last state of a line that carriage returns overwrite. */
function applyCarriageReturns(line: string): string {
  const ended = line.replace(/(?<!\r)\r+$/, '');
  return ended.slice(ended.lastIndexOf('\r') + 1);
}

function takeLastBytes(bytes: Buffer, size: number): Buffer {
  const part = bytes.subarray(-size);
  return part.length === bytes.length ? part : part.subarray(findCharacterBoundary(part, 0));
}

/** Returns the nearest UTF-8 character boundary: forward from the start, otherwise backward. */
function findCharacterBoundary(bytes: Buffer, at: number): number {
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

/** A line of output that looks like a failure. */
type FailureLine = { readonly number: number; readonly text: string };

/** Counts the lines of an output while it streams by, and keeps the first ones that look like failures. */
type LineScanner = ReturnType<typeof createLineScanner>;

const FAILURE =
  /\b(?:errors?|fail(?:ed|ures?|s)?|exception|panic(?:ked)?|fatal|traceback|assertion\w*|segmentation fault|not ok|undefined reference|cannot find)\b|[✗✘×❌]|(?:Error|Exception|Failure)\b/i;
/** Lines such as `0 errors` say that nothing failed. */
const NO_FAILURE = /\b(?:0|no) (?:errors?|failed|failures?)\b|\b(?:errors?|failed|failures?)[:=]? 0\b/i;

const MAX_FAILURES = 10;
/** Candidates that are kept: some may turn out to be in the end of the output, which is shown anyway. */
const MAX_CANDIDATES = 200;
const MAX_LINE_CHARS = 300;
/** Bytes that are searched for failures; lines are counted beyond. */
const MAX_SEARCHED_BYTES = 32 * 1024 * 1024;

function createLineScanner() {
  const decoder = new TextDecoder('utf-8', { fatal: false });
  const candidates: FailureLine[] = [];
  let lineCount = 0;
  let searchedBytes = 0;
  let searchedLines = 0;
  let partialLine = '';

  function search(chunk: Uint8Array): void {
    searchedBytes += chunk.length;
    const lines = (partialLine + decoder.decode(chunk, { stream: true })).split('\n');
    partialLine = (lines.pop() ?? '').slice(0, MAX_LINE_CHARS);
    for (const line of lines) {
      searchedLines += 1;
      const text = line.slice(0, MAX_LINE_CHARS).trimEnd();
      if (candidates.length < MAX_CANDIDATES && FAILURE.test(text) && !NO_FAILURE.test(text))
        candidates.push({ number: searchedLines, text });
    }
  }

  return {
    push(chunk: Uint8Array) {
      lineCount += countNewlines(chunk);
      if (searchedBytes < MAX_SEARCHED_BYTES && candidates.length < MAX_CANDIDATES) search(chunk);
    },
    /** Number of line ends so far. */
    countLines: (): number => lineCount,
    /** Returns the first failures in a range of lines. */
    listFailures: (first: number, last: number): readonly FailureLine[] =>
      candidates.filter(({ number }) => number >= first && number <= last).slice(0, MAX_FAILURES),
  };
}
