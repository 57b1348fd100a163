import type { SessionRecord } from '../../contracts/session.ts';
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
export function createSessionRecordParser(onRecord: (record: SessionRecord) => void) {
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
    readLine(raw: string) {
      if (raw === '') return;
      const parsed = raw.endsWith('\r') ? undefined : parseRecord(raw);
      if (parsed === undefined) return readDamagedLine(raw);
      settleTornLine(raw);
      if (parsed.isRepaired) salvaged += 1;
      emit(parsed.record);
    },
    finish(): RecordDamageCounts {
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

const INITIAL_SLOTS = 1 << 10;

/**
 * Creates a set of texts that stores a 64-bit hash of each: a million texts take 16 MB. The probability that any two of
 * a million different texts collide is about one in ten million. @internal
 */
export function createTextHashSet(): {
  /** Adds a text; returns whether it was not in the set yet. */
  readonly add: (text: string) => boolean;
} {
  let table = new Uint32Array(2 * INITIAL_SLOTS);
  let count = 0;

  /** Inserts a hash with linear probing; returns whether it was not in the table yet. */
  function insert(into: Uint32Array, high: number, low: number): boolean {
    const mask = into.length / 2 - 1;
    for (let slot = low & mask; ; slot = (slot + 1) & mask) {
      const offset = 2 * slot;
      if (into[offset] === 0 && into[offset + 1] === 0) {
        into[offset] = high;
        into[offset + 1] = low;
        return true;
      }
      if (into[offset] === high && into[offset + 1] === low) return false;
    }
  }

  function grow(): void {
    const old = table;
    table = new Uint32Array(2 * old.length);
    for (let offset = 0; offset < old.length; offset += 2) {
      const [high = 0, low = 0] = [old[offset], old[offset + 1]];
      if (high !== 0 || low !== 0) insert(table, high, low);
    }
  }

  return {
    add(text) {
      const [high, low] = hashText64(text);
      if (!insert(table, high, low)) return false;
      count += 1;
      if (count * 4 > table.length) grow();
      return true;
    },
  };
}

/** Returns two 32-bit halves that are mixed differently. Never both zero, because zeros mark a free slot. */
function hashText64(text: string): readonly [number, number] {
  let high = 0x9e3779b9;
  let low = 0x85ebca6b;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    high = Math.imul(high ^ code, 0x9e3779b1);
    low = Math.imul(low ^ code, 0x5f356495);
    low ^= high >>> 15;
    high ^= low >>> 13;
  }
  return [high >>> 0, (low ^ (low >>> 16)) >>> 0 || 1];
}
