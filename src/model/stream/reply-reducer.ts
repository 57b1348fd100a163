import type { JsonObject, JsonValue } from '../../contracts/json.ts';
import type { AssistantBlock, AssistantMessage, StopReason, Usage } from '../../contracts/message.ts';
import type { ModelEvent } from '../../contracts/model.ts';
import { hasOtherType, narrowToNumber, narrowToObject, narrowToString } from './json-values.ts';
import {
  appendToReplyBlock,
  finishReplyBlock,
  isInputDelta,
  type OpenReplyBlock,
  openReplyBlock,
} from './reply-block.ts';

/** State of one reply while it streams. */
export type MessagesReplyState = {
  readonly model: string;
  /** `undefined` before the first event. */
  readonly messageId: string | undefined;
  /** Unfinished blocks by position in the reply. */
  readonly openBlocks: ReadonlyMap<number, OpenReplyBlock>;
  /** Positions of the unfinished blocks by the provider's index; some servers use one index for several blocks. */
  readonly positions: ReadonlyMap<number, number>;
  readonly finishedBlocks: FinishedBlock[];
  /** The position after all blocks that were started. */
  readonly nextPosition: number;
  readonly usage: Usage;
  /** Stop reason, once the provider sent it. */
  readonly stopReason: StopReason | undefined;
  /** `message_stop` was received: later events are ignored. */
  readonly isStopped: boolean;
};

/** A list of them is copied much faster than a map; a reply may hold tens of thousands. */
type FinishedBlock = { readonly position: number; readonly block: AssistantBlock };

/** Result of one provider event: the new state, events for the loop, and the progress of the reply. */
type Step = {
  readonly reply: MessagesReplyState;
  readonly events: readonly ModelEvent[];
  readonly progress: ReplyProgress;
};

/**
 * `frame` is all that carries no content, such as an empty block: a broken server may send it for ever. `malformed`
 * means that content cannot be read, so that the reply is lost.
 */
type ReplyProgress = 'content' | 'frame' | 'none' | 'malformed';

/** Creates the state of a reply before its first event. */
export function createMessagesReplyState(model: string): MessagesReplyState {
  const usage = { inputTokens: 0, outputTokens: 0, cacheReadTokens: 0, cacheWriteTokens: 0 };
  return {
    model,
    messageId: undefined,
    openBlocks: new Map(),
    positions: new Map(),
    finishedBlocks: [],
    nextPosition: 0,
    usage,
    stopReason: undefined,
    isStopped: false,
  };
}

/** Applies one Messages API event to a reply. */
export function reduceMessagesReply(reply: MessagesReplyState, event: JsonObject, newId: () => string): Step {
  switch (event.type) {
    case 'message_start': {
      const message = narrowToObject(event.message);
      const counted = { ...reply, usage: mergeUsage(reply.usage, narrowToObject(message?.usage)) };
      return startReply(counted, narrowToString(message?.id) ?? newId());
    }
    case 'content_block_start':
      return startBlock(reply, event, newId);
    case 'content_block_delta':
      return addDelta(reply, event, newId);
    case 'content_block_stop':
      return stopBlock(reply, event);
    case 'message_delta': {
      const usage = addClearedResults(mergeUsage(reply.usage, narrowToObject(event.usage)), event.context_management);
      const stopReason = narrowToString(narrowToObject(event.delta)?.stop_reason) ?? reply.stopReason;
      const isNew = stopReason !== reply.stopReason || usage.outputTokens !== reply.usage.outputTokens;
      return { reply: { ...reply, usage, stopReason }, events: [], progress: isNew ? 'frame' : 'none' };
    }
    case 'message_stop':
      return stopReply(reply);
    case 'malformed':
      return reject(reply);
    default:
      return { reply, events: [], progress: 'none' };
  }
}

/**
 * Completes a reply without `message_stop` if a stop reason or an explicit end marker (`done`) was received: gateways end
 * streams in more ways than the API documents.
 */
export function completeMessagesReply(reply: MessagesReplyState, endMarker: 'done' | 'none'): Step {
  const hasContent = reply.openBlocks.size + reply.finishedBlocks.length > 0;
  if (reply.stopReason !== undefined || (endMarker === 'done' && hasContent)) return stopReply(reply);
  return { reply, events: [], progress: 'none' };
}

