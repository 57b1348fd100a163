import { type FileHandle, open } from 'node:fs/promises';
import type { SessionRecord } from '../../contracts/session.ts';
import { eachLine, lastPlaceOf, type Range } from '../../lib/files/jsonl.ts';
import { formatBytes } from '../../lib/text/format.ts';
import { EMPTY_CONVERSATION, nextConversation } from './conversation-state.ts';
import { createRecordReader, type LineCounts, type ReadRecords } from './read-records.ts';

/** Every line starts with its version and type, so the last boundary is found by its bytes. */
const BOUNDARY = Buffer.from('\n{"v":1,"type":"compact-boundary"');
const USER = Buffer.from('{"v":1,"type":"user"');
const TOMBSTONE = Buffer.from('{"v":1,"type":"tombstone"');

/** Enough of a line to hold its id. */
const HEAD_BYTES = 200;

/** What makes a file big, and what a boundary has made unimportant. */
const SAID: ReadonlySet<string> = new Set([
  'user',
  'assistant',
  'reply',
  'result',
  'permission',
  'tombstone',
  'compact-boundary',
]);
const BULKY = [...SAID].map((type) => Buffer.from(`{"v":1,"type":"${type}"`));

/** No request holds as much: what a conversation has said before can be sent to nobody. */
const MOST_BYTES = 50_000_000;
/** Prompts from before that are kept all the same. */
const MOST_PROMPT_BYTES = 8_000;
const MOST_PROMPTS_CHARS = 200_000;

/** Hears every record of a file, one at a time: none is held. */
export async function eachRecord(path: string, hear: (record: SessionRecord) => void): Promise<LineCounts> {
  await using file = await open(path, 'r');
  const { size } = await file.stat();
  const reader = createRecordReader(hear);
  await eachLine(file, { from: 0, to: size }, (line) => reader.line(line.toString('utf8')));
  return reader.done();
}

/** All records of a file. */
export async function readTranscript(path: string): Promise<ReadRecords> {
  const records: SessionRecord[] = [];
  const counts = await eachRecord(path, (record) => records.push(record));
  return { records, ...counts };
}

/** What a resume needs, and how many bytes of what was said were left out of it. */
export type RecentRecords = ReadRecords & { readonly leftOut: number };

type RecentOptions = {
  readonly mostBytes?: number;
  /** Lines that belong behind those of the file. */
  readonly unsaved?: readonly string[];
};

/**
 * Reads a transcript as a resume needs it: everything from the last boundary on, and of what came before only the
 * small records (titles, settings, checkpoints). `all` starts at the first line. Of what is too long to be sent, the end
 * is read and what a person typed before it.
 */
export async function readRecent(
  path: string,
  what: 'all' | 'from-boundary',
  { mostBytes = MOST_BYTES, unsaved = [] }: RecentOptions = {},
): Promise<RecentRecords> {
  await using file = await open(path, 'r');
  const { size } = await file.stat();
  const boundary = what === 'all' ? 0 : (await lastPlaceOf(file, size, BOUNDARY)) + 1;
  const { read, isTrusted } = await readFrom(file, { boundary, size, mostBytes, unsaved });
  // A boundary that cannot be trusted: what came before it is needed then.
  return isTrusted ? read : (await readFrom(file, { boundary: 0, size, mostBytes, unsaved })).read;
}

type Asked = Required<RecentOptions> & { readonly boundary: number; readonly size: number };

