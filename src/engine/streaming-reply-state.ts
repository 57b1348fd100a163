import type { AgentEvent } from '../contracts/event.ts';
import type { AssistantBlock, AssistantMessage, Message, ToolUseBlock, Usage } from '../contracts/message.ts';
import type { ModelEvent, ModelOutcome } from '../contracts/model.ts';
import { exhaustive } from '../lib/errors.ts';
import type { ReplyOutcome } from './model-turn.ts';
import { admitReceivedBlock, ensureUniqueMessageId } from './unique-ids.ts';

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

/** Creates the state of a reply that has not begun. */
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
