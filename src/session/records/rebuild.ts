import type { QueuedMessage } from '../../contracts/event.ts';
import type { AssistantBlock, Message, ToolResultBlock } from '../../contracts/message.ts';
import type { CheckpointEntry, RecordBody, SessionRecord } from '../../contracts/session.ts';
import { emptyKept, type Kept, keepState } from '../kept-state.ts';
import { cutBefore } from './cut-before.ts';

/** A conversation as its records tell it. */
export type Rebuilt = {
  readonly messages: readonly Message[];
  readonly lastUuid: string | null;
  readonly title: string | undefined;
  readonly titleRecord: Extract<RecordBody, { type: 'title' }> | undefined;
  /** The newest `system` record of each subtype. */
  readonly state: ReadonlyMap<string, SessionRecord>;
  /** What a resume puts back: model, mode, todos, rules granted for the session, the rendered prompt. */
  readonly kept: Kept;
  readonly checkpoints: readonly CheckpointEntry[];
  /** Calls that were complete and never got a result, with when they were made. */
  readonly dangling: readonly Dangling[];
  /** Commands that had not ended, by their process group. */
  readonly running: ReadonlyMap<number, string>;
  /** Messages that were queued and never delivered. */
  readonly queued: readonly QueuedMessage[];
  /** The conversation went back to a message that stands before the last boundary: read the whole file. */
  readonly incomplete: boolean;
};

export type Dangling = { readonly callId: string; readonly tool: string; readonly at: string };

type Open = { readonly id: string; readonly model: string; readonly at: string; readonly blocks: AssistantBlock[] };

export const LOST_RESULT =
  'The session ended before this call had a result: it was interrupted; it may or may not have run.';

/** Every user message, completed block and completed result exactly once, whatever moment the process ended at. */
export function rebuild(records: readonly SessionRecord[]): Rebuilt {
  const rebuilding = createRebuilding();
  for (const record of records) rebuilding.add(record);
  return rebuilding.done();
}

/** The same record by record: how the conversation stood at any moment. */
export type Rebuilding = {
  add(record: SessionRecord): void;
  /** What had joined by now; a reply that is still being written has not. */
  messages(): readonly Message[];
  kept(): Kept;
  done(): Rebuilt;
};

export function createRebuilding(): Rebuilding {
  let messages: Message[] = [];
  let open: Open | undefined;
  let title: Rebuilt['titleRecord'];
  let kept = emptyKept();
  let incomplete = false;
  let lastUuid: string | null = null;
  const results = new Map<string, ToolResultBlock>();
  const state = new Map<string, SessionRecord>();
  const queued = new Map<string, QueuedMessage>();
  const dangling = new Map<string, Dangling>();
  const checkpoints: CheckpointEntry[] = [];
  const running = new Map<number, string>();
  /** Conversations that a boundary replaced, for going back before it. */
  const replaced: Message[][] = [];

  /** Some providers count calls from zero in every turn: a result is used up by the message that carries it. */
  function takeResult(callId: string): ToolResultBlock | undefined {
    const result = results.get(callId);
    results.delete(callId);
    return result;
  }

  /** A reply that never joined: the process ended within its turn. Its complete blocks count, its calls get what they have. */
  function closeOpen(): void {
    if (open === undefined) return;
    const { id, model, at, blocks } = open;
    open = undefined;
    if (blocks.length === 0) return;
    messages.push({ role: 'assistant', id, model, blocks });
    const calls = blocks.filter((block) => block.type === 'tool_use');
    if (calls.length === 0) return;
    const answers = calls.map((call) => {
      const result = takeResult(call.id);
      if (result === undefined) dangling.set(call.id, { callId: call.id, tool: call.name, at });
      return result ?? lost(call.id);
    });
    messages.push({ role: 'user', id: `${id}-results`, origin: 'results', blocks: answers });
  }

  /** A reply joined and its results never did. */
  function closeAtEnd(): void {
    closeOpen();
    const last = messages.at(-1);
    if (last?.role !== 'assistant' || !last.blocks.some((block) => block.type === 'tool_use')) return;
    messages = messages.slice(0, -1);
    open = { id: last.id, model: last.model, at: last.at ?? '', blocks: [...last.blocks] };
    closeOpen();
    const at = messages.findIndex((message) => message.id === last.id);
    messages[at] = last;
  }

  function add(record: SessionRecord): void {
    lastUuid = record.uuid;
    switch (record.type) {
      case 'assistant':
        if (open?.id !== record.messageId) {
          closeOpen();
          open = { id: record.messageId, model: record.model, at: record.timestamp, blocks: [] };
        }
        open.blocks.push(record.block);
        break;
      case 'reply': {
        const blocks = open?.id === record.messageId ? open.blocks : [];
        const { messageId, model, kept: keptBlocks, stopReason, usage } = record;
        messages.push({
          role: 'assistant',
          id: messageId,
          model,
          blocks: keptBlocks.flatMap((at) => blocks[at] ?? []),
          at: record.timestamp,
          ...(stopReason && { stopReason }),
          ...(usage && { usage }),
        });
        open = undefined;
        break;
      }
      case 'result':
        results.set(record.callId, record.result);
        break;
      case 'user': {
        const { message, results: ids = [] } = record;
        queued.delete(message.id);
        if (ids.length === 0) closeAtEnd();
        else closeOpen();
        const answers = ids.map((id) => takeResult(id) ?? lost(id));
        messages.push(answers.length === 0 ? message : { ...message, blocks: [...answers, ...message.blocks] });
        break;
      }
      case 'tombstone':
        if (open?.id === record.messageId) open = undefined;
        messages = messages.filter((message) => message.id !== record.messageId);
        break;
      case 'compact-boundary':
        closeOpen();
        replaced.push(messages);
        incomplete = false;
        messages = [...record.messages];
        break;
      case 'title':
        title = { type: 'title', title: record.title, by: record.by };
        break;
      case 'queue':
        // Delivered is not there yet: it may have been on its way when the process ended.
        if (record.state === 'queued') queued.set(record.item.id, record.item);
        else if (record.state !== 'delivered') queued.delete(record.item.id);
        break;
      case 'child':
        if (record.phase === 'started') running.set(record.pgid, String(record.detail.command ?? ''));
        else running.delete(record.pgid);
        break;
      case 'checkpoint':
        checkpoints.push(record.checkpoint);
        break;
      case 'system': {
        state.set(record.subtype, record);
        if (record.subtype !== 'rewind') break;
        closeOpen();
        const cut = cutBefore(String(record.data.messageId), [messages, ...replaced.toReversed()]);
        if (cut === undefined) incomplete = true;
        else messages = [...cut];
        break;
      }
      default:
    }
    kept = keepState(kept, record);
  }

  function done(): Rebuilt {
    closeAtEnd();
    return {
      messages,
      lastUuid,
      title: title?.title,
      titleRecord: title,
      state,
      kept,
      checkpoints,
      dangling: [...dangling.values()],
      running,
      queued: [...queued.values()],
      incomplete,
    };
  }

  return { add, messages: () => messages, kept: () => kept, done };
}

function lost(callId: string): ToolResultBlock {
  return { type: 'tool_result', tool_use_id: callId, content: LOST_RESULT, is_error: true };
}