/** Builds a message from the finished blocks; `undefined` before the reply started. */
export function buildReplyMessage(reply: MessagesReplyState): AssistantMessage | undefined {
  const { messageId: id, model, finishedBlocks, stopReason, usage } = reply;
  if (id === undefined) return undefined;
  const blocks = finishedBlocks.toSorted((a, b) => a.position - b.position).map(({ block }) => block);
  return { role: 'assistant', id, model, blocks, ...(stopReason && { stopReason }), usage };
}

function advance(
  reply: MessagesReplyState,
  events: readonly ModelEvent[] = [],
  progress: ReplyProgress = 'content',
): Step {
  return { reply, events, progress };
}

function reject(reply: MessagesReplyState): Step {
  return { reply, events: [], progress: 'malformed' };
}

function startReply(reply: MessagesReplyState, messageId: string): Step {
  const { model, usage } = reply;
  if (reply.messageId !== undefined) return { reply, events: [], progress: 'none' };
  return advance({ ...reply, messageId }, [{ type: 'message_start', messageId, model, usage }]);
}

function startBlock(previousReply: MessagesReplyState, event: JsonObject, newId: () => string): Step {
  const raw = narrowToObject(event.content_block);
  if (raw === undefined || typeof raw.type !== 'string') return reject(previousReply);
  const index = readIndex(event) ?? previousReply.nextPosition;
  const openPosition = findOpenBlock(previousReply, index);
  // A repeated start of the same block is ignored; a start of another block means that the previous end was omitted.
  if (openPosition?.block !== undefined && isRepeatedStart(openPosition.block, raw))
    return { reply: previousReply, events: [], progress: 'none' };
  const { reply, events: closeEvents } =
    openPosition === undefined ? advance(previousReply) : closeBlock(previousReply, openPosition);
  const position = isFreePosition(reply, index) ? index : reply.nextPosition;
  const { block, events } = openReplyBlock(raw, position);
  // Some servers send no `message_start`.
  const started = startReply(reply, reply.messageId ?? newId());
  const openBlocks = new Map([...reply.openBlocks, [position, block]]);
  const positions = new Map([...reply.positions, [index, position]]);
  const nextPosition = Math.max(reply.nextPosition, position + 1);
  return advance(
    { ...started.reply, openBlocks, positions, nextPosition },
    [...closeEvents, ...started.events, ...events],
    isEmptyBlock(block) ? 'frame' : 'content',
  );
}

function isEmptyBlock(block: OpenReplyBlock): boolean {
  return (block.kind === 'text' || block.kind === 'thinking') && block.parts.length === 0;
}

/** Number of positions that a server may leave out: they become empty blocks of the reply that is shown. */
const MAX_GAP = 100;

function isFreePosition({ openBlocks, finishedBlocks, nextPosition }: MessagesReplyState, index: number): boolean {
  if (!Number.isInteger(index) || index < 0 || index > nextPosition + MAX_GAP) return false;
  return index >= nextPosition || !(openBlocks.has(index) || finishedBlocks.some(({ position }) => position === index));
}

/** Reads the index of a block; some gateways send it as a text, or none. */
function readIndex({ index }: JsonObject): number | undefined {
  return typeof index === 'string' && /^\d+$/.test(index) ? Number(index) : narrowToNumber(index);
}

type OpenPosition = { readonly position: number; readonly block: OpenReplyBlock };

/** Finds the open block for the provider's block index; without an index, the last one. */
function findOpenBlock(
  { openBlocks, positions }: MessagesReplyState,
  index: number | undefined,
): OpenPosition | undefined {
  const position = index === undefined ? [...positions.values()].at(-1) : positions.get(index);
  const block = position === undefined ? undefined : openBlocks.get(position);
  return position === undefined || block === undefined ? undefined : { position, block };
}

function isRepeatedStart(block: OpenReplyBlock, raw: JsonObject): boolean {
  const { kind } = openReplyBlock(raw, 0).block;
  return block.kind === kind && (block.kind !== 'tool_use' || block.id === narrowToString(raw.id));
}

function addDelta(reply: MessagesReplyState, event: JsonObject, newId: () => string): Step {
  const delta = narrowToObject(event.delta);
  if (isMalformedDelta(event.delta)) return reject(reply);
  if (!delta) return { reply, events: [], progress: 'none' };
  const found = findOpenBlock(reply, readIndex(event));
  if (isInputDelta(delta) && !isInputExpected(found)) return reject(reply);
  if (found === undefined || (delta.type === 'text_delta' && found.block.kind in TEXTLESS)) {
    if (!narrowToString(delta.text)) return { reply, events: [], progress: 'none' };
    // Some gateways send no start of a text.
    const start = startBlock(reply, { index: event.index, content_block: { type: 'text', text: '' } }, newId);
    const step = addDelta(start.reply, event, newId);
    return { ...step, events: [...start.events, ...step.events] };
  }
  // An empty delta is no sign of life: a stalled server may send them for ever.
  return { reply, events: appendToReplyBlock(found.block, found.position, delta), progress: rateDelta(delta) };
}

