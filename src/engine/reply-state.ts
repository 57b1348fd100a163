import type { AgentEvent } from '../contracts/event.ts';
import type { AssistantBlock, AssistantMessage, Message, ToolUseBlock, Usage } from '../contracts/message.ts';
import type { ModelEvent, ModelOutcome } from '../contracts/model.ts';
import { exhaustive } from '../lib/exhaustive.ts';
import type { Reply } from './turn.ts';
import { admittedBlock, uniqueMessageId } from './unique-ids.ts';

/** What has come of a reply so far. */
export type ReplyState = {
  readonly model: string;
  readonly messageId: string;
  /** Have people seen its beginning? */
  readonly isShown: boolean;
  readonly blocks: readonly AssistantBlock[];
  /** Complete calls that nobody has taken yet. */
  readonly calls: readonly ToolUseBlock[];
  readonly usage: Usage | undefined;
  readonly firstTokenMs: number | undefined;
  /** Ids of beginnings that were shown and taken back. */
  readonly buried: readonly string[];
};

/** What reading needs to know of everything else. */
export type ReadingFacts = {
  readonly earlier: readonly Message[];
  readonly newId: () => string;
  readonly elapsedMs: () => number;
};

export function emptyReply(model: string): ReplyState {
  return {
    model,
    messageId: '',
    isShown: false,
    blocks: [],
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
    case 'text_delta':
      return say(reply, { type: 'message_update', messageId, index: event.index, kind: 'text', delta: event.text });
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
        reply: { ...reply, isShown: false, blocks: [], calls: [], buried },
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
    blocks: [...blocks, block],
    calls: block.type === 'tool_use' ? [...calls, block] : calls,
  };
  return say(ended, { type: 'block_end', messageId, index, model, block });
}

/** Takes the complete calls; those whose input could not be parsed wait until the reply has ended. */
export function takeCalls(
  reply: ReplyState,
  which: 'parsed' | 'all',
): { readonly taken: readonly ToolUseBlock[]; readonly reply: ReplyState } {
  const taken = reply.calls.filter((call) => which === 'all' || call.unparsed === undefined);
  return { taken, reply: { ...reply, calls: reply.calls.filter((call) => !taken.includes(call)) } };
}

/** The reply once the port has said its last word, and what the end of the turn tells of it. */
export function finishReply(
  { messageId, model, blocks, usage: counted, isShown, firstTokenMs }: ReplyState,
  outcome: ModelOutcome | undefined,
  crash: string | undefined,
) {
  const ended = outcome?.ok === true ? { stopReason: outcome.stopReason } : {};
  const stop = ended.stopReason;
  const failure = outcome?.ok === false ? outcome.failure : undefined;
  const usage = outcome?.ok === true ? outcome.usage : counted;
  // A call that was cut in the middle of its input never happened.
  const whole = stop === 'max_tokens' ? blocks.filter((block) => !isCut(block)) : blocks;
  const end = { model, ...ended, ...(usage === undefined ? {} : { usage }) };
  const message: AssistantMessage = { role: 'assistant', id: messageId, blocks: whole, ...end };
  const shownId = isShown ? messageId : undefined;
  const reply: Reply = { model, shownId, reply: whole.length === 0 ? undefined : message, stop, failure, crash };
  const facts = {
    ...end,
    ...(messageId === '' ? {} : { messageId }),
    ...(failure === undefined ? {} : { failure }),
    ...(firstTokenMs === undefined ? {} : { firstTokenMs }),
  };
  return { reply, facts };
}

function isCut(block: AssistantBlock): boolean {
  return block.type === 'tool_use' && block.unparsed !== undefined;
}
