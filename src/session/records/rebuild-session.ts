import type { QueuedMessage } from '../../contracts/event.ts';
import type { JsonObject } from '../../contracts/json.ts';
import type { Message, ToolResultBlock } from '../../contracts/message.ts';
import type { CheckpointEntry, SessionRecord, SessionRecordBody } from '../../contracts/session.ts';
import { INITIAL_REQUEST_HEAD_STATE, type RequestHeadState, reduceRequestHead } from '../request-head.ts';
import {
  closeInterruptedConversation,
  type DanglingCall,
  EMPTY_CONVERSATION,
  LOST_TOOL_RESULT,
  listConversationMessages,
  listDanglingCalls,
  reduceConversation,
} from './conversation-state.ts';
import { readTranscript } from './read-transcript.ts';

/** A session as its records tell it. */
export type RebuiltSession = {
  readonly messages: readonly Message[];
  readonly lastUuid: string | null;
  readonly title: Extract<SessionRecordBody, { type: 'title' }> | undefined;
  /** Newest value of every session setting, unvalidated. */
  readonly liveSettings: JsonObject;
  readonly requestHead: RequestHeadState;
  readonly checkpoints: readonly CheckpointEntry[];
  /** Recorded decisions of the context reduction, in order and unparsed. */
  readonly context: readonly JsonObject[];
  readonly dangling: readonly DanglingCall[];
  /** Commands that had not ended, by process group. */
  readonly runningCommands: ReadonlyMap<number, string>;
  /** Messages that were queued and never delivered. */
  readonly queued: readonly QueuedMessage[];
  /** True after a rewind to a message before the last boundary: the whole file has to be read. */
  readonly incomplete: boolean;
};

/** Rebuilds a session: every user message, complete block and result exactly once, whenever the process ended. */
export function rebuildSession(records: readonly SessionRecord[]): RebuiltSession {
  const conversation = closeInterruptedConversation(records.reduce(reduceConversation, EMPTY_CONVERSATION));
  return {
    messages: listConversationMessages(conversation),
    lastUuid: records.at(-1)?.uuid ?? null,
    title: findTitle(records),
    liveSettings: mergeLiveSettings(records),
    requestHead: records.reduce(reduceRequestHead, INITIAL_REQUEST_HEAD_STATE),
    checkpoints: records.flatMap((record) => (record.type === 'checkpoint' ? [record.checkpoint] : [])),
    context: records.flatMap((record) =>
      record.type === 'system' && record.subtype === 'context' ? [record.data] : [],
    ),
    dangling: listDanglingCalls(conversation),
    runningCommands: collectRunningCommands(records),
    queued: collectQueuedMessages(records),
    incomplete: conversation.incomplete,
  };
}

function findTitle(records: readonly SessionRecord[]): RebuiltSession['title'] {
  const last = records.findLast((record) => record.type === 'title');
  return last && { type: 'title', title: last.title, by: last.by };
}

/** Returns the newest value of every session setting, unvalidated. */
export function mergeLiveSettings(records: readonly SessionRecord[]): JsonObject {
  // Records of mode events only tell what happened.
  const changes = records.flatMap((record) =>
    record.type === 'system' && record.subtype === 'live' ? [record.data] : [],
  );
  // Object.assign would take a key `__proto__`, which no seal covers, for the prototype.
  return Object.fromEntries(changes.flatMap((change) => Object.entries(change)));
}

function collectRunningCommands(records: readonly SessionRecord[]): ReadonlyMap<number, string> {
  const running = new Map<number, string>();
  for (const record of records) {
    if (record.type !== 'child') continue;
    if (record.phase === 'started') running.set(record.pgid, String(record.detail.command ?? ''));
    else running.delete(record.pgid);
  }
  return running;
}

