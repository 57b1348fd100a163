import type { AgentEvent } from '../contracts/event.ts';
import type { AssistantBlock, Message, ToolUseBlock, Usage } from '../contracts/message.ts';
import type { ModelEvent } from '../contracts/model.ts';
import { exhaustive } from '../lib/exhaustive.ts';
import { admittedBlock, uniqueMessageId } from './unique-ids.ts';

/** What has come of a reply so far. */
export type ReplyState = {
  readonly model: string;
  readonly messageId: string;
  /** Have people seen its beginning? */
  readonly isShown: boolean;
  readonly blocks: readonly AssistantBlock[];
  /** Words that are still being written. */
  readonly open: { readonly index: number; readonly text: string } | undefined;
  /** Complete calls that nobody has taken yet. */
  readonly calls: readonly ToolUseBlock[];
  readonly usage: Usage | undefined;
  readonly firstTokenMs: number | undefined;
  /** Ids of beginnings that were shown and taken back. */
  readonly buried: readonly string[];
};

/** What reading needs to know of everything else. */
export type ReadingFacts = {
  readonly history: readonly Message[];
  readonly newId: () => string;
  readonly elapsedMs: () => number;
};

export function emptyReply(model: string): ReplyState {
  return {
    model,
    messageId: '',
    isShown: false,
    blocks: [],
    open: undefined,
    calls: [],
    usage: undefined,
    firstTokenMs: undefined,
    buried: [],
  };
}

type Step = { readonly reply: ReplyState; readonly events: readonly AgentEvent[] };

/** Turns an event of the model port into agent events, and collects the complete blocks. */
export function reduceReply(before: ReplyState, event: ModelEvent, facts: ReadingFacts): Step {
  const isFirst = before.firstTokenMs === undefined && event.type === 'block_start';
  const reply = isFirst ? { ...before, firstTokenMs: facts.elapsedMs() } : before;
  const { model, messageId, firstTokenMs } = reply;
  switch (event.type) {
    case 'request_sent':
      return say(reply, { type: 'request_sent', attempt: event.attempt, model });
    case 'message_start': {
      const { usage } = event;
      const id = uniqueMessageId(event.messageId, reply.buried, facts);
      const started = { ...reply, messageId: id, usage, isShown: true };
      return say(started, { type: 'message_start', messageId: id, role: 'assistant', model, usage });
    }
    case 'block_start': {
      const { index, kind, name } = event;
      return say(reply, { type: 'block_start', messageId, index, kind, ...(name === undefined ? {} : { name }) });
    }
    case 'text_delta': {
      const { index, text: delta } = event;
      const before = reply.open?.index === index ? reply.open.text : '';
      const grown = { ...reply, open: { index, text: before + delta } };
      return say(grown, { type: 'message_update', messageId, index, kind: 'text', delta });
    }
    case 'thinking_delta':
      return say(reply, { type: 'message_update', messageId, index: event.index, kind: 'thinking', delta: event.text });
    case 'input_delta':
      return say(reply, { type: 'message_update', messageId, index: event.index, kind: 'input', delta: event.json });
    case 'block_end':
      return endBlock(reply, event.index, event.block, facts);
    case 'raw':
      return say(reply, {
        type: 'stream_event',
        event: event.event,
        ...(firstTokenMs === undefined ? {} : { firstTokenMs }),
      });
    case 'discarded': {
      const why = 'The reply broke off and is asked for again.';
      const buried = [...reply.buried, messageId];
      return {
        reply: { ...reply, isShown: false, blocks: [], open: undefined, calls: [], buried },
        events: reply.isShown ? [{ type: 'tombstone', messageId, why }] : [],
      };
    }
    case 'retry': {
      const { attempt, limit, delayMs, failure } = event;
      return say(reply, { type: 'retry', attempt, limit, delayMs, failure });
    }
    default:
      return exhaustive(event);
  }
}

function say(reply: ReplyState, event: AgentEvent): Step {
  return { reply, events: [event] };
}

function endBlock(reply: ReplyState, index: number, raw: AssistantBlock, facts: ReadingFacts): Step {
  const { messageId, model, blocks, calls } = reply;
  const block = admittedBlock(raw, blocks, facts);
  if (block === undefined) return { reply, events: [] };
  const ended = {
    ...reply,
    open: reply.open?.index === index ? undefined : reply.open,
    blocks: [...blocks, block],
    calls: block.type === 'tool_use' ? [...calls, block] : calls,
  };
  return say(ended, { type: 'block_end', messageId, index, model, block });
}

/** The reply broke off: what was shown of its last words becomes a block, marked as cut. */
export function cutShort(reply: ReplyState, facts: ReadingFacts): Step {
  const { open } = reply;
  if (open === undefined || open.text.trim() === '') return { reply, events: [] };
  return endBlock(reply, open.index, { type: 'text', text: open.text, cut: true }, facts);
}

/** Takes the complete calls; those whose input could not be parsed wait until the reply has ended. */
export function takeCalls(
  reply: ReplyState,
  which: 'parsed' | 'all',
): { readonly taken: readonly ToolUseBlock[]; readonly reply: ReplyState } {
  const taken = reply.calls.filter((call) => which === 'all' || call.unparsed === undefined);
  return { taken, reply: { ...reply, calls: reply.calls.filter((call) => !taken.includes(call)) } };
}
