import { closeSync, constants, fsyncSync, openSync, writeFileSync } from 'node:fs';
import { copyFile, open, rename, rm } from 'node:fs/promises';
import type { AssistantBlock, UserMessage } from '../../contracts/message.ts';
import type { SessionRecord } from '../../contracts/session.ts';
import { errnoOf } from '../../lib/files/errno.ts';
import {
  closeConversation,
  danglingCalls,
  EMPTY_CONVERSATION,
  messagesOf,
  nextConversation,
  withNewest,
} from '../records/conversation-state.ts';
import { eachRecord } from '../records/read-transcript.ts';
import { claimedBy } from '../running/claim.ts';
import type { SessionSummary } from './summary.ts';

/** What is wrong with a session file, in numbers and in a sentence. */
export type CheckReport = {
  readonly id: string;
  readonly path: string;
  readonly records: number;
  readonly messages: number;
  readonly damaged: number;
  readonly salvaged: number;
  readonly doubled: number;
  readonly dangling: number;
  readonly words: string;
};

const RECORDS_HELD = 50_000;
const MESSAGES_HELD = 10_000;

/** Reads a session as a resume would and counts what is not as it should be. */
export async function checkSession(session: Pick<SessionSummary, 'id' | 'path'>): Promise<CheckReport> {
  let records = 0;
  let conversation = EMPTY_CONVERSATION;
  let older = 0;
  const { damaged, salvaged, doubled } = await eachRecord(session.path, (record) => {
    records += 1;
    conversation = nextConversation(conversation, withoutWords(record));
    if (records % RECORDS_HELD !== 0) return;
    // However long the file is: nobody goes back further than this.
    const { state, left } = withNewest(conversation, MESSAGES_HELD);
    conversation = state;
    older += left;
  });
  const closed = closeConversation(conversation);
  const dangling = danglingCalls(closed).length;
  const messages = older + messagesOf(closed).length;
  const counts = { damaged, salvaged, doubled, dangling };
  const found = [
    ...(damaged > 0 ? [`${damaged} unreadable lines`] : []),
    ...(salvaged > 0 ? [`${salvaged} lines that had to be taken apart`] : []),
    ...(doubled > 0 ? [`${doubled} doubled lines`] : []),
    ...((await endsClean(session.path)) ? [] : ['a last line without its end']),
    ...(dangling > 0 ? [`${dangling} calls without a result`] : []),
  ];
  const words = found.length === 0 ? 'sound' : found.join(', ');
  return { id: session.id, path: session.path, records, messages, ...counts, words };
}

const NO_WORDS: AssistantBlock = { type: 'text', text: '' };
const NOTHING: readonly [] = [];

/** Of a record what shows whether a conversation is whole: who says something, and which calls are answered. */
function withoutWords(record: SessionRecord): SessionRecord {
  switch (record.type) {
    case 'user':
      return { ...record, message: shellOf(record.message) };
    case 'assistant':
      return { ...record, timestamp: '', model: '', block: shell(record.block) };
    case 'reply': {
      const { usage, stopReason, ...rest } = record;
      return { ...rest, timestamp: '', model: '' };
    }
    case 'result':
      return { ...record, result: { type: 'tool_result', tool_use_id: record.callId, content: '' } };
    case 'compact-boundary':
      return {
        ...record,
        messages: record.messages.map((message) => (message.role === 'user' ? shellOf(message) : message)),
      };
    default:
      return record;
  }
}

function shellOf({ id, origin }: UserMessage): UserMessage {
  return { role: 'user', id, origin, blocks: NOTHING };
}

function shell(block: AssistantBlock): AssistantBlock {
  return block.type === 'tool_use' ? { ...block, input: {} } : NO_WORDS;
}

async function endsClean(path: string): Promise<boolean> {
  await using file = await open(path, 'r');
  const { size } = await file.stat();
  const { buffer, bytesRead } = await file.read(Buffer.alloc(1), 0, 1, Math.max(0, size - 1));
  return bytesRead === 0 || buffer[0] === 0x0a;
}

export type Repair = { readonly ok: true; readonly backup: string } | { readonly ok: false; readonly why: string };

/** Writes the file anew with every record that can be read; the damaged one stays beside it. */
export async function repairSession(session: Pick<SessionSummary, 'path'>): Promise<Repair> {
  const holder = await claimedBy(session.path);
  if (holder !== undefined) return { ok: false, why: `It is open in process ${holder.pid}. Close it there first.` };
  const backup = await keepCopy(session.path);
  const draft = `${session.path}.repaired`;
  try {
    await writeSound(session.path, draft);
    await rename(draft, session.path);
  } catch (thrown) {
    await rm(draft, { force: true });
    throw thrown;
  }
  return { ok: true, backup };
}

const BATCH_CHARS = 1_000_000;

/** Every record that can be read, one at a time: a file may be larger than memory. */
async function writeSound(from: string, to: string): Promise<void> {
  await rm(to, { force: true });
  const file = openSync(to, 'wx', 0o600);
  let text = '';
  const write = () => {
    writeFileSync(file, text);
    text = '';
  };
  try {
    await eachRecord(from, (record) => {
      text += `${JSON.stringify(record)}\n`;
      if (text.length > BATCH_CHARS) write();
    });
    write();
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}

/** An earlier copy holds what the present file has lost already: it is never written over. */
async function keepCopy(path: string): Promise<string> {
  for (let next = 1; ; next += 1) {
    const copy = `${path}.damaged${next === 1 ? '' : `-${next}`}`;
    try {
      await copyFile(path, copy, constants.COPYFILE_EXCL);
      return copy;
    } catch (thrown) {
      if (errnoOf(thrown) !== 'EEXIST') throw thrown;
    }
  }
}
