import { closeSync, constants, existsSync, fsyncSync, openSync, writeFileSync } from 'node:fs';
import { copyFile, open, rename, rm } from 'node:fs/promises';
import type { AssistantBlock, UserMessage } from '../../contracts/message.ts';
import type { SessionRecord } from '../../contracts/session.ts';
import { getErrnoCode, getErrorPhrase } from '../../lib/errors.ts';
import { findSessionLockHolder } from '../process-locks.ts';
import {
  closeInterruptedConversation,
  EMPTY_CONVERSATION,
  keepNewestMessages,
  listConversationMessages,
  listDanglingCalls,
  reduceConversation,
} from '../records/conversation-state.ts';
import { forEachSessionRecord } from '../records/read-transcript.ts';
import { findUnsavedFiles, listUnsavedFolders } from '../unsaved-lines.ts';
import { restoreUnsavedSession } from './restore-unsaved-sessions.ts';
import type { SessionFile, SessionSummary } from './session-summary.ts';

/** The damage found in a session file, as counts and as a summary. */
export type SessionDamageReport = {
  readonly id: string;
  readonly path: string;
  readonly records: number;
  readonly messages: number;
  readonly damaged: number;
  readonly salvaged: number;
  readonly doubled: number;
  readonly dangling: number;
  readonly state: 'sound' | 'damaged';
  readonly words: string;
};

const RECORDS_PER_TRIM = 50_000;
const MAX_MESSAGES = 10_000;

/** Checks a session: reads it as a resume would and counts the damage. */
export async function checkSession(session: SessionFile): Promise<SessionDamageReport> {
  const { id, path } = session;
  try {
    return await countDamage(session);
  } catch (thrown) {
    const words = `not readable: ${getErrorPhrase(thrown)}`;
    return {
      id,
      path,
      records: 0,
      messages: 0,
      damaged: 0,
      salvaged: 0,
      doubled: 0,
      dangling: 0,
      state: 'damaged',
      words,
    };
  }
}

async function countDamage(session: SessionFile): Promise<SessionDamageReport> {
  let records = 0;
  let conversation = EMPTY_CONVERSATION;
  let olderCount = 0;
  const { damaged, salvaged, doubled } = await forEachSessionRecord(session.path, (record) => {
    records += 1;
    conversation = reduceConversation(conversation, stripContent(record));
    if (records % RECORDS_PER_TRIM !== 0) return;
    // Bounds memory for very long files; older messages only need to be counted.
    const { state, left: dropped } = keepNewestMessages(conversation, MAX_MESSAGES);
    conversation = state;
    olderCount += dropped;
  });
  const closed = closeInterruptedConversation(conversation);
  const dangling = listDanglingCalls(closed).length;
  const messages = olderCount + listConversationMessages(closed).length;
  const counts = { damaged, salvaged, doubled, dangling };
  const problems = [
    ...(damaged > 0 ? [`${damaged} unreadable lines`] : []),
    ...(salvaged > 0 ? [`${salvaged} salvaged lines`] : []),
    ...(doubled > 0 ? [`${doubled} doubled lines`] : []),
    ...((await endsWithNewline(session.path)) ? [] : ['no newline at the end of the file']),
    ...(dangling > 0 ? [`${dangling} calls without a result`] : []),
  ];
  const state = problems.length === 0 ? 'sound' : 'damaged';
  const unsaved = findUnsavedFiles(session.path, listUnsavedFolders()).map((path) => `not saved yet: ${path}`);
  const words = [problems.length === 0 ? state : problems.join(', '), ...unsaved].join('; ');
  return { id: session.id, path: session.path, records, messages, ...counts, state, words };
}

const EMPTY_TEXT: AssistantBlock = { type: 'text', text: '' };
const NO_BLOCKS: readonly [] = [];

/** Strips the content of a record; message ids, roles and call ids are enough to check a conversation. */
function stripContent(record: SessionRecord): SessionRecord {
  switch (record.type) {
    case 'user':
      return { ...record, message: stripUserMessage(record.message) };
    case 'assistant':
      return { ...record, timestamp: '', model: '', block: stripBlock(record.block) };
    case 'reply': {
      const { usage, stopReason, ...rest } = record;
      return { ...rest, timestamp: '', model: '' };
    }
    case 'result':
      return { ...record, result: { type: 'tool_result', tool_use_id: record.callId, content: '' } };
    case 'compact-boundary':
      return {
        ...record,
        messages: record.messages.map((message) => (message.role === 'user' ? stripUserMessage(message) : message)),
      };
    default:
      return record;
  }
}

function stripUserMessage({ id, origin }: UserMessage): UserMessage {
  return { role: 'user', id, origin, blocks: NO_BLOCKS };
}

function stripBlock(block: AssistantBlock): AssistantBlock {
  return block.type === 'tool_use' ? { ...block, input: {} } : EMPTY_TEXT;
}

async function endsWithNewline(path: string): Promise<boolean> {
  // It could not be created yet.
  if (!existsSync(path)) return true;
  await using file = await open(path, 'r');
  const { size } = await file.stat();
  const { buffer, bytesRead } = await file.read(Buffer.alloc(1), 0, 1, Math.max(0, size - 1));
  return bytesRead === 0 || buffer[0] === 0x0a;
}

/** The path of the backup, or the reason the repair was refused. */
export type SessionRepairResult =
  | { readonly ok: true; readonly backup: string }
  | { readonly ok: false; readonly problem: string };

/** Repairs a session file: rewrites it from every readable record and keeps the damaged file as a backup. */
export async function repairSession(session: Pick<SessionSummary, 'path'>): Promise<SessionRepairResult> {
  const holder = await findSessionLockHolder(session.path);
  if (holder !== undefined)
    return { ok: false, problem: `The session is open in process ${holder.pid}. Close it there first.` };
  if ((await restoreUnsavedSession(session.path)) === 'refused')
    return { ok: false, problem: 'The disk does not take it. Free some space or check the permissions of its folder.' };
  const temporaryPath = `${session.path}.repaired`;
  try {
    const backup = await createBackup(session.path);
    const count = await copyReadableRecords(session.path, temporaryPath);
    await rename(temporaryPath, session.path);
    // An empty file would take the place of the session.
    if (count === 0) await rm(session.path);
    return { ok: true, backup };
  } catch (thrown) {
    await rm(temporaryPath, { force: true }).catch(() => undefined);
    return { ok: false, problem: `${getErrorPhrase(thrown)}.` };
  }
}

const BATCH_CHARS = 1_000_000;

/** Copies every readable record in batches and returns their number: a file may be larger than memory. */
async function copyReadableRecords(from: string, to: string): Promise<number> {
  await rm(to, { force: true });
  const file = openSync(to, 'wx', 0o600);
  let text = '';
  let count = 0;
  const write = () => {
    writeFileSync(file, text);
    text = '';
  };
  try {
    await forEachSessionRecord(from, (record) => {
      text += `${JSON.stringify(record)}\n`;
      count += 1;
      if (text.length > BATCH_CHARS) write();
    });
    write();
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
  return count;
}

/** Copies a file under a free name; earlier backups may hold data the file has lost, so none is overwritten. */
async function createBackup(path: string): Promise<string> {
  for (let next = 1; ; next += 1) {
    const copy = `${path}.damaged${next === 1 ? '' : `-${next}`}`;
    try {
      await copyFile(path, copy, constants.COPYFILE_EXCL);
      return copy;
    } catch (thrown) {
      if (getErrnoCode(thrown) === 'EEXIST') continue;
      await rm(copy, { force: true }).catch(() => undefined);
      throw thrown;
    }
  }
}
