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
  /** Blocks by their place in the reply. */
  readonly open: ReadonlyMap<number, OpenBlock>;
  /** The place that a number of the provider's stands for now: some give several blocks the same one. */
  readonly places: ReadonlyMap<number, number>;
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
  const nothing = { messageId: undefined, open: new Map(), places: new Map(), finished: new Map() };
  return { model, ...nothing, usage, stopReason: undefined, isStopped: false };
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
      return stopReply(reply);
    default:
      return { reply, events: [], progress: false };
  }
}

/** What ends without its last event is over all the same when the provider had said why, or that it was done. */
export function endOfWire(reply: WireReply, said: 'done' | 'nothing'): Step {
  const isBegun = reply.open.size + reply.finished.size > 0;
  if (reply.stopReason !== undefined || (said === 'done' && isBegun)) return stopReply(reply);
  return { reply, events: [], progress: false };
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
  const open = placeOf(before, index);
  // The same announcement once more says nothing new; another one means that the end of the block before was left out.
  if (open?.block !== undefined && isRepeated(open.block, raw)) return moved(before);
  const { reply, events: ended } = open === undefined ? moved(before) : finishAt(before, open);
  const place = reply.finished.has(index) ? reply.finished.size + reply.open.size : index;
  const { block, events } = beginBlock(raw, place);
  // Some servers send no message_start.
  const begun = begin(reply, reply.messageId ?? newId());
  const opened = new Map([...reply.open, [place, block]]);
  const places = new Map([...reply.places, [index, place]]);
  return moved({ ...begun.reply, open: opened, places }, [...ended, ...begun.events, ...events]);
}

type Place = { readonly place: number; readonly block: OpenBlock };

/** The open block that a number of the provider's stands for. */
function placeOf({ open, places }: WireReply, index: number | undefined): Place | undefined {
  const place = index === undefined ? undefined : places.get(index);
  const block = place === undefined ? undefined : open.get(place);
  return place === undefined || block === undefined ? undefined : { place, block };
}

function isRepeated(block: OpenBlock, raw: JsonObject): boolean {
  const { kind } = beginBlock(raw, 0).block;
  return block.kind === kind && (block.kind !== 'tool_use' || block.id === textOf(raw.id));
}

function addDelta(reply: WireReply, event: JsonObject): Step {
  const found = placeOf(reply, numberOf(event.index));
  const delta = objectOf(event.delta);
  if (found === undefined || !delta) return { reply, events: [], progress: false };
  return moved(reply, growBlock(found.block, found.place, delta));
}

function stopBlock(reply: WireReply, event: JsonObject): Step {
  const found = placeOf(reply, numberOf(event.index));
  return found === undefined ? { reply, events: [], progress: false } : finishAt(reply, found);
}

function finishAt(reply: WireReply, { place, block }: Place): Step {
  const done = finishBlock(block);
  const open = new Map([...reply.open].filter(([other]) => other !== place));
  const finished = new Map([...reply.finished, [place, done]]);
  return moved({ ...reply, open, finished }, [{ type: 'block_end', index: place, block: done }]);
}

/** Blocks that were never ended are complete by what they hold; a call whose input breaks off is not. */
function stopReply(before: WireReply): Step {
  let step: Step = moved({ ...before, isStopped: true });
  for (const [place, block] of before.open) {
    const done = finishBlock(block);
    if (done.type === 'tool_use' && done.unparsed !== undefined) continue;
    const next = finishAt(step.reply, { place, block });
    step = moved(next.reply, [...step.events, ...next.events]);
  }
  return step;
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
