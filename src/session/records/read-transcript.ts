import { type FileHandle, open } from 'node:fs/promises';
import { devNull } from 'node:os';
import type { SessionRecord } from '../../contracts/session.ts';
import { ignoreMissingFile } from '../../lib/errors.ts';
import { type ByteRange, findLastByteSequence, readLinesInRange } from '../../lib/files/read-lines.ts';
import { formatBytes } from '../../lib/text/format.ts';
import { readUnsavedLines } from '../unsaved-lines.ts';
import { EMPTY_CONVERSATION, reduceConversation } from './conversation-state.ts';
import { createSessionRecordParser, type ParsedRecords, type RecordDamageCounts } from './parse-session-records.ts';

/** Every line starts with its version and type, so the last boundary is found by a byte search. */
const BOUNDARY = Buffer.from('\n{"v":1,"type":"compact-boundary"');

/** Enough of a line to hold its id. */
const HEAD_BYTES = 200;

/** Record types that hold the conversation: they make a file large, and a boundary makes earlier ones unnecessary. */
const CONVERSATION_TYPES: ReadonlySet<string> = new Set([
  'user',
  'assistant',
  'reply',
  'result',
  'permission',
  'tombstone',
  'compact-boundary',
]);
/** Enough of a line to hold the longest of these types. */
const TYPE_BYTES = 40;

/** Larger than any request can be (some 30 MB): older parts of the conversation could not be sent anyway. */
const MAX_BYTES = 50_000_000;
/** Limits for the earlier prompts that are kept nevertheless. */
const MAX_PROMPT_BYTES = 8_000;
const MAX_PROMPTS_CHARS = 200_000;
/** A message without its text, and a line with a long folder without the message. */
const LEAST_MESSAGE_CHARS = 60;
const MOST_HEAD_BYTES = 5_000;
const MOST_BYTES_PER_CHAR = 3;

/** Calls back with every line of a session in order: those of its file, then those that could not be written to it. */
export async function forEachSessionLine(path: string, onLine: (line: Buffer) => void): Promise<void> {
  const unsaved = readUnsavedLines(path);
  await using file = await openSessionFile(path, unsaved);
  const { size } = await file.stat();
  await readLinesInRange(file, { from: 0, to: size }, onLine);
  for (const line of unsaved) onLine(Buffer.from(line));
}

/** Calls back with every record of a session in order, holding only one in memory. */
export async function forEachSessionRecord(
  path: string,
  onRecord: (record: SessionRecord) => void,
): Promise<RecordDamageCounts> {
  const reader = createSessionRecordParser(onRecord);
  await forEachSessionLine(path, (line) => reader.readLine(line.toString('utf8')));
  return reader.finish();
}

/** Opens a session file for reading; one that could not be created, but has unsaved lines, is empty. */
async function openSessionFile(path: string, unsaved: readonly string[]): Promise<FileHandle> {
  if (unsaved.length === 0) return open(path, 'r');
  return (await ignoreMissingFile(open(path, 'r'))) ?? open(devNull, 'r');
}

/** Reads all records of a file. */
export async function readTranscript(path: string): Promise<ParsedRecords> {
  const records: SessionRecord[] = [];
  const counts = await forEachSessionRecord(path, (record) => records.push(record));
  return { records, ...counts };
}

/** The records a resume needs, and the number of conversation bytes omitted from them. */
export type RecentSessionRecords = ParsedRecords & { readonly omittedBytes: number };

type RecentOptions = { readonly mostBytes?: number };

/**
 * Reads the records a resume needs: everything from the last boundary on, and the small records before it (titles,
 * settings, checkpoints). `all` starts at the first line. Of a conversation too long to be sent, reads the end and the
 * prompts typed before it.
 */
export async function readRecentSessionRecords(
  path: string,
  range: 'all' | 'from-boundary',
  { mostBytes = MAX_BYTES }: RecentOptions = {},
): Promise<RecentSessionRecords> {
  const unsaved = readUnsavedLines(path);
  await using file = await openSessionFile(path, unsaved);
  const { size } = await file.stat();
  const boundary = range === 'all' ? 0 : (await findLastByteSequence(file, size, BOUNDARY)) + 1;
  const { read, isTrusted } = await readFromBoundary(file, { boundary, size, mostBytes, unsaved });
  // Without a valid boundary, the records before it are needed.
  return isTrusted ? read : (await readFromBoundary(file, { boundary: 0, size, mostBytes, unsaved })).read;
}

type ReadRequest = Required<RecentOptions> & {
  readonly boundary: number;
  readonly size: number;
  readonly unsaved: readonly string[];
};

