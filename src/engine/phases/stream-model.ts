import type { AgentEvent } from '../../contracts/event.ts';
import type { ModelRequest } from '../../contracts/model.ts';
import type { QueryDeps, QueryState } from '../../contracts/query.ts';
import { type Channel, createChannel } from '../../lib/channel.ts';
import { bury } from '../announce.ts';
import { finishReply } from '../finish-reply.ts';
import { modelOf } from '../model-of.ts';
import { type Arrival, pump } from '../model-pump.ts';
import { cutShort, emptyReply, type ReplyState, reduceReply, takeCalls } from '../reply-state.ts';
import { buildRequest } from '../request.ts';
import { createToolRun, type ToolRun } from '../tool-run.ts';
import { heal } from '../transitions/heal.ts';
import { inputOf, type Turn } from '../turn.ts';
import type { Ready } from './prepare-context.ts';

/** Asks the model and shows the reply as it comes; a call starts as soon as its block is complete and on disk. */
export async function* streamModel(
  { state, view }: Extract<Ready, { kind: 'ready' }>,
  deps: QueryDeps,
  signal: AbortSignal,
): AsyncGenerator<AgentEvent, Turn> {
  const model = modelOf(state, deps);
  let stripped = state.stripped;
  for (let round = 0; ; round += 1) {
    const asked = state.asked + round + 1;
    yield { type: 'turn_start', turn: asked, model };
    const request = deps.transformRequest(buildRequest(view, { ...state, stripped }, deps));
    const turn = yield* attempt(request, { ...state, stripped, asked }, deps, signal);
    const healed = heal(turn.failure, { stripped, view, request, round });
    if (healed === undefined) {
      const usage = turn.reply?.usage;
      const inputTokens = usage && inputOf(usage);
      if (inputTokens !== undefined && inputTokens > 0)
        deps.context.calibrate(view, inputTokens, usage?.cleared?.tokens);
      return turn;
    }
    turn.calls.discard();
    yield* turn.callEvents();
    yield* bury(turn, 'It is asked for again without what was refused.');
    yield { type: 'recovery_start', recovery: 'healed', cause: turn.failure?.message ?? '' };
    yield { type: 'notice', level: 'warn', topic: 'healed', text: healed.words };
    yield { type: 'recovery_end', recovery: 'healed', outcome: 'recovered', ...healed.left };
    stripped = healed.stripped;
  }
}

async function* attempt(
  request: ModelRequest,
  state: QueryState,
  deps: QueryDeps,
  signal: AbortSignal,
): AsyncGenerator<AgentEvent, Turn> {
  const channel = createChannel<Arrival>();
  const leaving = new AbortController();
  const own = AbortSignal.any([signal, leaving.signal]);
  const calls = createToolRun(deps, (event) => channel.push({ from: 'calls', event }), own);
  const startedAt = deps.now();
  const elapsedMs = () => deps.now() - startedAt;
  const facts = { history: state.messages, newId: deps.newId, elapsedMs };
  let reply = emptyReply(request.model);
  let ended = false;
  pump(request, state, calls, channel, deps, own);
  showSummary(state, channel);
  try {
    for (;;) {
      const arrival = channel.poll() ?? (await channel.next());
      if (arrival.from === 'calls') yield arrival.event;
      if (arrival.from === 'model') {
        const step = reduceReply(reply, arrival.event, facts);
        reply = step.reply;
        yield* step.events;
        if (deps.config.toolExecution === 'streaming') reply = start(calls, reply, 'parsed');
      }
      if (arrival.from === 'end') {
        if (arrival.outcome?.ok !== true) {
          const step = cutShort(reply, facts);
          reply = step.reply;
          yield* step.events;
        }
        const finished = finishReply(reply, arrival.outcome, arrival.crash);
        if (!signal.aborted) start(calls, reply, finished.reply.stop === 'max_tokens' ? 'parsed' : 'all');
        yield { type: 'turn_end', turn: state.asked, durationMs: elapsedMs(), ...finished.facts };
        ended = true;
        return {
          ...finished.reply,
          calls,
          callEvents: () => remaining(calls, channel),
          stripped: state.stripped,
          asked: state.asked,
          streamed: arrival.outcome?.ok === true,
        };
      }
    }
  } finally {
    // The consumer may leave at any yield: nothing of ours goes on behind its back.
    if (!ended) leaving.abort();
  }
}

function start(calls: ToolRun, before: ReplyState, which: 'parsed' | 'all'): ReplyState {
  const { taken, reply } = takeCalls(before, which);
  for (const block of taken) calls.add(block, reply.messageId);
  return reply;
}

function showSummary(state: QueryState, channel: Channel<Arrival>): void {
  // Nobody waits for it: it is shown when it arrives, or never.
  void state.pendingSummary?.then(
    (text) => text !== undefined && channel.push({ from: 'calls', event: { type: 'calls_summary', text } }),
    () => undefined,
  );
}

/** What the calls still have to say, until every one of them has its end. */
async function* remaining(calls: ToolRun, channel: Channel<Arrival>): AsyncGenerator<AgentEvent, void> {
  void calls.settled().then(() => channel.push({ from: 'settled' }));
  for (;;) {
    const arrival = channel.poll() ?? (await channel.next());
    if (arrival.from === 'settled') return;
    if (arrival.from === 'calls') yield arrival.event;
  }
}
