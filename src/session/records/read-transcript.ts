import { type FileHandle, open } from 'node:fs/promises';
import { devNull } from 'node:os';
import type { SessionRecord } from '../../contracts/session.ts';
import { ignoreMissingFile } from '../../lib/errors.ts';
import { type ByteRange, findLastByteSequence, readLinesInRange } from '../../lib/files/read-lines.ts';
import { readUnsavedLines } from '../unsaved-lines.ts';
import { CONVERSATION_TYPES, MAX_PROMPTS_CHARS, omitMiddle } from './omit-middle.ts';
import { createSessionRecordParser, type ParsedRecords, type RecordDamageCounts } from './parse-session-records.ts';

/** Every line starts with its version and type, so the last boundary is found by a byte search. */
const BOUNDARY = Buffer.from('\n{"v":1,"type":"compact-boundary"');

/** Enough of a line to hold its id. */
const HEAD_BYTES = 200;

/** Enough of a line to hold the longest of these types. */
const TYPE_BYTES = 40;

/** Larger than any request can be (some 30 MB): older parts of the conversation could not be sent anyway. */
const MAX_BYTES = 50_000_000;
/** Longer prompts before the kept end are omitted. */
const MAX_PROMPT_BYTES = 8_000;
/** A message without its text, and a line with a long folder without the message. */
const MIN_MESSAGE_CHARS = 60;
const MAX_HEAD_BYTES = 5_000;
const MAX_BYTES_PER_CHAR = 3;

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

type RecentOptions = { readonly maxBytes?: number };

/**
 * Reads the records a resume needs: everything from the last boundary on, and the small records before it (titles,
 * settings, checkpoints). `all` starts at the first line. Of a conversation too long to be sent, reads the end and the
 * prompts typed before it.
 */
export async function readRecentSessionRecords(
  path: string,
  range: 'all' | 'from-boundary',
  { maxBytes = MAX_BYTES }: RecentOptions = {},
): Promise<RecentSessionRecords> {
  const unsaved = readUnsavedLines(path);
  await using file = await openSessionFile(path, unsaved);
  const { size } = await file.stat();
  const boundary = range === 'all' ? 0 : (await findLastByteSequence(file, size, BOUNDARY)) + 1;
  const { read, isTrusted } = await readFromBoundary(file, { boundary, size, maxBytes, unsaved });
  // Without a valid boundary, the records before it are needed.
  return isTrusted ? read : (await readFromBoundary(file, { boundary: 0, size, maxBytes, unsaved })).read;
}

type ReadRequest = Required<RecentOptions> & {
  readonly boundary: number;
  readonly size: number;
  readonly unsaved: readonly string[];
};

/** Reads from a boundary on. It is not trusted if its record is invalid, or repeats the id of an earlier boundary. */
async function readFromBoundary(
  file: FileHandle,
  { boundary, size, maxBytes, unsaved }: ReadRequest,
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
  const plan = await planTail(file, { from: boundary, to: size }, maxBytes);
  let bytesAfterBoundary = 0;
  let tailIndex: number | undefined;
  await readLinesInRange(file, { from: boundary, to: size }, (line) => {
    const part = classifyLine(line, bytesAfterBoundary, plan);
    if (part === 'tail') tailIndex ??= records.length;
    // The boundary itself is read in any case, to check it.
    const isBoundary = boundary > 0 && bytesAfterBoundary === 0;
    if (part !== 'skip' || isBoundary) readLine(line);
    bytesAfterBoundary += line.length + 1;
  });
  for (const line of unsaved) reader.readLine(line);
  const counts = reader.finish();
  const first = records[smallCount];
  const isTrusted =
    boundary === 0 ||
    (first?.type === 'compact-boundary' && !earlierBoundaries.some((head) => head.includes(first.uuid)));
  const { omittedBytes } = plan;
  const result =
    omittedBytes === 0 ? records : omitMiddle(records, { tail: tailIndex ?? records.length, bytes: omittedBytes });
  return { read: { records: result, omittedBytes, ...counts }, isTrusted };
}

/** The offsets, counted from the boundary, at which the tail begins and the prompts to keep before it. */
type TailPlan = { readonly omittedBytes: number; readonly promptsStartAt: number };

/**
 * Returns the part of a session to which a line belongs: the tail, the small records before it (settings, and
 * tombstones, which withdraw messages), the typed prompts before it, or what is omitted.
 */
function classifyLine(line: Buffer, at: number, plan: TailPlan): 'tail' | 'small' | 'prompt' | 'skip' {
  if (at >= plan.omittedBytes) return 'tail';
  const type = getRecordType(line);
  if (type === 'tombstone' || !CONVERSATION_TYPES.has(type)) return 'small';
  const isPrompt = type === 'user' && line.length <= MAX_PROMPT_BYTES && !line.includes('"results":[');
  return isPrompt && at >= plan.promptsStartAt ? 'prompt' : 'skip';
}

/** Plans a tail of at most `maxBytes`, without counting runs of NUL bytes, and the prompts to keep before it. */
async function planTail(file: FileHandle, range: ByteRange, maxBytes: number): Promise<TailPlan> {
  if (range.to - range.from <= maxBytes) return { omittedBytes: 0, promptsStartAt: 0 };
  const prompts: { readonly offset: number; readonly minChars: number }[] = [];
  let bytes = 0;
  await readLinesInRange(file, range, (line) => {
    if (line.length <= MAX_PROMPT_BYTES && getRecordType(line) === 'user') {
      const textChars = (line.length - MAX_HEAD_BYTES) / MAX_BYTES_PER_CHAR;
      prompts.push({ offset: bytes, minChars: Math.max(MIN_MESSAGE_CHARS, textChars) });
    }
    bytes += line.length + 1;
  });
  const omittedBytes = Math.max(0, bytes - maxBytes);
  let chars = 0;
  const oldest = prompts.findLast(({ offset, minChars }) => {
    if (offset < omittedBytes) chars += minChars;
    return chars > MAX_PROMPTS_CHARS;
  });
  return { omittedBytes, promptsStartAt: oldest?.offset ?? 0 };
}

/** Returns the type of a line, whose version and type come first; empty for any other line. */
function getRecordType(line: Buffer): string {
  return /^\{"v":1,"type":"([\w-]+)"/.exec(line.toString('latin1', 0, TYPE_BYTES))?.[1] ?? '';
}

function startsWith(line: Buffer, start: Buffer): boolean {
  return line.length >= start.length && line.compare(start, 0, start.length, 0, start.length) === 0;
}
