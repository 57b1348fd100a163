import { open } from 'node:fs/promises';
import type { SessionRecord } from '../../contracts/session.ts';
import { eachLine, lastPlaceOf } from '../../lib/files/jsonl.ts';

/** What a file held: its records in order, and how many lines could not be read or were saved from damage. */
export type ReadRecords = {
  readonly records: readonly SessionRecord[];
  readonly damaged: number;
  readonly salvaged: number;
  readonly doubled: number;
};

/** Every line starts with its version and type, so the last boundary is found by its bytes. */
const BOUNDARY = Buffer.from('\n{"v":1,"type":"compact-boundary"');

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
    const boundary = what === 'all' ? -1 : await lastPlaceOf(file, size, BOUNDARY);
    const reader = createRecordReader();
    const from = boundary + 1;
    if (from > 0) {
      await eachLine(file, { from: 0, to: from }, (line) => {
        if (!BULKY.some((start) => startsWith(line, start))) reader.line(line.toString('utf8'));
      });
    }
    await eachLine(file, { from, to: size }, (line) => reader.line(line.toString('utf8')));
    return reader.done();
  } finally {
    await file.close();
  }
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
    const { parts, lost } = whole === undefined ? splitJoined(line) : { parts: [whole], lost: 0 };
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
      const record = raw.endsWith('\r') ? undefined : parseRecord(raw);
      if (record === undefined) return hard(raw);
      settleTorn(raw);
      keep(record);
    },
    done() {
      settleTorn('');
      return { records, damaged, salvaged, doubled };
    },
  };
}

/** Cheap on purpose: a long session has a hundred thousand lines. What we did not write ourselves is no record. */
function parseRecord(line: string): SessionRecord | undefined {
  try {
    const value = JSON.parse(line);
    return isRecord(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function isRecord(value: unknown): value is SessionRecord {
  if (!isObject(value) || typeof value.type !== 'string' || typeof value.uuid !== 'string') return false;
  const { message, block, result, data, item, checkpoint, messages, kept } = value;
  switch (value.type) {
    case 'user':
      return isObject(message) && Array.isArray(message.blocks);
    case 'assistant':
      return isObject(block) && typeof block.type === 'string';
    case 'reply':
      return Array.isArray(kept);
    case 'result':
      return isObject(result) && result.content !== undefined;
    case 'compact-boundary':
      return Array.isArray(messages);
    case 'queue':
      return isObject(item) && isObject(item.message);
    case 'checkpoint':
      return isObject(checkpoint);
    case 'system':
      return isObject(data);
    default:
      return true;
  }
}

/** Only what the reader relies on: whatever else a line lacks shows where it is used. */
function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null;
}

/** Two writers or a lost newline: find each place where a record may begin and take what parses. */
function splitJoined(line: string): { readonly parts: readonly SessionRecord[]; readonly lost: number } {
  const starts = [...line.matchAll(/\{"v":\d+,"(?:type|uuid)":"/g)].map((match) => match.index);
  const parts = starts.flatMap((start, at) => {
    const record = parseRecord(line.slice(start, starts[at + 1]).trim());
    return record === undefined ? [] : [record];
  });
  return { parts, lost: starts.length - parts.length };
}
