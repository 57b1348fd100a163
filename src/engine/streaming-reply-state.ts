import type { AgentEvent } from '../contracts/event.ts';
import type { AssistantBlock, AssistantMessage, Message, ToolUseBlock, Usage } from '../contracts/message.ts';
import type { ModelEvent, ModelOutcome } from '../contracts/model.ts';
import { exhaustive } from '../lib/errors.ts';
import type { ReplyOutcome } from './model-turn-result.ts';
import { normalizeMessageBlock } from './request/rejected-parts.ts';

/** State of a reply while it streams. */
export type StreamingReplyState = {
  readonly model: string;
  readonly messageId: string;
  /** True once `message_start` was emitted. */
  readonly isShown: boolean;
  readonly received: ReceivedBlocks;
  /** The text block that is still streaming. */
  readonly openText: { readonly index: number; readonly text: string } | undefined;
  /** Complete calls that were not taken yet. */
  readonly calls: readonly ToolUseBlock[];
  readonly usage: Usage | undefined;
  readonly firstTokenMs: number | undefined;
  /** Ids of earlier attempts that were shown and then discarded. */
  readonly discardedIds: readonly string[];
};

/** The blocks of a reply. They are appended in place, because a reply can have thousands of calls. */
type ReceivedBlocks = { readonly blocks: AssistantBlock[]; readonly calls: Map<string, ToolUseBlock[]> };

/** Context for reducing a reply. */
type ReplyContext = {
  readonly history: readonly Message[];
  readonly newId: () => string;
  readonly elapsedMs: () => number;
};

/** Creates the state of a reply before its first event. */
export function createStreamingReplyState(model: string): StreamingReplyState {
  return {
    model,
    messageId: '',
    isShown: false,
    received: { blocks: [], calls: new Map() },
    openText: undefined,
    calls: [],
    usage: undefined,
    firstTokenMs: undefined,
    discardedIds: [],
  };
}

type ReplyStep = { readonly reply: StreamingReplyState; readonly events: readonly AgentEvent[] };

/** Applies an event of the model port: returns the new state and the agent events it causes. */
export function reduceStreamingReply(previous: StreamingReplyState, event: ModelEvent, facts: ReplyContext): ReplyStep {
  const isFirst = previous.firstTokenMs === undefined && event.type === 'block_start';
  const reply = isFirst ? { ...previous, firstTokenMs: facts.elapsedMs() } : previous;
  const { model, messageId, firstTokenMs } = reply;
  switch (event.type) {
    case 'request_sent':
      return emitOne(reply, { type: 'request_sent', attempt: event.attempt, model });
    case 'message_start': {
      const { usage } = event;
      const id = ensureUniqueMessageId(event.messageId, reply.discardedIds, facts);
      const started: StreamingReplyState = { ...reply, messageId: id, usage, isShown: true };
      return emitOne(started, { type: 'message_start', messageId: id, role: 'assistant', model, usage });
    }
    case 'block_start': {
      const { index, kind, name } = event;
      return emitOne(reply, { type: 'block_start', messageId, index, kind, ...(name === undefined ? {} : { name }) });
    }
    case 'text_delta': {
      const { index, text: delta } = event;
      const openText = reply.openText?.index === index ? reply.openText.text : '';
      const updated: StreamingReplyState = { ...reply, openText: { index, text: openText + delta } };
      return emitOne(updated, { type: 'message_update', messageId, index, kind: 'text', delta });
    }
    case 'thinking_delta':
      return emitOne(reply, {
        type: 'message_update',
        messageId,
        index: event.index,
        kind: 'thinking',
        delta: event.text,
      });
    case 'input_delta':
      return emitOne(reply, {
        type: 'message_update',
        messageId,
        index: event.index,
        kind: 'input',
        delta: event.json,
      });
    case 'block_end':
      return endBlock(reply, event.index, event.block, facts);
    case 'raw':
      return emitOne(reply, {
        type: 'stream_event',
        event: event.event,
        ...(firstTokenMs === undefined ? {} : { firstTokenMs }),
      });
    case 'discarded': {
      const reason = 'The stream was interrupted; retrying.';
      const discardedIds = [...reply.discardedIds, messageId];
      return {
        reply: { ...createStreamingReplyState(model), usage: reply.usage, firstTokenMs, messageId, discardedIds },
        events: reply.isShown ? [{ type: 'tombstone', messageId, why: reason }] : [],
      };
    }
    case 'retry': {
      const { attempt, limit, delayMs, failure } = event;
      return emitOne(reply, { type: 'retry', attempt, limit, delayMs, failure });
    }
    default:
      return exhaustive(event);
  }
}

function emitOne(reply: StreamingReplyState, event: AgentEvent): ReplyStep {
  return { reply, events: [event] };
}

function endBlock(reply: StreamingReplyState, index: number, raw: AssistantBlock, facts: ReplyContext): ReplyStep {
  const { messageId, model, received, calls } = reply;
  const block = admitReceivedBlock(raw, received.calls, facts);
  if (block === undefined) return { reply, events: [] };
  received.blocks.push(block);
  if (block.type === 'tool_use') {
    const sameId = received.calls.get(block.id);
    if (sameId === undefined) received.calls.set(block.id, [block]);
    else sameId.push(block);
  }
  const updated: StreamingReplyState = {
    ...reply,
    openText: reply.openText?.index === index ? undefined : reply.openText,
    calls: block.type === 'tool_use' ? [...calls, block] : calls,
  };
  return emitOne(updated, { type: 'block_end', messageId, index, model, block });
}

