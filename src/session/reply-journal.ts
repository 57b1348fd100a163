import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { z } from 'zod';
import type { AgentEvent } from '../contracts/event.ts';
import type { UserMessage } from '../contracts/message.ts';
import type { SessionRecord, SessionRecordBody } from '../contracts/session.ts';
import { getReplyJournalPath } from './paths.ts';

const storedSchema = z.object({ messageId: z.string(), model: z.string(), index: z.number(), text: z.string() });

/** Text of an unfinished block, with its reply and the number of complete blocks before it. */
type UnfinishedText = z.infer<typeof storedSchema>;

/** Saves the text of the reply being streamed, so that it survives a killed process. */
type ReplyJournal = {
  /** Resolves at once for deltas; at the end of a reply once the saved text is removed from disk. */
  onEvent(event: AgentEvent): Promise<void>;
};

type ReplyJournalOptions = {
  readonly dir: string;
  readonly sessionId: string;
  /** Text an earlier run may have left on disk; removed at the end of the first reply. */
  readonly leftover: 'nothing' | 'words';
  readonly removeKeys?: ((text: string) => string) | undefined;
  /** Schedules a save; by default a timer. */
  readonly schedule?: (save: () => void) => void;
};

/** A killed process loses at most the text of this interval. */
const SAVE_INTERVAL_MS = 300;

/** Creates the journal: one small file per session, which exists only while a block is unfinished. */
export function createReplyJournal({
  dir,
  sessionId,
  leftover,
  removeKeys = (text) => text,
  schedule = scheduleSave,
}: ReplyJournalOptions): ReplyJournal {
  const path = getReplyJournalPath(dir, sessionId);
  let reply: Reply | undefined;
  let isDue = false;
  let pendingWork = Promise.resolve();
  let onDisk = leftover;

  async function save(): Promise<void> {
    const unfinished = getUnfinishedText(reply);
    if (unfinished === undefined) return;
    onDisk = 'words';
    await mkdir(dirname(path), { recursive: true, mode: 0o700 });
    await writeFile(`${path}.tmp`, removeKeys(JSON.stringify(unfinished)), { mode: 0o600 });
    await rename(`${path}.tmp`, path);
  }

  // A failed save must not stop the reply; the session file reports a full disk.
  const enqueue = (step: () => Promise<void>) => {
    pendingWork = pendingWork.then(step).catch(() => undefined);
    return pendingWork;
  };

  return {
    async onEvent(event) {
      reply = reduceReply(reply, event);
      if (event.type === 'message_update' && event.kind === 'text' && !isDue) {
        isDue = true;
        schedule(() => {
          isDue = false;
          void enqueue(save);
        });
      }
      if (!isReplyEnd(event) || onDisk === 'nothing') return;
      await enqueue(async () => {
        onDisk = 'nothing';
        await rm(path, { force: true });
      });
    },
  };
}

/** Reads the unfinished text that a killed run left. */
export async function readUnfinishedReplyText(dir: string, sessionId: string): Promise<UnfinishedText | undefined> {
  const text = await readFile(getReplyJournalPath(dir, sessionId), 'utf8').catch(() => undefined);
  if (text === undefined) return undefined;
  try {
    return storedSchema.safeParse(JSON.parse(text)).data;
  } catch {
    return undefined;
  }
}

type Reply = UnfinishedText & { readonly blockIndex: number | undefined };

function reduceReply(reply: Reply | undefined, event: AgentEvent): Reply | undefined {
  switch (event.type) {
    case 'message_start':
      if (event.role !== 'assistant') return reply;
      return { messageId: event.messageId, model: event.model, index: 0, text: '', blockIndex: undefined };
    case 'message_update': {
      if (reply === undefined || event.kind !== 'text' || event.messageId !== reply.messageId) return reply;
      const before = reply.blockIndex === event.index ? reply.text : '';
      return { ...reply, blockIndex: event.index, text: before + event.delta };
    }
    case 'block_end': {
      if (reply === undefined) return undefined;
      const cleared = reply.blockIndex === event.index ? { text: '', blockIndex: undefined } : {};
      return { ...reply, index: reply.index + 1, ...cleared };
    }
    default:
      return isReplyEnd(event) ? undefined : reply;
  }
}

function isReplyEnd({ type }: AgentEvent): boolean {
  return type === 'tombstone' || type === 'turn_end' || type === 'agent_end';
}

function getUnfinishedText(reply: Reply | undefined): UnfinishedText | undefined {
  if (reply === undefined || reply.text.trim() === '') return undefined;
  const { blockIndex: _, ...unfinished } = reply;
  return unfinished;
}

function scheduleSave(save: () => void): void {
  setTimeout(save, SAVE_INTERVAL_MS).unref();
}

/** The reply that was being written when a run was killed. */
type InterruptedReply = {
  /** The records, followed by the unfinished text as a block. */
  readonly records: readonly SessionRecord[];
  /** Record of that block; must be written before any other record. */
  readonly block: Extract<SessionRecordBody, { type: 'assistant' }>;
  /** Message that tells the model about the cut, placed after the results of its calls. */
  readonly notice: UserMessage;
};

const CUT_NOTICE = '[The session ended here, in the middle of your reply. The user has seen at most what stands here.]';

/** Restores the unfinished text of a reply; `undefined` unless the session ends within that reply. */
export function restoreInterruptedReply(
  records: readonly SessionRecord[],
  unfinished: UnfinishedText | undefined,
  newId: () => string,
): InterruptedReply | undefined {
  const last = records.at(-1);
  if (unfinished === undefined || last === undefined || !endsWithUnfinishedText(records, unfinished)) return undefined;
  const { messageId, model, index, text } = unfinished;
  const block = { type: 'assistant', messageId, model, index, block: { type: 'text', text, cut: true } } as const;
  const { v, uuid, parentUuid, sessionId, timestamp, cwd, version } = last;
  return {
    records: [...records, { v, uuid, parentUuid, sessionId, timestamp, cwd, version, ...block }],
    block,
    notice: { role: 'user', id: newId(), origin: 'interrupt', blocks: [{ type: 'text', text: CUT_NOTICE }] },
  };
}

function endsWithUnfinishedText(records: readonly SessionRecord[], { messageId, index }: UnfinishedText): boolean {
  const conversation = records.flatMap((record) =>
    record.type === 'assistant' || record.type === 'reply' || record.type === 'user' || record.type === 'tombstone'
      ? [record]
      : [],
  );
  const hasEnded = conversation.some(
    (record) => (record.type === 'reply' || record.type === 'tombstone') && record.messageId === messageId,
  );
  const blocks = conversation.filter((record) => record.type === 'assistant' && record.messageId === messageId).length;
  const last = conversation.at(-1);
  const isDirectlyAfter = last?.type === 'user' || (last?.type === 'assistant' && last.messageId === messageId);
  return !hasEnded && blocks === index && (isDirectlyAfter || last?.type === 'tombstone');
}
