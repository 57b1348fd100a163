import { open } from 'node:fs/promises';
import type { SessionRecord } from '../../contracts/session.ts';
import { eachLine } from '../../lib/files/jsonl.ts';
import { readRecords } from '../records/read-records.ts';
import type { SessionSummary } from './summary.ts';

/** A place where the words were found. */
export type SearchHit = {
  readonly session: SessionSummary;
  readonly role: 'user' | 'assistant';
  readonly excerpt: string;
  readonly at: string;
};

const HITS_PER_SESSION = 3;
const AROUND_CHARS = 60;

/** Looks through prompts and answers, session after session as given; finds upper and lower case alike. */
export async function* searchSessions(
  sessions: readonly SessionSummary[],
  words: string,
  signal: AbortSignal,
): AsyncGenerator<SearchHit, void> {
  const needle = words.trim().toLowerCase();
  if (needle === '') return;
  for (const session of sessions) {
    if (signal.aborted) return;
    yield* await hitsIn(session, needle);
  }
}

async function hitsIn(session: SessionSummary, needle: string): Promise<readonly SearchHit[]> {
  const hits: SearchHit[] = [];
  // As it stands in the file; a line without it need not be parsed.
  const escaped = JSON.stringify(needle).slice(1, -1);
  const file = await open(session.path, 'r').catch(() => undefined);
  if (file === undefined) return hits;
  try {
    const { size } = await file.stat();
    await eachLine(file, { from: 0, to: size }, (line) => {
      if (hits.length >= HITS_PER_SESSION || !mayHoldWords(line)) return;
      const text = line.toString('utf8');
      if (!text.toLowerCase().includes(escaped)) return;
      for (const record of readRecords(text).records) {
        const hit = hitIn(record, needle);
        if (hit !== undefined) hits.push({ ...hit, session });
      }
    });
  } finally {
    await file.close();
  }
  return hits;
}

const USER = Buffer.from('{"v":1,"type":"user"');
const ASSISTANT = Buffer.from('{"v":1,"type":"assistant"');

function mayHoldWords(line: Buffer): boolean {
  return [USER, ASSISTANT].some((start) => line.subarray(0, start.length).equals(start));
}

function hitIn(record: SessionRecord, needle: string): Omit<SearchHit, 'session'> | undefined {
  const words = spokenWords(record);
  const at = words?.text.toLowerCase().indexOf(needle) ?? -1;
  if (words === undefined || at === -1) return undefined;
  const from = Math.max(0, at - AROUND_CHARS);
  const to = at + needle.length + AROUND_CHARS;
  const excerpt = words.text.slice(from, to).toWellFormed().replaceAll(/\s+/g, ' ');
  const ends = { start: from > 0 ? '…' : '', end: to < words.text.length ? '…' : '' };
  return { role: words.role, excerpt: `${ends.start}${excerpt}${ends.end}`, at: record.timestamp };
}

function spokenWords(
  record: SessionRecord,
): { readonly role: 'user' | 'assistant'; readonly text: string } | undefined {
  if (record.type === 'assistant') {
    return record.block.type === 'text' ? { role: 'assistant', text: record.block.text } : undefined;
  }
  if (record.type !== 'user') return undefined;
  const texts = record.message.blocks.flatMap((block) => (block.type === 'text' ? [block.text] : []));
  return { role: 'user', text: texts.join('\n') };
}