function collectQueuedMessages(records: readonly SessionRecord[]): readonly QueuedMessage[] {
  const queued = new Map<string, QueuedMessage>();
  for (const record of records) {
    if (record.type === 'user') queued.delete(record.message.id);
    if (record.type !== 'queue') continue;
    if (record.state === 'queued') queued.set(record.item.id, record.item);
    // A delivered message stays queued until its user record exists: the process may have ended in between.
    else if (record.state === 'completed' || record.state === 'removed') queued.delete(record.item.id);
  }
  return [...queued.values()];
}

const MAX_NAMED_FILES = 20;

/** Completes the results of interrupted calls with the files changed since then; also returns the records to append. */
export async function completeDanglingCalls(
  rebuilt: RebuiltSession,
  changedSince: (timestamp: string) => Promise<readonly string[]>,
): Promise<{ readonly messages: readonly Message[]; readonly records: readonly SessionRecordBody[] }> {
  const { messages, dangling } = rebuilt;
  // Only the calls of the last reply can be completed: earlier results have already been sent.
  const last = messages.at(-1);
  const unanswered = dangling.filter(({ callId }) => last?.role === 'user' && hasResult(last.blocks, callId));
  const [first] = unanswered;
  if (first === undefined || last?.role !== 'user') return { messages, records: [] };
  const content = `${LOST_TOOL_RESULT} ${describeChangedFiles(await changedSince(first.at))}`;
  const results = unanswered.map(({ callId, tool }) => ({ tool, result: createLostResult(callId, content) }));
  const answers = new Map(results.map(({ result }) => [result.tool_use_id, result]));
  const blocks = last.blocks.map((block) =>
    block.type === 'tool_result' ? (answers.get(block.tool_use_id) ?? block) : block,
  );
  return {
    messages: [...messages.slice(0, -1), { ...last, blocks }],
    records: results.map(({ tool, result }) => ({
      type: 'result',
      callId: result.tool_use_id,
      tool,
      result,
      status: 'interrupted',
      durationMs: 0,
    })),
  };
}

function hasResult(blocks: readonly { readonly type: string }[], callId: string): boolean {
  return blocks.some((block) => 'tool_use_id' in block && block.tool_use_id === callId);
}

function createLostResult(callId: string, content: string): ToolResultBlock {
  return { type: 'tool_result', tool_use_id: callId, content, is_error: true };
}

function describeChangedFiles(files: readonly string[]): string {
  if (files.length === 0) return 'No file of the workspace has changed since the call.';
  const more = files.length > MAX_NAMED_FILES ? ` and ${files.length - MAX_NAMED_FILES} more` : '';
  return `Files that changed since the call: ${files.slice(0, MAX_NAMED_FILES).join(', ')}${more}.`;
}

/** Rebuilds the conversation before its last compaction from the session file, followed by the messages added since. */
export async function rebuildBeforeCompaction(
  path: string | undefined,
  messages: readonly Message[],
): Promise<readonly Message[] | undefined> {
  const transcript = path === undefined ? undefined : await readTranscript(path).catch(() => undefined);
  let conversation = EMPTY_CONVERSATION;
  let lastCompaction: { readonly before: readonly Message[]; readonly after: readonly Message[] } | undefined;
  for (const record of transcript?.records ?? []) {
    if (record.type === 'compact-boundary') {
      const before = listConversationMessages(conversation);
      // A boundary without a new summary comes from /clear or from an undone compaction.
      lastCompaction = hasNewSummary(before, record.messages) ? { before, after: record.messages } : undefined;
    }
    conversation = reduceConversation(conversation, record);
  }
  if (lastCompaction === undefined) return undefined;
  const { before, after } = lastCompaction;
  const isContinuation = after.every((message, index) => messages[index]?.id === message.id);
  return isContinuation ? [...before, ...messages.slice(after.length)] : undefined;
}

function hasNewSummary(before: readonly Message[], after: readonly Message[]): boolean {
  const known = new Set(before.map(({ id }) => id));
  return after.some((message) => message.role === 'user' && message.origin === 'summary' && !known.has(message.id));
}
