import { rm, stat } from 'node:fs/promises';
import { basename } from 'node:path';
import type { SessionRecord } from '../../contracts/session.ts';
import { getErrorPhrase } from '../../lib/errors.ts';
import { findSessionLockHolder, getSessionLockPath } from '../process-locks.ts';
import { forEachSessionRecord } from '../records/read-transcript.ts';
import { createFileEndsBuffer, readFileEnds } from './file-ends.ts';
import { isConversationRecord, readSessionSummary, type SessionSummary } from './session-summary.ts';

/** A session file in which no message is readable, with the reason. */
export type DamagedSession = Pick<SessionSummary, 'id' | 'path' | 'title' | 'bytes' | 'modifiedMs'> & {
  /** The predicate of a sentence about the session. */
  readonly problem: string;
};

/** The problem of a file without any readable message. */
export const NO_MESSAGES = 'is damaged: none of its messages is readable';

/** The content of a session file. It is empty until the first prompt is written, also if a kill interrupts that. */
export type InspectedSession =
  | { readonly state: 'readable'; readonly session: SessionSummary }
  | { readonly state: 'damaged'; readonly session: DamagedSession }
  | { readonly state: 'empty' };

/** Inspects a session file; reads all of it if there is no message at its ends. */
export async function inspectSession(path: string): Promise<InspectedSession> {
  const summary = readSessionSummary(path);
  if (summary !== undefined) return { state: 'readable', session: summary };
  const stats = await stat(path).catch(() => undefined);
  if (stats?.isFile() !== true || stats.size === 0 || isUnfinishedStart(path)) return { state: 'empty' };
  const file = { id: basename(path, '.jsonl'), path, bytes: stats.size, modifiedMs: stats.mtimeMs };
  try {
    return await inspectAllRecords(file);
  } catch (thrown) {
    return {
      state: 'damaged',
      session: { ...file, title: 'not readable', problem: `cannot be read: ${getErrorPhrase(thrown)}` },
    };
  }
}

/** Describes the problem for the user, with the command that shows more. */
export function describeDamagedSession(
  { id, problem }: Pick<DamagedSession, 'id' | 'problem'>,
  subject = `Session ${id}`,
): string {
  return `${subject} ${problem}. Run "ouro sessions check ${id}".`;
}

/** Returns whether a file holds no more than the start of its first line, as a kill leaves it. */
function isUnfinishedStart(path: string): boolean {
  const ends = readFileEnds(path, createFileEndsBuffer());
  return ends !== undefined && ends.head === ends.tail && !ends.head.includes('\n') && ends.head.indexOf('{"v":') === 0;
}

type SessionFile = Pick<SessionSummary, 'id' | 'path' | 'bytes' | 'modifiedMs'>;

async function inspectAllRecords(file: SessionFile): Promise<InspectedSession> {
  let first: SessionRecord | undefined;
  let title: string | undefined;
  let count = 0;
  const { damaged } = await forEachSessionRecord(file.path, (record) => {
    count += 1;
    if (isConversationRecord(record)) first ??= record;
    if (record.type === 'title') title = record.title;
  });
  if (first !== undefined) {
    const { cwd, gitBranch } = first;
    const facts = { firstPrompt: '', cwd, gitBranch, worked: undefined, spentUsd: undefined };
    return { state: 'readable', session: { ...file, ...facts, title: title ?? '(no text)' } };
  }
  // A session that was never prompted has other records.
  if (count > 0 && damaged === 0) return { state: 'empty' };
  return { state: 'damaged', session: { ...file, title: 'damaged', problem: NO_MESSAGES } };
}

const MIN_AGE_MS = 60_000;

/** Deletes an empty session file and its lock, as a kill on a full disk leaves them. */
export async function deleteEmptySession(path: string, nowMs = Date.now()): Promise<void> {
  const stats = await stat(path).catch(() => undefined);
  if (stats?.isFile() !== true || stats.size > 0 || nowMs - stats.mtimeMs < MIN_AGE_MS) return;
  if ((await findSessionLockHolder(path)) !== undefined) return;
  // A folder that is not writable keeps them.
  for (const file of [path, getSessionLockPath(path)]) await rm(file, { force: true }).catch(() => undefined);
}
