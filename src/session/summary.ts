import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import { basename } from 'node:path';
import type { SessionRecord } from '../contracts/session.ts';
import { isReminder } from '../lib/is-reminder.ts';
import { readRecords } from './read-records.ts';

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
};

/** How much of each end of a file a summary looks at. */
const HEAD_BYTES = 8_192;
const TAIL_BYTES = 16_384;
const TITLE_CHARS = 80;
const FIRST_PROMPT_CHARS = 500;

/**
 * What a session is about, from the two ends of its file. Undefined when nobody ever said anything in it.
 * Synchronous on purpose: for thousands of small reads the waiting would cost ten times the reading.
 */
export function summarizeSession(path: string): SessionSummary | undefined {
  const peeked = peek(path);
  if (peeked === undefined) return undefined;
  const { head, tail, bytes, modifiedMs } = peeked;
  const firstPrompt = firstWords(head);
  if (firstPrompt === undefined) return undefined;
  return {
    id: basename(path, '.jsonl'),
    path,
    title: lastTitle(tail) ?? lastTitle(head) ?? firstPrompt.slice(0, TITLE_CHARS),
    firstPrompt,
    cwd: field(head, 'cwd') ?? '',
    gitBranch: field(head, 'gitBranch'),
    modifiedMs,
    bytes,
  };
}

type Peek = { readonly head: string; readonly tail: string; readonly bytes: number; readonly modifiedMs: number };

function peek(path: string): Peek | undefined {
  let file: number | undefined;
  try {
    file = openSync(path, 'r');
    const { size, mtimeMs } = fstatSync(file);
    const buffer = Buffer.allocUnsafe(HEAD_BYTES + TAIL_BYTES);
    // A small file is read in one go; of a big one the two ends.
    if (size <= buffer.length) {
      const all = buffer.toString('utf8', 0, readSync(file, buffer, 0, buffer.length, 0));
      return { head: all, tail: all, bytes: size, modifiedMs: mtimeMs };
    }
    const head = buffer.toString('utf8', 0, readSync(file, buffer, 0, HEAD_BYTES, 0));
    const tail = buffer.toString('utf8', 0, readSync(file, buffer, 0, TAIL_BYTES, size - TAIL_BYTES));
    return { head, tail, bytes: size, modifiedMs: mtimeMs };
  } catch {
    // Gone or unreadable since it was listed: then it is not in the list.
    return undefined;
  } finally {
    if (file !== undefined) closeSync(file);
  }
}

const USER_LINE = /"type":"user"/;

function firstWords(head: string): string | undefined {
  for (const line of head.split('\n')) {
    if (!USER_LINE.test(line)) continue;
    const [record] = readRecords(line).records;
    const words = record === undefined ? tornWords(line) : wordsOf(record);
    if (words !== undefined) return words.replaceAll(/\s+/g, ' ').trim().slice(0, FIRST_PROMPT_CHARS);
  }
  return undefined;
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

function lastTitle(text: string): string | undefined {
  const at = text.lastIndexOf('"type":"title"');
  if (at === -1) return undefined;
  const start = text.lastIndexOf('\n', at) + 1;
  const end = text.indexOf('\n', at);
  const [record] = readRecords(text.slice(start, end === -1 ? undefined : end)).records;
  return record?.type === 'title' ? record.title : undefined;
}

function field(head: string, name: 'cwd' | 'gitBranch'): string | undefined {
  const [, escaped] = new RegExp(`"${name}":"((?:[^"\\\\]|\\\\.)*)"`).exec(head) ?? [];
  return escaped === undefined ? undefined : unescapeText(escaped);
}
