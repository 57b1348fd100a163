import type { AgentEvent } from '../contracts/event.ts';
import type { AssistantBlock, AssistantMessage, Message, ToolUseBlock, Usage } from '../contracts/message.ts';
import type { ModelEvent, ModelOutcome } from '../contracts/model.ts';
import type { QueryDeps } from '../contracts/query.ts';
import { exhaustive } from '../lib/exhaustive.ts';
import type { Reply } from './turn.ts';
import { uniqueIds } from './unique-ids.ts';

/** Turns what a port says into what everybody hears, and keeps the complete blocks. */
export type ReplyReader = {
  read(event: ModelEvent): Generator<AgentEvent, void>;
  messageId(): string;
  /** Calls completed since last asked; those whose input could not be parsed wait until the reply has ended. */
  takeCalls(which: 'parsed' | 'all'): readonly ToolUseBlock[];
  finish(outcome: ModelOutcome | undefined, crash: string | undefined): Reply;
  facts(reply: Reply): Omit<Extract<AgentEvent, { type: 'turn_end' }>, 'type' | 'turn' | 'durationMs'>;
};

export function createReplyReader(
  model: string,
  earlier: readonly Message[],
  deps: Pick<QueryDeps, 'newId' | 'now'>,
): ReplyReader {
  const startedAt = deps.now();
  let id = '';
  let shown = false;
  const ids = uniqueIds(earlier, deps.newId);
  let blocks: AssistantBlock[] = [];
  let newCalls: ToolUseBlock[] = [];
  let usage: Usage | undefined;
  let firstTokenMs: number | undefined;

  function* complete(index: number, raw: AssistantBlock): Generator<AgentEvent, void> {
    if (raw.type === 'tool_use' && blocks.some((other) => other.type === 'tool_use' && other.id === raw.id)) return;
    const block = ids.blockOf(raw);
    blocks.push(block);
    yield { type: 'block_end', messageId: id, index, model, block };
    if (block.type === 'tool_use') newCalls.push(block);
  }

  return {
    *read(event) {
      firstTokenMs ??= event.type === 'block_start' ? deps.now() - startedAt : undefined;
      switch (event.type) {
        case 'request_sent':
          yield { type: 'request_sent', attempt: event.attempt, model };
          return;
        case 'message_start':
          id = ids.messageId(event.messageId);
          usage = event.usage;
          shown = true;
          yield { type: 'message_start', messageId: id, role: 'assistant', model, usage: event.usage };
          return;
        case 'block_start': {
          const name = event.name === undefined ? {} : { name: event.name };
          yield { type: 'block_start', messageId: id, index: event.index, kind: event.kind, ...name };
          return;
        }
        case 'text_delta':
          yield { type: 'message_update', messageId: id, index: event.index, kind: 'text', delta: event.text };
          return;
        case 'thinking_delta':
          yield { type: 'message_update', messageId: id, index: event.index, kind: 'thinking', delta: event.text };
          return;
        case 'input_delta':
          yield { type: 'message_update', messageId: id, index: event.index, kind: 'input', delta: event.json };
          return;
        case 'block_end':
          yield* complete(event.index, event.block);
          return;
        case 'raw':
          yield { type: 'stream_event', event: event.event, ...(firstTokenMs === undefined ? {} : { firstTokenMs }) };
          return;
        case 'discarded':
          if (shown) yield { type: 'tombstone', messageId: id, why: 'The reply broke off and is asked for again.' };
          ids.bury(id);
          shown = false;
          blocks = [];
          newCalls = [];
          return;
        case 'retry': {
          const { attempt, limit, delayMs, failure } = event;
          yield { type: 'retry', attempt, limit, delayMs, failure };
          return;
        }
        default:
          exhaustive(event);
      }
    },
    messageId: () => id,
    takeCalls(which) {
      if (newCalls.length === 0) return [];
      const taken = newCalls.filter((call) => which === 'all' || call.unparsed === undefined);
      newCalls = newCalls.filter((call) => !taken.includes(call));
      return taken;
    },
    finish(outcome, crash) {
      const stop = outcome?.ok === true ? outcome.stopReason : undefined;
      // A call that was cut in the middle of its input never happened.
      const whole = stop === 'max_tokens' ? blocks.filter((block) => !isCut(block)) : blocks;
      const counted = outcome?.ok === true ? outcome.usage : usage;
      const reply: AssistantMessage | undefined =
        whole.length === 0
          ? undefined
          : {
              role: 'assistant',
              id,
              model,
              blocks: whole,
              ...(stop === undefined ? {} : { stopReason: stop }),
              ...(counted === undefined ? {} : { usage: counted }),
            };
      usage = counted;
      return {
        model,
        shownId: shown ? id : undefined,
        reply,
        stop,
        failure: outcome?.ok === false ? outcome.failure : undefined,
        crash,
      };
    },
    facts: ({ stop, failure }) => ({
      model,
      ...(id === '' ? {} : { messageId: id }),
      ...(stop === undefined ? {} : { stopReason: stop }),
      ...(usage === undefined ? {} : { usage }),
      ...(failure === undefined ? {} : { failure }),
      ...(firstTokenMs === undefined ? {} : { firstTokenMs }),
    }),
  };
}

function isCut(block: AssistantBlock): boolean {
  return block.type === 'tool_use' && block.unparsed !== undefined;
}