/** Turns the text that was streaming when the reply broke off into a block, marked as cut. */
export function closeInterruptedText(reply: StreamingReplyState, facts: ReplyContext): ReplyStep {
  const { openText } = reply;
  if (openText === undefined || openText.text.trim() === '') return { reply, events: [] };
  return endBlock(reply, openText.index, { type: 'text', text: openText.text, cut: true }, facts);
}

/** Takes the complete calls: `parsed` leaves those whose input could not be parsed until the reply has ended. */
export function takeCompleteCalls(
  reply: StreamingReplyState,
  which: 'parsed' | 'all',
): { readonly taken: readonly ToolUseBlock[]; readonly reply: StreamingReplyState } {
  const taken = reply.calls.filter((call) => which === 'all' || call.unparsed === undefined);
  return { taken, reply: { ...reply, calls: reply.calls.filter((call) => !taken.includes(call)) } };
}

/** Builds the final reply from the outcome of the stream, and the fields of its `turn_end` event. */
export function finishStreamingReply(
  { messageId, model, received, usage: counted, isShown, firstTokenMs }: StreamingReplyState,
  outcome: ModelOutcome | undefined,
  crash: string | undefined,
) {
  const ended = outcome?.ok === true ? { stopReason: outcome.stopReason } : {};
  const stopReason = ended.stopReason;
  const failure = outcome?.ok === false ? outcome.failure : undefined;
  const usage = outcome?.ok === true ? outcome.usage : counted;
  const blocks = [...received.blocks];
  // A call whose input was cut off is never run.
  const complete = stopReason === 'max_tokens' ? blocks.filter((block) => !isIncompleteCall(block)) : blocks;
  const end = { model, ...ended, ...(usage === undefined ? {} : { usage }) };
  const message: AssistantMessage = { role: 'assistant', id: messageId, blocks: complete, ...end };
  const shownMessageId = isShown ? messageId : undefined;
  const reply: ReplyOutcome = {
    model,
    shownMessageId,
    reply: complete.length === 0 ? undefined : message,
    stopReason,
    failure,
    crash,
  };
  const facts = {
    ...end,
    ...(messageId === '' ? {} : { messageId }),
    ...(failure === undefined ? {} : { failure }),
    ...(firstTokenMs === undefined ? {} : { firstTokenMs }),
  };
  return { reply, facts };
}

function isIncompleteCall(block: AssistantBlock): boolean {
  return block.type === 'tool_use' && block.unparsed !== undefined;
}

/** The calls of a reply by their id, which some servers give to several calls. */
type CallsById = ReadonlyMap<string, readonly ToolUseBlock[]>;

type IdContext = { readonly history: readonly Message[]; readonly newId: () => string };

/**
 * Returns a message id, or a new one if it is empty or used: some servers send the same id in every reply, or none.
 * @internal Exported for tests.
 */
export function ensureUniqueMessageId(id: string, discarded: readonly string[], { history, newId }: IdContext): string {
  const isUsed = id === '' || discarded.includes(id) || collectUsedIds(history).messages.has(id);
  return isUsed ? newId() : id;
}

/**
 * Returns a received block as it enters the history: sendable, and a call with a unique id, because some servers
 * restart ids in each reply or send none. Returns `undefined` for a repeated call, which some gateways send. @internal
 */
export function admitReceivedBlock(
  received: AssistantBlock,
  earlierCalls: CallsById,
  { history, newId }: IdContext,
): AssistantBlock | undefined {
  const hasNoId = received.type === 'tool_use' && received.id === '';
  const block = normalizeMessageBlock(hasNoId ? { ...received, id: createCallId(newId) } : received);
  if (block.type !== 'tool_use') return block;
  const sameId = earlierCalls.get(block.id);
  if (sameId?.some((other) => isRepeated(block, other))) return undefined;
  const isUsed = sameId !== undefined || collectUsedIds(history).calls.has(block.id);
  return isUsed ? { ...block, id: createCallId(newId) } : block;
}

/** Tells whether a block repeats an earlier call; the same id with another name or input is a different call. */
function isRepeated(block: ToolUseBlock, other: ToolUseBlock): boolean {
  return block.name === other.name && JSON.stringify(block.input) === JSON.stringify(other.input);
}

function createCallId(newId: () => string): string {
  return `toolu_${newId().replaceAll(/[^a-zA-Z0-9_-]/g, '')}`;
}

type UsedIds = {
  last: Message | undefined;
  count: number;
  readonly messages: Set<string>;
  readonly calls: Set<string>;
};

/** Ids collected so far, by the first message of the conversation. */
const usedIdsByFirstMessage = new WeakMap<Message, UsedIds>();

/** Collects the ids of a conversation, reading only new messages if it was extended. */
function collectUsedIds(history: readonly Message[]): UsedIds {
  const [first] = history;
  const known = first && usedIdsByFirstMessage.get(first);
  const isExtended = known !== undefined && history[known.count - 1] === known.last;
  const ids = isExtended ? known : { last: undefined, count: 0, messages: new Set<string>(), calls: new Set<string>() };
  for (const message of history.slice(ids.count)) {
    ids.messages.add(message.id);
    if (message.role !== 'assistant') continue;
    for (const block of message.blocks) if (block.type === 'tool_use') ids.calls.add(block.id);
  }
  ids.last = history.at(-1);
  ids.count = history.length;
  if (first !== undefined) usedIdsByFirstMessage.set(first, ids);
  return ids;
}
