import { joinTextBlocks } from '../../contracts/message.ts';
import type { SessionRecord } from '../../contracts/session.ts';
import { parseSessionRecords } from '../records/parse-session-records.ts';
import { forEachSessionLine } from '../records/read-transcript.ts';
import type { SessionSummary } from './session-summary.ts';

/** A match in a session. */
export type SessionSearchHit = {
  readonly session: SessionSummary;
  readonly role: 'user' | 'assistant';
  readonly excerpt: string;
  readonly at: string;
};

const HITS_PER_SESSION = 3;
const CONTEXT_CHARS = 60;

/** Searches prompts and replies of sessions in the given order, ignoring case. */
export async function* searchSessions(
  sessions: readonly SessionSummary[],
  text: string,
  signal: AbortSignal,
): AsyncGenerator<SessionSearchHit, void> {
  const needle = text.trim().toLowerCase();
  if (needle === '') return;
  for (const session of sessions) {
    if (signal.aborted) return;
    yield* await searchSession(session, needle);
  }
}

async function searchSession(session: SessionSummary, needle: string): Promise<readonly SessionSearchHit[]> {
  const hits: SessionSearchHit[] = [];
  // The needle as it is escaped in the file: lines without it need no parsing.
  const escaped = JSON.stringify(needle).slice(1, -1);
  const search = (line: Buffer) => {
    if (hits.length >= HITS_PER_SESSION || !isMessageLine(line)) return;
    const text = line.toString('utf8');
    if (!text.toLowerCase().includes(escaped)) return;
    for (const record of parseSessionRecords(text).records) {
      const hit = matchRecord(record, needle);
      if (hit !== undefined) hits.push({ ...hit, session });
    }
  };
  // Deleted since it was listed, or not readable.
  await forEachSessionLine(session.path, search).catch(() => undefined);
  return hits;
}

const USER = Buffer.from('{"v":1,"type":"user"');
const ASSISTANT = Buffer.from('{"v":1,"type":"assistant"');

function isMessageLine(line: Buffer): boolean {
  return [USER, ASSISTANT].some((start) => line.subarray(0, start.length).equals(start));
}

function matchRecord(record: SessionRecord, needle: string): Omit<SessionSearchHit, 'session'> | undefined {
  const message = getMessage(record);
  const index = message?.text.toLowerCase().indexOf(needle) ?? -1;
  if (message === undefined || index === -1) return undefined;
  const from = Math.max(0, index - CONTEXT_CHARS);
  const to = index + needle.length + CONTEXT_CHARS;
  const excerpt = message.text.slice(from, to).toWellFormed().replaceAll(/\s+/g, ' ');
  const ends = { start: from > 0 ? '…' : '', end: to < message.text.length ? '…' : '' };
  return { role: message.role, excerpt: `${ends.start}${excerpt}${ends.end}`, at: record.timestamp };
}

function getMessage(record: SessionRecord): { readonly role: 'user' | 'assistant'; readonly text: string } | undefined {
  if (record.type === 'assistant') {
    return record.block.type === 'text' ? { role: 'assistant', text: record.block.text } : undefined;
  }
  if (record.type !== 'user') return undefined;
  return { role: 'user', text: joinTextBlocks(record.message.blocks, '\n') };
}
