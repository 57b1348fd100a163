import type { SessionRecord } from '../contracts/session.ts';

/** What a file held: its records in order, and how many lines could not be read or were saved from damage. */
export type ReadRecords = {
  readonly records: readonly SessionRecord[];
  readonly damaged: number;
  readonly salvaged: number;
  readonly doubled: number;
};

/** Reads a transcript however it was left: torn, joined, NUL-filled, doubled, CRLF or led by a BOM. */
export function readRecords(text: string): ReadRecords {
  const records: SessionRecord[] = [];
  const seen = new Set<string>();
  let damaged = 0;
  let salvaged = 0;
  let doubled = 0;

  function keep(record: SessionRecord): void {
    if (seen.has(record.uuid)) {
      doubled += 1;
      return;
    }
    seen.add(record.uuid);
    records.push(record);
  }

  for (const raw of text.split('\n')) {
    const line = raw
      .replaceAll('\0', '')
      .replace(/^\uFEFF/, '')
      .trim();
    if (line === '') {
      if (raw.includes('\0')) salvaged += 1;
      continue;
    }
    const record = parseRecord(line);
    if (record !== undefined) {
      keep(record);
      if (raw.includes('\0')) salvaged += 1;
      continue;
    }
    const parts = splitJoined(line);
    for (const part of parts) keep(part);
    if (parts.length > 0) salvaged += 1;
    else damaged += 1;
  }
  return { records, damaged, salvaged, doubled };
}

/** Cheap on purpose: a long session has a hundred thousand lines. */
function parseRecord(line: string): SessionRecord | undefined {
  try {
    const value = JSON.parse(line);
    return isRecord(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function isRecord(value: unknown): value is SessionRecord {
  if (typeof value !== 'object' || value === null) return false;
  return 'type' in value && typeof value.type === 'string' && 'uuid' in value && typeof value.uuid === 'string';
}

/** Two writers or a lost newline: find each place where a record may begin and take what parses. */
function splitJoined(line: string): readonly SessionRecord[] {
  const starts = [...line.matchAll(/\{"v":\d+,"uuid":"/g)].map((match) => match.index);
  return starts.flatMap((start, at) => {
    const record = parseRecord(line.slice(start, starts[at + 1]).trim());
    return record === undefined ? [] : [record];
  });
}
