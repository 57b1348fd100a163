import type { AgentEvent } from '../../contracts/event.ts';
import type { ModelEvent, ModelOutcome, ModelRequest } from '../../contracts/model.ts';
import type { QueryDeps, QueryState } from '../../contracts/query.ts';
import { getErrorMessage } from '../../lib/errors.ts';
import { createEventLoopYielder } from '../../lib/promises.ts';
import { type ModelTurn, sumInputTokens } from '../model-turn-result.ts';
import { getCurrentModelId, getCurrentModelLink, hasFallback } from '../query-state.ts';
import { stripRejectedContent } from '../recoveries/rejected-content.ts';
import { buildModelRequest } from '../request/build-model-request.ts';
import {
  closeInterruptedText,
  createStreamingReplyState,
  finishStreamingReply,
  reduceStreamingReply,
  type StreamingReplyState,
  takeCompleteCalls,
} from '../streaming-reply-state.ts';
import { createToolScheduler, type ToolScheduler } from '../tool-calls/tool-scheduler.ts';
import { emitTombstone } from '../turn-phases.ts';
import type { ContextPreparationResult } from './prepare-context.ts';

/** Sends the request and emits the reply as it streams; a call starts as soon as its block is complete and on disk. */
export async function* streamModel(
  { state, view }: Extract<ContextPreparationResult, { kind: 'ready' }>,
  deps: QueryDeps,
  signal: AbortSignal,
): AsyncGenerator<AgentEvent, ModelTurn> {
  const model = getCurrentModelId(state, deps);
  let excluded = state.excluded;
  for (let round = 0; ; round += 1) {
    const turnNumber = state.requestCount + round + 1;
    yield { type: 'turn_start', turn: turnNumber, model };
    const request = deps.transformRequest(buildModelRequest(view, { ...state, excluded }, deps));
    const turn = yield* streamReply(request, { ...state, excluded, requestCount: turnNumber }, deps, signal);
    const retryWith = stripRejectedContent(turn.failure, { stripped: excluded, view, request, round });
    if (retryWith === undefined) {
      const usage = turn.reply?.usage;
      const inputTokens = usage && sumInputTokens(usage);
      if (inputTokens !== undefined && inputTokens > 0)
        deps.context.calibrate(view, inputTokens, usage?.cleared?.tokens);
      return turn;
    }
    turn.calls.discard();
    yield* turn.remainingCallEvents();
    yield* emitTombstone(turn, 'Retrying without the rejected content.');
    yield { type: 'recovery_start', recovery: 'healed', cause: turn.failure?.message ?? '' };
    yield { type: 'notice', level: 'warn', topic: 'healed', text: retryWith.message };
    yield { type: 'recovery_end', recovery: 'healed', outcome: 'recovered', ...retryWith.recorded };
    excluded = retryWith.stripped;
  }
}

async function* streamReply(
  request: ModelRequest,
  state: QueryState,
  deps: QueryDeps,
  signal: AbortSignal,
): AsyncGenerator<AgentEvent, ModelTurn> {
  const channel = createAsyncQueue<StreamArrival>();
  const abandoned = new AbortController();
  const attemptSignal = AbortSignal.any([signal, abandoned.signal]);
  const calls = createToolScheduler(deps, (event) => channel.push({ from: 'calls', event }), attemptSignal);
  const startedAt = deps.now();
  const elapsedMs = () => deps.now() - startedAt;
  const context = { history: state.messages, newId: deps.newId, elapsedMs };
  let reply = createStreamingReplyState(request.model);
  let hasEnded = false;
  const yieldToLoop = createEventLoopYielder();
  const takeArrival = createArrivalReader(channel, calls, signal);
  pumpModelEvents(request, state, calls, channel, deps, attemptSignal);
  pushSummary(state, channel);
  try {
    for (;;) {
      // Thousands of calls may arrive at once.
      await yieldToLoop();
      const arrival = await takeArrival();
      if (arrival.from === 'calls') yield arrival.event;
      if (arrival.from === 'model') {
        const step = reduceStreamingReply(reply, arrival.event, context);
        reply = step.reply;
        yield* step.events;
        if (deps.config.toolExecution === 'streaming') reply = startCalls(calls, reply, 'parsed');
      }
      if (arrival.from === 'end') {
        if (arrival.outcome?.ok !== true) {
          const step = closeInterruptedText(reply, context);
          reply = step.reply;
          yield* step.events;
        }
        const finished = finishStreamingReply(reply, arrival.outcome, arrival.crash);
        if (!signal.aborted) startCalls(calls, reply, finished.reply.stopReason === 'max_tokens' ? 'parsed' : 'all');
        yield { type: 'turn_end', turn: state.requestCount, durationMs: elapsedMs(), ...finished.facts };
        hasEnded = true;
        return {
          ...finished.reply,
          calls,
          remainingCallEvents: () => emitRemainingEvents(calls, channel),
          stripped: state.excluded,
          turnNumber: state.requestCount,
          isStreamComplete: arrival.outcome?.ok === true,
        };
      }
    }
  } finally {
    // The consumer may return at any yield; the request must not continue unobserved.
    if (!hasEnded) abandoned.abort();
  }
}

/** Calls that may wait for others to end. An abort has to answer each of them, so the rest of the reply waits. */
const MAX_PENDING_CALLS = 200;