/** Reads from a boundary on. It is not trusted if its record is invalid, or repeats the id of an earlier boundary. */
async function readFromBoundary(
  file: FileHandle,
  { boundary, size, mostBytes, unsaved }: ReadRequest,
): Promise<{ readonly read: RecentSessionRecords; readonly isTrusted: boolean }> {
  const records: SessionRecord[] = [];
  const reader = createSessionRecordParser((record) => records.push(record));
  const readLine = (line: Buffer) => reader.readLine(line.toString('utf8'));
  const earlierBoundaries: string[] = [];
  await readLinesInRange(file, { from: 0, to: boundary }, (line) => {
    if (startsWith(line, BOUNDARY.subarray(1))) earlierBoundaries.push(line.toString('latin1', 0, HEAD_BYTES));
    if (!CONVERSATION_TYPES.has(getRecordType(line))) readLine(line);
  });
  const smallCount = records.length;
  const { omittedBytes, promptsFrom } = await findTail(file, { from: boundary, to: size }, mostBytes);
  let offset = 0;
  let tailIndex: number | undefined;
  await readLinesInRange(file, { from: boundary, to: size }, (line) => {
    const isFirst = offset === 0;
    if (offset >= omittedBytes) tailIndex ??= records.length;
    if (offset >= omittedBytes || (isFirst && boundary > 0) || isSmallRecord(line, offset >= promptsFrom))
      readLine(line);
    offset += line.length + 1;
  });
  for (const line of unsaved) reader.readLine(line);
  const counts = reader.finish();
  const first = records[smallCount];
  const isTrusted =
    boundary === 0 ||
    (first?.type === 'compact-boundary' && !earlierBoundaries.some((head) => head.includes(first.uuid)));
  const result =
    omittedBytes === 0 ? records : omitMiddle(records, { tail: tailIndex ?? records.length, bytes: omittedBytes });
  return { read: { records: result, omittedBytes: omittedBytes, ...counts }, isTrusted };
}

/**
 * Returns how many bytes to omit so that at most `mostBytes` remain, and where the prompts to keep from them begin.
 * Runs of NUL bytes are not counted.
 */
async function findTail(
  file: FileHandle,
  range: ByteRange,
  mostBytes: number,
): Promise<{ readonly omittedBytes: number; readonly promptsFrom: number }> {
  if (range.to - range.from <= mostBytes) return { omittedBytes: 0, promptsFrom: 0 };
  const prompts: { readonly offset: number; readonly leastChars: number }[] = [];
  let bytes = 0;
  await readLinesInRange(file, range, (line) => {
    if (line.length <= MAX_PROMPT_BYTES && getRecordType(line) === 'user') {
      const textChars = (line.length - MOST_HEAD_BYTES) / MOST_BYTES_PER_CHAR;
      prompts.push({ offset: bytes, leastChars: Math.max(LEAST_MESSAGE_CHARS, textChars) });
    }
    bytes += line.length + 1;
  });
  const omittedBytes = Math.max(0, bytes - mostBytes);
  let chars = 0;
  const oldest = prompts.findLast(({ offset, leastChars }) => {
    if (offset < omittedBytes) chars += leastChars;
    return chars > MAX_PROMPTS_CHARS;
  });
  return { omittedBytes, promptsFrom: oldest?.offset ?? 0 };
}

/** Drops the conversation records before the last rewind whose target was omitted. */
export function dropBeforeLostRewind(records: readonly SessionRecord[]): readonly SessionRecord[] {
  let state = EMPTY_CONVERSATION;
  let lostRewind = -1;
  for (const [index, record] of records.entries()) {
    state = reduceConversation({ ...state, incomplete: false }, record);
    if (state.incomplete) lostRewind = index;
  }
  return records.filter((record, index) => index > lostRewind || !CONVERSATION_TYPES.has(record.type));
}

/** Accepts settings and other small records, typed prompts, and tombstones, which withdraw messages. */
function isSmallRecord(line: Buffer, isPromptKept: boolean): boolean {
  const type = getRecordType(line);
  if (type === 'user') return isPromptKept && line.length <= MAX_PROMPT_BYTES && !line.includes('"results":[');
  return type === 'tombstone' || !CONVERSATION_TYPES.has(type);
}

/** Returns the newest prompts before the tail, a note about the omitted part, and the tail. */
function omitMiddle(
  records: readonly SessionRecord[],
  { tail: tailIndex, bytes }: { readonly tail: number; readonly bytes: number },
): readonly SessionRecord[] {
  let remaining = MAX_PROMPTS_CHARS;
  const before = records
    .slice(0, tailIndex)
    .toReversed()
    .filter((record) => {
      if (record.type !== 'user') return true;
      remaining -= JSON.stringify(record.message).length;
      return remaining >= 0;
    })
    .toReversed();
  return [...before, ...startAtPrompt(records.slice(tailIndex), bytes)];
}

/** Starts at the first prompt, or else at the first complete reply: results before it have lost their calls. */
function startAtPrompt(records: readonly SessionRecord[], bytes: number): readonly SessionRecord[] {
  const prompt = records.findIndex((record) => record.type === 'user' && record.results === undefined);
  const reply = records.findIndex((record) => record.type === 'assistant' && record.index === 0);
  const start = prompt === -1 ? reply : prompt;
  const firstKept = start === -1 ? records.length : start;
  const [head] = records;
  if (head === undefined) return records;
  const { v, parentUuid, sessionId, timestamp, cwd, version } = head;
  const text = `<reminder>This conversation is too long to be sent: of its first ${formatBytes(bytes)} only what the user typed stands above, without answers, calls and results. What follows is its end.</reminder>`;
  const note: SessionRecord = {
    ...{ v, uuid: `left-out-${bytes}`, parentUuid, sessionId, timestamp, cwd, version, type: 'user' as const },
    message: { role: 'user', id: `left-out-${bytes}`, origin: 'resume', blocks: [{ type: 'text', text }] },
  };
  return [note, ...records.filter((record, index) => index >= firstKept || !CONVERSATION_TYPES.has(record.type))];
}

/** Returns the type of a line, whose version and type come first; empty for any other line. */
function getRecordType(line: Buffer): string {
  return /^\{"v":1,"type":"([\w-]+)"/.exec(line.toString('latin1', 0, TYPE_BYTES))?.[1] ?? '';
}

function startsWith(line: Buffer, start: Buffer): boolean {
  return line.length >= start.length && line.compare(start, 0, start.length, 0, start.length) === 0;
}
