import type { QueuedMessage } from '../../contracts/event.ts';
import type { JsonObject } from '../../contracts/json.ts';
import type { Message } from '../../contracts/message.ts';
import type { CheckpointEntry, RecordBody, SessionRecord } from '../../contracts/session.ts';
import { type HeadState, NO_HEAD, nextHead } from '../request-head.ts';
import {
  closeConversation,
  type Dangling,
  danglingCalls,
  EMPTY_CONVERSATION,
  messagesOf,
  nextConversation,
} from './conversation-state.ts';

/** A session as its records tell it. */
export type Rebuilt = {
  readonly messages: readonly Message[];
  readonly lastUuid: string | null;
  readonly title: Extract<RecordBody, { type: 'title' }> | undefined;
  /** Settings of the session, the newest value of each. As written: whoever restores them checks them. */
  readonly live: JsonObject;
  readonly requestHead: HeadState;
  readonly checkpoints: readonly CheckpointEntry[];
  /** What the context pipeline decided, in order and as written. */
  readonly context: readonly JsonObject[];
  readonly dangling: readonly Dangling[];
  /** Commands that had not ended, by their process group. */
  readonly running: ReadonlyMap<number, string>;
  /** Messages that were queued and never delivered. */
  readonly queued: readonly QueuedMessage[];
  /** The conversation went back to a message that stands before the last boundary: read the whole file. */
  readonly incomplete: boolean;
};

/** Every user message, completed block and completed result exactly once, whatever moment the process ended at. */
export function rebuild(records: readonly SessionRecord[]): Rebuilt {
  const conversation = closeConversation(records.reduce(nextConversation, EMPTY_CONVERSATION));
  return {
    messages: messagesOf(conversation),
    lastUuid: records.at(-1)?.uuid ?? null,
    title: titleOf(records),
    live: liveOf(records),
    requestHead: records.reduce(nextHead, NO_HEAD),
    checkpoints: records.flatMap((record) => (record.type === 'checkpoint' ? [record.checkpoint] : [])),
    context: records.flatMap((record) =>
      record.type === 'system' && record.subtype === 'context' ? [record.data] : [],
    ),
    dangling: danglingCalls(conversation),
    running: runningOf(records),
    queued: queuedOf(records),
    incomplete: conversation.incomplete,
  };
}

function titleOf(records: readonly SessionRecord[]): Rebuilt['title'] {
  const last = records.findLast((record) => record.type === 'title');
  return last && { type: 'title', title: last.title, by: last.by };
}

function liveOf(records: readonly SessionRecord[]): JsonObject {
  const changes = records.flatMap((record): readonly JsonObject[] => {
    if (record.type !== 'system') return [];
    if (record.subtype === 'mode') return [{ mode: record.data.mode }];
    return record.subtype === 'live' ? [record.data] : [];
  });
  return Object.assign({}, ...changes);
}

function runningOf(records: readonly SessionRecord[]): ReadonlyMap<number, string> {
  const running = new Map<number, string>();
  for (const record of records) {
    if (record.type !== 'child') continue;
    if (record.phase === 'started') running.set(record.pgid, String(record.detail.command ?? ''));
    else running.delete(record.pgid);
  }
  return running;
}

function queuedOf(records: readonly SessionRecord[]): readonly QueuedMessage[] {
  const queued = new Map<string, QueuedMessage>();
  for (const record of records) {
    if (record.type === 'user') queued.delete(record.message.id);
    if (record.type !== 'queue') continue;
    if (record.state === 'queued') queued.set(record.item.id, record.item);
    // Delivered is not there yet: it may have been on its way when the process ended.
    else if (record.state !== 'delivered') queued.delete(record.item.id);
  }
  return [...queued.values()];
}