/** Creates a reader of arrivals: with many pending calls the model waits, after an abort all but its text is dropped. */
function createArrivalReader(
  channel: AsyncQueue<StreamArrival>,
  calls: ToolScheduler,
  signal: AbortSignal,
): () => Promise<StreamArrival> {
  const held = createAsyncQueue<StreamArrival>();
  const mustWait = () => calls.countPending() >= MAX_PENDING_CALLS && !signal.aborted;
  return async () => {
    for (;;) {
      const waited = mustWait() ? undefined : held.poll();
      const arrival = waited ?? channel.poll() ?? (await channel.next());
      const isDropped = signal.aborted && arrival.from === 'model' && isDroppedAfterAbort(arrival.event);
      if (arrival.from === 'calls' || (!isDropped && !mustWait())) return arrival;
      if (!isDropped) held.push(arrival);
    }
  };
}

/** Text that was received before an abort is kept. */
function isDroppedAfterAbort(event: ModelEvent): boolean {
  return ('index' in event && event.type !== 'text_delta') || event.type === 'raw';
}

function startCalls(calls: ToolScheduler, before: StreamingReplyState, which: 'parsed' | 'all'): StreamingReplyState {
  const { taken, reply } = takeCompleteCalls(before, which);
  for (const block of taken) calls.add(block, reply.messageId);
  return reply;
}

function pushSummary(state: QueryState, channel: AsyncQueue<StreamArrival>): void {
  // Never awaited: it is shown if it arrives in time.
  void state.pendingSummary?.then(
    (text) => text !== undefined && channel.push({ from: 'calls', event: { type: 'calls_summary', text } }),
    () => undefined,
  );
}

/** Emits the remaining events of the calls until every call has ended. */
async function* emitRemainingEvents(
  calls: ToolScheduler,
  channel: AsyncQueue<StreamArrival>,
): AsyncGenerator<AgentEvent, void> {
  void calls.whenSettled().then(() => channel.push({ from: 'settled' }));
  const yieldToLoop = createEventLoopYielder();
  for (;;) {
    await yieldToLoop();
    const arrival = channel.poll() ?? (await channel.next());
    if (arrival.from === 'settled') return;
    if (arrival.from === 'calls') yield arrival.event;
  }
}

/** Number of consecutive overload errors after which a fallback model takes over. */
export const OVERLOADS_BEFORE_FALLBACK = 3;

/** An item that arrives while a reply streams: from the model, from its calls, or the end of either. */
type StreamArrival =
  | { readonly from: 'model'; readonly event: ModelEvent }
  | { readonly from: 'calls'; readonly event: AgentEvent }
  | { readonly from: 'end'; readonly outcome: ModelOutcome | undefined; readonly crash: string | undefined }
  | { readonly from: 'settled' };

/** Reads the model stream in the background and pushes its events and its end to a channel; never throws. */
function pumpModelEvents(
  request: ModelRequest,
  state: QueryState,
  calls: ToolScheduler,
  channel: AsyncQueue<StreamArrival>,
  deps: QueryDeps,
  signal: AbortSignal,
): void {
  const link = getCurrentModelLink(state, deps);
  const { maxRetryDelayMs, getApiKey } = deps.config;
  // A complete call may still wait in the channel; it counts as started, otherwise a restart would run it twice.
  let hasQueuedCall = false;
  const options = {
    restartable: () => !hasQueuedCall && calls.countStarted() === 0,
    overloadLimit: hasFallback(state, deps) ? OVERLOADS_BEFORE_FALLBACK : Number.POSITIVE_INFINITY,
    partial: deps.config.partialMessages,
    ...(link.maxRetries === undefined ? {} : { maxRetries: link.maxRetries }),
    ...(link.timeoutMs === undefined ? {} : { timeoutMs: link.timeoutMs }),
    ...(maxRetryDelayMs === undefined ? {} : { maxRetryDelayMs }),
    ...(getApiKey === undefined ? {} : { getApiKey }),
    ...(deps.onWait === undefined ? {} : { onWait: deps.onWait }),
  };
  const readStream = async () => {
    const stream = deps.model.stream(request, options, signal);
    for (;;) {
      const step = await stream.next();
      if (step.done === true) return step.value;
      if (step.value.type === 'discarded') hasQueuedCall = false;
      if (startsCall(step.value, deps)) hasQueuedCall = true;
      channel.push({ from: 'model', event: step.value });
    }
  };
  readStream().then(
    (outcome) => channel.push({ from: 'end', outcome, crash: undefined }),
    (thrown) => channel.push({ from: 'end', outcome: undefined, crash: getErrorMessage(thrown) }),
  );
}

function startsCall(event: ModelEvent, deps: QueryDeps): boolean {
  return (
    deps.config.toolExecution === 'streaming' &&
    event.type === 'block_end' &&
    event.block.type === 'tool_use' &&
    event.block.unparsed === undefined
  );
}

/** An unbounded queue between concurrent writers and a single reader. Writers never wait. */
type AsyncQueue<Item> = {
  push(item: Item): void;
  /** Returns the next item, items for it if the queue is empty. */
  next(): Promise<Item>;
  /** Returns the next item, or `undefined` if the queue is empty. */
  poll(): Item | undefined;
};

/** Creates an empty channel. @internal Exported for tests. */
export function createAsyncQueue<Item>(): AsyncQueue<Item> {
  let items: Item[] = [];
  let head = 0;
  let wakeReader: ((item: Item) => void) | undefined;

  function poll(): Item | undefined {
    if (head >= items.length) return undefined;
    const item = items[head];
    head += 1;
    if (head === items.length) {
      items = [];
      head = 0;
    }
    return item;
  }

  return {
    push(item) {
      if (wakeReader === undefined) {
        items.push(item);
        return;
      }
      const resolve = wakeReader;
      wakeReader = undefined;
      resolve(item);
    },
    async next() {
      const item = poll();
      if (item !== undefined) return item;
      return new Promise<Item>((resolve) => {
        wakeReader = resolve;
      });
    },
    poll,
  };
}