/** A boundary is not trusted when it is not what its bytes look like, or when it was written over. */
async function readFrom(
  file: FileHandle,
  { boundary, size, mostBytes, unsaved }: Asked,
): Promise<{ readonly read: RecentRecords; readonly isTrusted: boolean }> {
  const records: SessionRecord[] = [];
  const reader = createRecordReader((record) => records.push(record));
  const read = (line: Buffer) => reader.line(line.toString('utf8'));
  const replaced: string[] = [];
  await eachLine(file, { from: 0, to: boundary }, (line) => {
    if (startsWith(line, BOUNDARY.subarray(1))) replaced.push(line.toString('latin1', 0, HEAD_BYTES));
    if (!BULKY.some((start) => startsWith(line, start))) read(line);
  });
  const small = records.length;
  const leftOut = await bytesBefore(file, { from: boundary, to: size }, mostBytes);
  let at = 0;
  let tail: number | undefined;
  await eachLine(file, { from: boundary, to: size }, (line) => {
    const isFirst = at === 0;
    if (at >= leftOut) tail ??= records.length;
    if (at >= leftOut || (isFirst && boundary > 0) || isSmall(line)) read(line);
    at += line.length + 1;
  });
  for (const line of unsaved) reader.line(line);
  const counts = reader.done();
  const first = records[small];
  const isTrusted =
    boundary === 0 || (first?.type === 'compact-boundary' && !replaced.some((head) => head.includes(first.uuid)));
  const kept = leftOut === 0 ? records : withoutMiddle(records, { tail: tail ?? records.length, bytes: leftOut });
  return { read: { records: kept, leftOut, ...counts }, isTrusted };
}

/** How much has to be left out so that not more than this remains; pages of NULs count nothing. */
async function bytesBefore(file: FileHandle, range: Range, mostBytes: number): Promise<number> {
  if (range.to - range.from <= mostBytes) return 0;
  let bytes = 0;
  await eachLine(file, range, (line) => {
    bytes += line.length + 1;
  });
  return Math.max(0, bytes - mostBytes);
}
/** The same without what was taken back by going to a place that was left out. */
export function sinceLostRewind(records: readonly SessionRecord[]): readonly SessionRecord[] {
  let state = EMPTY_CONVERSATION;
  let lost = -1;
  for (const [at, record] of records.entries()) {
    state = nextConversation({ ...state, incomplete: false }, record);
    if (state.incomplete) lost = at;
  }
  return records.filter((record, at) => at > lost || !SAID.has(record.type));
}

/** Settings and the like, what a person typed, and what was taken back of that. */
function isSmall(line: Buffer): boolean {
  if (startsWith(line, USER)) return line.length <= MOST_PROMPT_BYTES && !line.includes('"results":[');
  return startsWith(line, TOMBSTONE) || !BULKY.some((start) => startsWith(line, start));
}

/** The newest prompts from before the tail, words about what is missing, and the tail. */
function withoutMiddle(
  records: readonly SessionRecord[],
  { tail, bytes }: { readonly tail: number; readonly bytes: number },
): readonly SessionRecord[] {
  let left = MOST_PROMPTS_CHARS;
  const before = records
    .slice(0, tail)
    .toReversed()
    .filter((record) => {
      if (record.type !== 'user') return true;
      left -= JSON.stringify(record.message).length;
      return left >= 0;
    })
    .toReversed();
  return [...before, ...fromPrompt(records.slice(tail), bytes)];
}

/** From the first prompt on, or else from the first reply that begins: what is answered before is not there. */
function fromPrompt(records: readonly SessionRecord[], bytes: number): readonly SessionRecord[] {
  const prompt = records.findIndex((record) => record.type === 'user' && record.results === undefined);
  const reply = records.findIndex((record) => record.type === 'assistant' && record.index === 0);
  const start = prompt === -1 ? reply : prompt;
  const cut = start === -1 ? records.length : start;
  const [head] = records;
  if (head === undefined) return records;
  const { v, parentUuid, sessionId, timestamp, cwd, version } = head;
  const text = `<reminder>This conversation is too long to be sent: of its first ${formatBytes(bytes)} only what the user typed stands above, without answers, calls and results. What follows is its end.</reminder>`;
  const note: SessionRecord = {
    ...{ v, uuid: `left-out-${bytes}`, parentUuid, sessionId, timestamp, cwd, version, type: 'user' as const },
    message: { role: 'user', id: `left-out-${bytes}`, origin: 'resume', blocks: [{ type: 'text', text }] },
  };
  return [note, ...records.filter((record, at) => at >= cut || !SAID.has(record.type))];
}

function startsWith(line: Buffer, start: Buffer): boolean {
  return line.length >= start.length && line.compare(start, 0, start.length, 0, start.length) === 0;
}
