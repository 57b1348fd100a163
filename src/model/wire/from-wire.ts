import type { JsonObject, JsonValue } from '../../contracts/json.ts';
import type { AssistantBlock, AssistantMessage, StopReason, Usage } from '../../contracts/message.ts';
import type { ModelEvent } from '../../contracts/model.ts';
import { beginBlock, finishBlock, growBlock, type OpenBlock } from './open-block.ts';
import { numberOf, objectOf, textOf } from './wire-json.ts';

/** One reply as far as the provider has sent it. */
export type WireReply = {
  readonly model: string;
  /** `undefined` before anything arrived. */
  readonly messageId: string | undefined;
  readonly open: ReadonlyMap<number, OpenBlock>;
  readonly finished: ReadonlyMap<number, AssistantBlock>;
  readonly usage: Usage;
  /** Why the reply ended; `undefined` until the provider said so. */
  readonly stopReason: StopReason | undefined;
  /** `message_stop` was seen: nothing that follows matters. */
  readonly isStopped: boolean;
};

/** What one wire event brought: events for the loop, and whether the reply moved on (pings do not move it). */
type Step = { readonly reply: WireReply; readonly events: readonly ModelEvent[]; readonly progress: boolean };

/** Starts an empty reply of the model that was asked. */
export function emptyWireReply(model: string): WireReply {
  const usage = { inputTokens: 0, outputTokens: 0, cacheReadTokens: 0, cacheWriteTokens: 0 };
  const nothing = { messageId: undefined, open: new Map(), finished: new Map(), stopReason: undefined };
  return { model, ...nothing, usage, isStopped: false };
}

/** Rebuilds a reply from the provider's raw events, one after the other. */
export function reduceWire(reply: WireReply, event: JsonObject, newId: () => string): Step {
  switch (event.type) {
    case 'message_start': {
      const message = objectOf(event.message);
      const counted = { ...reply, usage: mergeUsage(reply.usage, objectOf(message?.usage)) };
      return begin(counted, textOf(message?.id) ?? newId());
    }
    case 'content_block_start':
      return startBlock(reply, event, newId);
    case 'content_block_delta':
      return addDelta(reply, event);
    case 'content_block_stop':
      return stopBlock(reply, event);
    case 'message_delta': {
      const usage = withCleared(mergeUsage(reply.usage, objectOf(event.usage)), event.context_management);
      const stopReason = textOf(objectOf(event.delta)?.stop_reason) ?? reply.stopReason;
      return moved({ ...reply, usage, stopReason });
    }
    case 'message_stop':
      return moved({ ...reply, isStopped: true });
    default:
      return { reply, events: [], progress: false };
  }
}

/** The blocks that are complete so far, as a message. */
export function wireMessage(reply: WireReply): AssistantMessage | undefined {
  const { messageId: id, model, finished, stopReason, usage } = reply;
  if (id === undefined) return undefined;
  const blocks = [...finished].sort(([a], [b]) => a - b).map(([, block]) => block);
  return { role: 'assistant', id, model, blocks, ...(stopReason && { stopReason }), usage };
}

function moved(reply: WireReply, events: readonly ModelEvent[] = []): Step {
  return { reply, events, progress: true };
}

function begin(reply: WireReply, messageId: string): Step {
  const { model, usage } = reply;
  if (reply.messageId !== undefined) return moved(reply);
  return moved({ ...reply, messageId }, [{ type: 'message_start', messageId, model, usage }]);
}

function startBlock(before: WireReply, event: JsonObject, newId: () => string): Step {
  const raw = objectOf(event.content_block);
  const index = numberOf(event.index);
  if (!raw || index === undefined) return { reply: before, events: [], progress: false };
  const { block, events } = beginBlock(raw, index);
  // Some servers send no message_start.
  const begun = begin(before, before.messageId ?? newId());
  return moved({ ...begun.reply, open: new Map([...before.open, [index, block]]) }, [...begun.events, ...events]);
}

function addDelta(reply: WireReply, event: JsonObject): Step {
  const index = numberOf(event.index);
  const delta = objectOf(event.delta);
  const block = index === undefined ? undefined : reply.open.get(index);
  if (index === undefined || !delta || !block) return { reply, events: [], progress: false };
  return moved(reply, growBlock(block, index, delta));
}

function stopBlock(reply: WireReply, event: JsonObject): Step {
  const index = numberOf(event.index);
  const block = index === undefined ? undefined : reply.open.get(index);
  if (index === undefined || !block) return { reply, events: [], progress: false };
  const done = finishBlock(block);
  const open = new Map([...reply.open].filter(([other]) => other !== index));
  const finished = new Map([...reply.finished, [index, done]]);
  return moved({ ...reply, open, finished }, [{ type: 'block_end', index, block: done }]);
}

/** What the provider left out of the request, added over its edits. */
function withCleared(usage: Usage, management: JsonValue | undefined): Usage {
  const edits = objectOf(management)?.applied_edits;
  if (!Array.isArray(edits)) return usage;
  const sum = (name: string) =>
    edits.reduce<number>((total, edit) => total + (numberOf(objectOf(edit)?.[name]) ?? 0), 0);
  return { ...usage, cleared: { results: sum('cleared_tool_uses'), tokens: sum('cleared_input_tokens') } };
}

/** The API repeats its counts as totals; what it leaves out keeps its last value. */
function mergeUsage(before: Usage, raw: JsonObject | undefined): Usage {
  if (!raw) return before;
  const searches = numberOf(objectOf(raw.server_tool_use)?.web_search_requests) ?? before.webSearches;
  return {
    inputTokens: numberOf(raw.input_tokens) ?? before.inputTokens,
    outputTokens: numberOf(raw.output_tokens) ?? before.outputTokens,
    cacheReadTokens: numberOf(raw.cache_read_input_tokens) ?? before.cacheReadTokens,
    cacheWriteTokens: numberOf(raw.cache_creation_input_tokens) ?? before.cacheWriteTokens,
    ...(searches !== undefined && { webSearches: searches }),
    ...(before.cleared && { cleared: before.cleared }),
  };
}
