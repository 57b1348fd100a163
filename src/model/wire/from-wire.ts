import type { JsonObject } from '../../contracts/json.ts';
import type { AssistantBlock, AssistantMessage, StopReason, Usage } from '../../contracts/message.ts';
import type { ModelEvent } from '../../contracts/model.ts';
import { beginBlock, finishBlock, growBlock, type OpenBlock } from './open-block.ts';
import { numberOf, objectOf, textOf } from './wire-json.ts';

/** What one wire event brought: events for the loop, and whether the reply moved on (pings do not move it). */
type Step = { readonly events: readonly ModelEvent[]; readonly progress: boolean };

/** Rebuilds one reply from the provider's raw events. */
export type Accumulator = {
  push(event: JsonObject): Step;
  /** The blocks that are complete so far, as a message; `undefined` before anything arrived. */
  message(): AssistantMessage | undefined;
  usage(): Usage;
  /** Why the reply ended; `undefined` until the provider said so. */
  stopReason(): StopReason | undefined;
  /** `message_stop` was seen: nothing that follows matters. */
  isStopped(): boolean;
};

/** Nothing counted yet. */
const NO_USAGE: Usage = { inputTokens: 0, outputTokens: 0, cacheReadTokens: 0, cacheWriteTokens: 0 };

const IGNORED: Step = { events: [], progress: false };

/** Starts an empty reply of the model that was asked. */
export function createAccumulator(model: string, newId: () => string): Accumulator {
  const open = new Map<number, OpenBlock>();
  const finished = new Map<number, AssistantBlock>();
  let messageId: string | undefined;
  let usage = NO_USAGE;
  let stopReason: StopReason | undefined;
  let stopped = false;

  function begin(id: string | undefined): readonly ModelEvent[] {
    if (messageId !== undefined) return [];
    messageId = id ?? newId();
    return [{ type: 'message_start', messageId, model, usage }];
  }

  function start(event: JsonObject): Step {
    const message = objectOf(event.message);
    usage = mergeUsage(usage, objectOf(message?.usage));
    return { events: begin(textOf(message?.id)), progress: true };
  }

  function blockStart(event: JsonObject): Step {
    const raw = objectOf(event.content_block);
    const index = numberOf(event.index);
    if (!raw || index === undefined) return IGNORED;
    const { block, events } = beginBlock(raw, index);
    open.set(index, block);
    return { events: [...begin(undefined), ...events], progress: true };
  }

  function blockDelta(event: JsonObject): Step {
    const index = numberOf(event.index);
    const delta = objectOf(event.delta);
    const block = index === undefined ? undefined : open.get(index);
    if (index === undefined || !delta || !block) return IGNORED;
    return { events: growBlock(block, index, delta), progress: true };
  }

  function blockStop(event: JsonObject): Step {
    const index = numberOf(event.index);
    const block = index === undefined ? undefined : open.get(index);
    if (index === undefined || !block) return IGNORED;
    open.delete(index);
    const done = finishBlock(block);
    finished.set(index, done);
    return { events: [{ type: 'block_end', index, block: done }], progress: true };
  }

  function messageDelta(event: JsonObject): Step {
    usage = mergeUsage(usage, objectOf(event.usage));
    stopReason = textOf(objectOf(event.delta)?.stop_reason) ?? stopReason;
    return { events: [], progress: true };
  }

  return {
    push(event) {
      switch (event.type) {
        case 'message_start':
          return start(event);
        case 'content_block_start':
          return blockStart(event);
        case 'content_block_delta':
          return blockDelta(event);
        case 'content_block_stop':
          return blockStop(event);
        case 'message_delta':
          return messageDelta(event);
        case 'message_stop':
          stopped = true;
          return { events: [], progress: true };
        default:
          return IGNORED;
      }
    },
    message() {
      if (messageId === undefined) return undefined;
      const blocks = [...finished].sort(([a], [b]) => a - b).map(([, block]) => block);
      return { role: 'assistant', id: messageId, model, blocks, ...(stopReason && { stopReason }), usage };
    },
    usage: () => usage,
    stopReason: () => stopReason,
    isStopped: () => stopped,
  };
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
  };
}
