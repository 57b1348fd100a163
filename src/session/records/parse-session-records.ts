import type { SessionRecord } from '../../contracts/session.ts';
import { createTextHashSet } from '../../lib/text-hash-set.ts';
import { validateSessionRecord } from './validate-session-record.ts';

/** The number of lines that were unreadable, salvaged or duplicated. */
export type RecordDamageCounts = { readonly damaged: number; readonly salvaged: number; readonly doubled: number };

/** The records of a file in order, with the damage found in its lines. */
export type ParsedRecords = RecordDamageCounts & { readonly records: readonly SessionRecord[] };

/** Parses records from a text that may be damaged: torn, joined or doubled lines, NUL bytes, CRLF or a BOM. */
export function parseSessionRecords(text: string): ParsedRecords {
  const records: SessionRecord[] = [];
  const reader = createSessionRecordParser((record) => records.push(record));
  for (const line of text.split('\n')) reader.readLine(line);
  return { records, ...reader.finish() };
}

/** Creates a reader for single lines; of a record it keeps only the id, to detect duplicates. */
export function createSessionRecordParser(onRecord: (record: SessionRecord) => void): {
  readLine(raw: string): void;
  finish(): RecordDamageCounts;
} {
  const seen = createTextHashSet();
  let damaged = 0;
  let salvaged = 0;
  let doubled = 0;
  /** Incomplete line; not counted as damage when the next line repeats it in full. */
  let tornLine: string | undefined;

  function emit(record: SessionRecord): void {
    if (seen.add(record.uuid)) onRecord(record);
    else doubled += 1;
  }

  function settleTornLine(next: string): void {
    if (tornLine !== undefined && !next.startsWith(tornLine)) damaged += 1;
    tornLine = undefined;
  }

  function readDamagedLine(raw: string): void {
    const line = raw
      .replaceAll('\0', '')
      .replace(/^\uFEFF/, '')
      .trim();
    settleTornLine(line);
    if (line === '') {
      if (raw.includes('\0')) salvaged += 1;
      return;
    }
    const parsed = parseRecord(line);
    const { parts, lost } = parsed === undefined ? splitJoinedLine(line) : { parts: [parsed.record], lost: 0 };
    for (const part of parts) emit(part);
    if (parts.length === 0) tornLine = line;
    else {
      salvaged += 1;
      damaged += lost;
    }
  }

  return {
    readLine(raw) {
      if (raw === '') return;
      const parsed = raw.endsWith('\r') ? undefined : parseRecord(raw);
      if (parsed === undefined) return readDamagedLine(raw);
      settleTornLine(raw);
      if (parsed.isRepaired) salvaged += 1;
      emit(parsed.record);
    },
    finish() {
      settleTornLine('');
      return { damaged, salvaged, doubled };
    },
  };
}

/** Parses a line; `undefined` when it is not a valid record. */
function parseRecord(line: string): ReturnType<typeof validateSessionRecord> {
  try {
    return validateSessionRecord(JSON.parse(line));
  } catch {
    return undefined;
  }
}

/** Splits a line joined by a lost newline or by two writers: tries every position where a record may begin. */
function splitJoinedLine(line: string): { readonly parts: readonly SessionRecord[]; readonly lost: number } {
  const starts = [...line.matchAll(/\{"v":\d+,"(?:type|uuid)":"/g)].map((match) => match.index);
  const parts = starts.flatMap((start, index) => {
    const part = line.slice(start, starts[index + 1]).trim();
    // A newline with a flipped bit is another character, so the text may go on behind the closing brace.
    const parsed = parseRecord(part) ?? parseRecord(part.slice(0, part.lastIndexOf('}') + 1));
    return parsed === undefined ? [] : [parsed.record];
  });
  return { parts, lost: starts.length - parts.length };
}
