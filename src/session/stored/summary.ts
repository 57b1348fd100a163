import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import { basename } from 'node:path';
import type { SessionRecord, Worked } from '../../contracts/session.ts';
import { isReminder } from '../../lib/text/is-reminder.ts';
import { readRecords } from '../records/read-records.ts';

/** One stored session, as pickers and lists show it. */
export type SessionSummary = {
  readonly id: string;
  readonly path: string;
  readonly title: string;
  readonly firstPrompt: string;
  readonly cwd: string;
  readonly gitBranch: string | undefined;
  readonly modifiedMs: number;
  readonly bytes: number;
  /** As far as the end of the file tells. */
  readonly worked: Worked | undefined;
};

/** How much of each end of a file a summary looks at. */
const HEAD_BYTES = 8_192;
const TAIL_BYTES = 16_384;
const TITLE_CHARS = 80;
const FIRST_PROMPT_CHARS = 500;

/** What the ends of one file are read into; one does for a whole list. */
export const summaryScratch = (): Buffer => Buffer.allocUnsafe(HEAD_BYTES + TAIL_BYTES);

/**
 * What a session is about, from the two ends of its file. Undefined when nobody ever said anything in it.
 * Synchronous on purpose: for thousands of small reads the waiting would cost ten times the reading.
 */
export function summarizeSession(path: string, scratch: Buffer = summaryScratch()): SessionSummary | undefined {
  const peeked = peek(path, scratch);
  if (peeked === undefined) return undefined;
  const { head, tail, bytes, modifiedMs } = peeked;
  const start = head.toString('utf8');
  const firstPrompt = firstWords(start) ?? wordsAtEnd(tail);
  if (firstPrompt === undefined) return undefined;
  const title = lastTitle(tail) ?? lastTitle(head) ?? firstPrompt.slice(0, TITLE_CHARS);
  return {
    id: basename(path, '.jsonl'),
    path,
    title: title === '' ? '(no words)' : title,
    firstPrompt,
    cwd: field(start, CWD) ?? field(tail.toString('utf8'), CWD) ?? '',
    gitBranch: field(start, BRANCH),
    modifiedMs,
    bytes,
    worked: lastWorked(tail),
  };
}

/** The two ends of a file; of a small one all of it, twice. */
export type Peek = {
  readonly head: Buffer;
  readonly tail: Buffer;
  readonly bytes: number;
  readonly modifiedMs: number;
};

/** Reads the ends of a file; `undefined` when it is gone or cannot be read. */
export function peek(path: string, scratch: Buffer): Peek | undefined {
  let file: number | undefined;
  try {
    file = openSync(path, 'r');
    const { size, mtimeMs } = fstatSync(file);
    const at = { bytes: size, modifiedMs: mtimeMs };
    // A small file is read in one go; of a big one the two ends.
    if (size <= scratch.length) {
      const all = scratch.subarray(0, readSync(file, scratch, 0, scratch.length, 0));
      return { head: all, tail: all, ...at };
    }
    const head = scratch.subarray(0, readSync(file, scratch, 0, HEAD_BYTES, 0));
    const read = readSync(file, scratch, HEAD_BYTES, TAIL_BYTES, size - TAIL_BYTES);
    return { head, tail: scratch.subarray(HEAD_BYTES, HEAD_BYTES + read), ...at };
  } catch {
    // Gone or unreadable since it was listed: then it is not in the list.
    return undefined;
  } finally {
    if (file !== undefined) closeSync(file);
  }
}

const USER_LINE = /"type":"user"/;

function firstWords(head: string): string | undefined {
  for (let from = 0; from < head.length; ) {
    const newline = head.indexOf('\n', from);
    const line = head.slice(from, newline === -1 ? undefined : newline);
    from += line.length + 1;
    if (!USER_LINE.test(line)) continue;
    const [record] = readRecords(line).records;
    const words = record === undefined ? tornWords(line) : wordsOf(record);
    if (words !== undefined) return words.replaceAll(/\s+/g, ' ').trim().slice(0, FIRST_PROMPT_CHARS);
  }
  return undefined;
}

const SAID = /^\{"v":\d+,"type":"(?:user|assistant|result|reply)"/m;

/** The beginning is damaged, or holds no prompt: a session in which something happened is found nevertheless. */
function wordsAtEnd(tail: Buffer): string | undefined {
  const end = tail.toString('utf8');
  return firstWords(end) ?? (SAID.test(end) ? '' : undefined);
}

/** The first prompt is longer than what was read of the file. */
function tornWords(line: string): string | undefined {
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

function wordsOf(record: SessionRecord): string | undefined {
  if (record.type !== 'user' || record.message.origin === 'results') return undefined;
  return record.message.blocks
    .flatMap((block) => (block.type === 'text' && !isReminder(block.text) ? [block.text] : []))
    .join(' ');
}

const TITLE = Buffer.from('"type":"title"');
const NEWLINE = 0x0a;

/** Looked for in the bytes: most files have none, and decoding them would cost more than everything else. */
function lastTitle(bytes: Buffer): string | undefined {
  const at = bytes.lastIndexOf(TITLE);
  if (at === -1) return undefined;
  const start = bytes.lastIndexOf(NEWLINE, at) + 1;
  const end = bytes.indexOf(NEWLINE, at);
  const [record] = readRecords(bytes.toString('utf8', start, end === -1 ? undefined : end)).records;
  return record?.type === 'title' ? record.title : undefined;
}

const WORKED = Buffer.from('"worked":{');
const WORKED_FIELDS = /^"worked":\{"turns":(\d+),"added":(\d+),"removed":(\d+)\}/;

/** Counted after every prompt. In words that somebody said or read it would stand with its quotes escaped. */
function lastWorked(tail: Buffer): Worked | undefined {
  const at = tail.lastIndexOf(WORKED);
  const [, turns, added, removed] = WORKED_FIELDS.exec(tail.toString('latin1', at, at + 100)) ?? [];
  return at === -1 || turns === undefined
    ? undefined
    : { turns: Number(turns), added: Number(added), removed: Number(removed) };
}

const CWD = /"cwd":"((?:[^"\\]|\\.)*)"/;
const BRANCH = /"gitBranch":"((?:[^"\\]|\\.)*)"/;

function field(head: string, name: RegExp): string | undefined {
  const [, escaped] = name.exec(head) ?? [];
  return escaped === undefined ? undefined : unescapeText(escaped);
}
