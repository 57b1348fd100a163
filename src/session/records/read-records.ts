import type { SessionRecord } from '../../contracts/session.ts';
import { createSeenTexts } from '../../lib/seen-texts.ts';
import { soundRecord } from './sound-record.ts';

/** How many lines could not be read or were saved from damage. */
export type LineCounts = { readonly damaged: number; readonly salvaged: number; readonly doubled: number };

/** What a file held: its records in order, and what was wrong with its lines. */
export type ReadRecords = LineCounts & { readonly records: readonly SessionRecord[] };

/** Reads records off a text however it was left: torn, joined, NUL-filled, doubled, CRLF or led by a BOM. */
export function readRecords(text: string): ReadRecords {
  const records: SessionRecord[] = [];
  const reader = createRecordReader((record) => records.push(record));
  for (const line of text.split('\n')) reader.line(line);
  return { records, ...reader.done() };
}

/** The same, line by line; nothing is kept of a record that was heard but its id. */
export function createRecordReader(hear: (record: SessionRecord) => void): {
  line(raw: string): void;
  done(): LineCounts;
} {
  const seen = createSeenTexts();
  let damaged = 0;
  let salvaged = 0;
  let doubled = 0;
  /** A line that broke off: no damage when it was written again in full right after. */
  let torn: string | undefined;

  function keep(record: SessionRecord): void {
    if (seen.isNew(record.uuid)) hear(record);
    else doubled += 1;
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
      return { damaged, salvaged, doubled };
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
