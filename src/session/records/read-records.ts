import { type FileHandle, open } from 'node:fs/promises';
import type { SessionRecord } from '../../contracts/session.ts';
import { eachLine, lastPlaceOf } from '../../lib/files/jsonl.ts';
import { soundRecord } from './sound-record.ts';

/** What a file held: its records in order, and how many lines could not be read or were saved from damage. */
export type ReadRecords = {
  readonly records: readonly SessionRecord[];
  readonly damaged: number;
  readonly salvaged: number;
  readonly doubled: number;
};

/** Every line starts with its version and type, so the last boundary is found by its bytes. */
const BOUNDARY = Buffer.from('\n{"v":1,"type":"compact-boundary"');

/** Enough of a line to hold its id. */
const HEAD_BYTES = 200;

/** What makes a file big, and what a boundary has made unimportant. */
const BULKY = ['user', 'assistant', 'reply', 'result', 'permission', 'tombstone', 'compact-boundary'].map((type) =>
  Buffer.from(`{"v":1,"type":"${type}"`),
);

/**
 * Reads a transcript as a resume needs it: everything from the last boundary on, and of what came before only the
 * small records (titles, settings, checkpoints). `all` reads every line.
 */
export async function readTranscript(path: string, what: 'all' | 'from-boundary' = 'all'): Promise<ReadRecords> {
  const file = await open(path, 'r');
  try {
    const { size } = await file.stat();
    const recent = what === 'all' ? undefined : await readFromBoundary(file, size);
    if (recent !== undefined) return recent;
    const reader = createRecordReader();
    await eachLine(file, { from: 0, to: size }, (line) => reader.line(line.toString('utf8')));
    return reader.done();
  } finally {
    await file.close();
  }
}

/** `undefined` when there is no boundary, or when the last one cannot be trusted: what came before it is needed then. */
async function readFromBoundary(file: FileHandle, size: number): Promise<ReadRecords | undefined> {
  const from = (await lastPlaceOf(file, size, BOUNDARY)) + 1;
  if (from === 0) return undefined;
  const reader = createRecordReader();
  const replaced: string[] = [];
  await eachLine(file, { from: 0, to: from }, (line) => {
    if (startsWith(line, BOUNDARY.subarray(1))) replaced.push(line.toString('latin1', 0, HEAD_BYTES));
    if (!BULKY.some((start) => startsWith(line, start))) reader.line(line.toString('utf8'));
  });
  const small = reader.done().records.length;
  await eachLine(file, { from, to: size }, (line) => reader.line(line.toString('utf8')));
  const read = reader.done();
  const boundary = read.records[small];
  if (boundary?.type !== 'compact-boundary') return undefined;
  return replaced.some((head) => head.includes(boundary.uuid)) ? undefined : read;
}

function startsWith(line: Buffer, start: Buffer): boolean {
  return line.length >= start.length && line.compare(start, 0, start.length, 0, start.length) === 0;
}

/** Reads records off a text however it was left: torn, joined, NUL-filled, doubled, CRLF or led by a BOM. */
export function readRecords(text: string): ReadRecords {
  const reader = createRecordReader();
  for (const line of text.split('\n')) reader.line(line);
  return reader.done();
}

function createRecordReader(): { line(raw: string): void; done(): ReadRecords } {
  const records: SessionRecord[] = [];
  const seen = new Set<string>();
  let damaged = 0;
  let salvaged = 0;
  let doubled = 0;
  /** A line that broke off: no damage when it was written again in full right after. */
  let torn: string | undefined;

  function keep(record: SessionRecord): void {
    if (seen.has(record.uuid)) {
      doubled += 1;
      return;
    }
    seen.add(record.uuid);
    records.push(record);
  }

  function settleTorn(next: string): void {
    if (torn !== undefined && !next.startsWith(torn)) damaged += 1;
    torn = undefined;
  }

  function hard(raw: string): void {
    const line = raw
      .replaceAll('\0', '')
      .replace(/^\uFEFF/, '')
      .trim();
    settleTorn(line);
    if (line === '') {
      if (raw.includes('\0')) salvaged += 1;
      return;
    }
    const whole = parseRecord(line);
    const { parts, lost } = whole === undefined ? splitJoined(line) : { parts: [whole.record], lost: 0 };
    for (const part of parts) keep(part);
    if (parts.length === 0) torn = line;
    else {
      salvaged += 1;
      damaged += lost;
    }
  }

  return {
    line(raw) {
      if (raw === '') return;
      const read = raw.endsWith('\r') ? undefined : parseRecord(raw);
      if (read === undefined) return hard(raw);
      settleTorn(raw);
      if (read.isMended) salvaged += 1;
      keep(read.record);
    },
    done() {
      settleTorn('');
      return { records, damaged, salvaged, doubled };
    },
  };
}

/** What a line says; `undefined` when it is no record, or one of ours that lacks what it is about. */
function parseRecord(line: string): ReturnType<typeof soundRecord> {
  try {
    return soundRecord(JSON.parse(line));
  } catch {
    return undefined;
  }
}

/** Two writers or a lost newline: find each place where a record may begin and take what parses. */
function splitJoined(line: string): { readonly parts: readonly SessionRecord[]; readonly lost: number } {
  const starts = [...line.matchAll(/\{"v":\d+,"(?:type|uuid)":"/g)].map((match) => match.index);
  const parts = starts.flatMap((start, at) => {
    const part = line.slice(start, starts[at + 1]).trim();
    // A newline of which one bit has changed is some other character now.
    const read = parseRecord(part) ?? parseRecord(part.slice(0, part.lastIndexOf('}') + 1));
    return read === undefined ? [] : [read.record];
  });
  return { parts, lost: starts.length - parts.length };
}