/** Blocks without text. Those of unknown types may have text, but nothing is known about it. */
const TEXTLESS = { thinking: true, redacted_thinking: true, tool_use: true };

function isInputExpected(found: OpenPosition | undefined): boolean {
  return found !== undefined && !['text', 'thinking', 'redacted_thinking'].includes(found.block.kind);
}

/** Returns true for a delta whose content cannot be read. Unknown types are not content. */
function isMalformedDelta(value: JsonValue | undefined): boolean {
  const delta = narrowToObject(value);
  if (delta === undefined) return hasOtherType(value, 'object');
  if (typeof delta.type !== 'string') return Object.keys(delta).length > 0;
  return [delta.text, delta.thinking, delta.partial_json].some((content) => hasOtherType(content, 'string'));
}

function rateDelta(delta: JsonObject): ReplyProgress {
  const text = narrowToString(delta.text ?? delta.thinking ?? delta.partial_json) ?? '';
  if (/\S/.test(text)) return 'content';
  const isEmpty = Object.entries(delta).every(([key, field]) => key === 'type' || field === '' || field === null);
  if (isEmpty) return 'none';
  return delta.type === 'citations_delta' ? 'content' : 'frame';
}

function stopBlock(reply: MessagesReplyState, event: JsonObject): Step {
  const found = findOpenBlock(reply, readIndex(event));
  return found === undefined ? { reply, events: [], progress: 'none' } : closeBlock(reply, found);
}

function closeBlock(reply: MessagesReplyState, { position, block }: OpenPosition): Step {
  const finishedBlock = finishReplyBlock(block);
  const openBlocks = new Map([...reply.openBlocks].filter(([other]) => other !== position));
  const positions = new Map([...reply.positions].filter(([, other]) => other !== position));
  // Appended in place, because a reply can have thousands of calls.
  reply.finishedBlocks.push({ position, block: finishedBlock });
  const event = { type: 'block_end', index: position, block: finishedBlock } as const;
  return advance({ ...reply, openBlocks, positions }, [event], 'frame');
}

/** Ends a reply. Open blocks are finished with their content, except tool calls with incomplete input. */
function stopReply(unfinishedReply: MessagesReplyState): Step {
  let step: Step = advance({ ...unfinishedReply, isStopped: true });
  for (const [position, block] of unfinishedReply.openBlocks) {
    const finishedBlock = finishReplyBlock(block);
    if (finishedBlock.type === 'tool_use' && finishedBlock.unparsed !== undefined) continue;
    const next = closeBlock(step.reply, { position, block });
    step = advance(next.reply, [...step.events, ...next.events]);
  }
  return step;
}

/** Adds the number of tool results and tokens that the provider cleared from the request. */
function addClearedResults(usage: Usage, management: JsonValue | undefined): Usage {
  const edits = narrowToObject(management)?.applied_edits;
  if (!Array.isArray(edits)) return usage;
  const sum = (name: string) =>
    edits.reduce<number>((total, edit) => total + (narrowToNumber(narrowToObject(edit)?.[name]) ?? 0), 0);
  return { ...usage, cleared: { results: sum('cleared_tool_uses'), tokens: sum('cleared_input_tokens') } };
}

/** Merges reported token counts, which are totals; missing counts keep their last value. */
function mergeUsage(previous: Usage, raw: JsonObject | undefined): Usage {
  if (!raw) return previous;
  const searches = narrowToNumber(narrowToObject(raw.server_tool_use)?.web_search_requests) ?? previous.webSearches;
  return {
    inputTokens: narrowToNumber(raw.input_tokens) ?? previous.inputTokens,
    outputTokens: narrowToNumber(raw.output_tokens) ?? previous.outputTokens,
    cacheReadTokens: narrowToNumber(raw.cache_read_input_tokens) ?? previous.cacheReadTokens,
    cacheWriteTokens: narrowToNumber(raw.cache_creation_input_tokens) ?? previous.cacheWriteTokens,
    ...(searches !== undefined && { webSearches: searches }),
    ...(previous.cleared && { cleared: previous.cleared }),
  };
}
