import { basename } from 'node:path';
import { getUserPromptText } from '../../context/compaction/kept-messages.ts';
import type { SessionRecord, SessionWorkTotals } from '../../contracts/session.ts';
import { parseSessionRecords } from '../records/parse-session-records.ts';
import { findUnsavedFiles, listUnsavedFolders } from '../unsaved-lines.ts';
import { createFileEndsBuffer, type FileEnds, readFileEnds } from './file-ends.ts';

/** The file of a stored session. */
export type SessionFile = Pick<SessionSummary, 'id' | 'path'>;

/** The summary of a stored session, as shown in lists and pickers. */
export type SessionSummary = {
  readonly id: string;
  readonly path: string;
  readonly title: string;
  readonly firstPrompt: string;
  readonly cwd: string;
  readonly gitBranch: string | undefined;
  readonly modifiedMs: number;
  readonly bytes: number;
  /** Taken from the end of the file; absent when it is not found there. */
  readonly worked: SessionWorkTotals | undefined;
  /** Taken from the end of the file; absent when it is not found there. */
  readonly spentUsd: number | undefined;
};

const TITLE_CHARS = 80;
const FIRST_PROMPT_CHARS = 500;

/**
 * Summarizes a session from the two ends of its file; `undefined` when it has no messages. Synchronous on purpose: for
 * thousands of small reads, asynchronous calls would cost ten times the reading. One list of `unsavedFolders` serves a
 * whole list of sessions.
 */
export function readSessionSummary(
  path: string,
  scratch: Buffer = createFileEndsBuffer(),
  unsavedFolders: readonly string[] = listUnsavedFolders(),
): SessionSummary | undefined {
  const ends = readSessionEnds(path, scratch, unsavedFolders);
  if (ends === undefined) return undefined;
  const { head, tail, bytes, modifiedMs } = ends;
  const start = head.toString('utf8');
  const firstPrompt = findFirstPrompt(start) ?? findPromptAtEnd(tail);
  if (firstPrompt === undefined) return undefined;
  const title = findLastTitle(tail) ?? findLastTitle(head) ?? firstPrompt.slice(0, TITLE_CHARS);
  return {
    id: basename(path, '.jsonl'),
    path,
    title: title === '' ? '(no text)' : title,
    firstPrompt,
    cwd: extractField(start, CWD) ?? extractField(tail.toString('utf8'), CWD) ?? '',
    gitBranch: extractField(start, BRANCH),
    modifiedMs,
    bytes,
    worked: findLastWorked(tail),
    spentUsd: findLastSpent(tail),
  };
}

/** Reads the two ends of a session, to which lines belong that could not be written to its file. */
function readSessionEnds(path: string, scratch: Buffer, unsavedFolders: readonly string[]): FileEnds | undefined {
  const unsaved = findUnsavedFiles(path, unsavedFolders);
  if (unsaved.length === 0) return readFileEnds(path, scratch);
  const [first, ...rest] = [path, ...unsaved].flatMap((file) => readFileEnds(file, createFileEndsBuffer()) ?? []);
  return rest.reduce<FileEnds | undefined>(
    (one, other) =>
      one && {
        head: joinLines(one.head, other.head),
        tail: joinLines(one.tail, other.tail),
        bytes: one.bytes + other.bytes,
        modifiedMs: Math.max(one.modifiedMs, other.modifiedMs),
      },
    first,
  );
}

const joinLines = (one: Buffer, other: Buffer) => Buffer.concat([one, Buffer.from('\n'), other]);

const USER_LINE = /"type":"user"/;

function findFirstPrompt(head: string): string | undefined {
  for (let from = 0; from < head.length; ) {
    const newline = head.indexOf('\n', from);
    const line = head.slice(from, newline === -1 ? undefined : newline);
    from += line.length + 1;
    if (!USER_LINE.test(line)) continue;
    const [record] = parseSessionRecords(line).records;
    // A damaged line is no prompt, one that is longer than the part read is.
    const text = record !== undefined ? getPromptText(record) : newline === -1 ? extractTornText(line) : undefined;
    if (text !== undefined) return text.replaceAll(/\s+/g, ' ').trim().slice(0, FIRST_PROMPT_CHARS);
  }
  return undefined;
}

/** Finds a prompt near the end, or an empty text if there is other content: a damaged session is still listed. */
function findPromptAtEnd(tail: Buffer): string | undefined {
  const end = tail.toString('utf8');
  return findFirstPrompt(end) ?? (parseSessionRecords(end).records.some(isConversationRecord) ? '' : undefined);
}

/** Returns whether a record holds a part of the conversation. */
export function isConversationRecord({ type }: SessionRecord): boolean {
  return ['user', 'assistant', 'reply', 'result', 'compact-boundary'].includes(type);
}

/** Extracts the text from a prompt record that is longer than the part read of the file. */
function extractTornText(line: string): string | undefined {
  const [, escaped] = /"text":"((?:[^"\\]|\\.)*)/.exec(line) ?? [];
  return escaped === undefined ? undefined : unescapeText(escaped);
}

function unescapeText(escaped: string): string | undefined {
  try {
    return JSON.parse(`"${escaped}"`);
  } catch {
    return undefined;
  }
}

function getPromptText(record: SessionRecord): string | undefined {
  if (record.type !== 'user' || record.message.origin === 'results') return undefined;
  return getUserPromptText(record.message);
}

const TITLE = Buffer.from('"type":"title"');
const NEWLINE = 0x0a;

/** Finds the last title by a byte search: most files have none, and decoding them all would dominate the cost. */
function findLastTitle(bytes: Buffer): string | undefined {
  const index = bytes.lastIndexOf(TITLE);
  if (index === -1) return undefined;
  const start = bytes.lastIndexOf(NEWLINE, index) + 1;
  const end = bytes.indexOf(NEWLINE, index);
  const [record] = parseSessionRecords(bytes.toString('utf8', start, end === -1 ? undefined : end)).records;
  return record?.type === 'title' ? record.title : undefined;
}

const WORKED = Buffer.from('"worked":{');
const WORKED_FIELDS = /^"worked":\{"turns":(\d+),"added":(\d+),"removed":(\d+)\}/;

/** Finds the last turn counts. Inside a message text the quotes would be escaped, so the bytes cannot match there. */
function findLastWorked(tail: Buffer): SessionWorkTotals | undefined {
  const index = tail.lastIndexOf(WORKED);
  const [, turns, added, removed] = WORKED_FIELDS.exec(tail.toString('latin1', index, index + 100)) ?? [];
  return index === -1 || turns === undefined
    ? undefined
    : { turns: Number(turns), added: Number(added), removed: Number(removed) };
}

const SPENT = Buffer.from('"spentUsd":');

/** Finds the last cost by a byte search, like the turn counts. */
function findLastSpent(tail: Buffer): number | undefined {
  const index = tail.lastIndexOf(SPENT);
  const [, spent] = /^"spentUsd":([\d.e+-]+)/.exec(tail.toString('latin1', index, index + 50)) ?? [];
  return index === -1 || spent === undefined ? undefined : Number(spent);
}

const CWD = /"cwd":"((?:[^"\\]|\\.)*)"/;
const BRANCH = /"gitBranch":"((?:[^"\\]|\\.)*)"/;

function extractField(head: string, name: RegExp): string | undefined {
  const [, escaped] = name.exec(head) ?? [];
  return escaped === undefined ? undefined : unescapeText(escaped);
}
