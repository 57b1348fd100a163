import type { AgentEvent } from '../../contracts/event.ts';
import type { Message } from '../../contracts/message.ts';
import type { QueryDeps, QueryState, StopVerdict } from '../../contracts/query.ts';
import { untilAborted } from '../../lib/abort.ts';
import { messageOf } from '../../lib/errors.ts';
import { announce } from '../announce.ts';
import { worthKeeping } from '../keep.ts';
import { append, stop, type Verdict } from '../state.ts';
import { hearSteering, nudgeEmpty, objectToStop, resumePause } from '../transitions/completion.ts';
import { callsOf, type Turn } from '../turn.ts';

/** A reply without calls: is it really the end? Pauses, empty replies and new words come before the hooks. */
export async function* consultStopHooks(
  state: QueryState,
  turn: Turn,
  deps: QueryDeps,
  signal: AbortSignal,
): AsyncGenerator<AgentEvent, Verdict | undefined> {
  if (callsOf(turn.reply).length > 0) return undefined;
  const goesOn = resumePause(state, turn, deps) ?? nudgeEmpty(state, turn, deps);
  if (goesOn !== undefined) {
    if (turn.stop !== 'pause_turn') yield* buryEmpty(turn);
    return yield* announce(state, goesOn);
  }
  const reply = replyOf(turn);
  if (deps.queues.hasSteering()) return yield* announce(state, hearSteering(state, reply));

  const facts = { messages: [...state.messages, ...reply], stopHookActive: state.stopHookActive };
  const verdict = await ask(deps, facts, signal);
  if (verdict === undefined) return yield* announce(state, stop(append(state, ...reply), { reason: 'completed' }));
  if (verdict.kind === 'prevent') {
    return yield* announce(
      state,
      stop(append(state, ...reply), { reason: 'stop_hook_prevented', words: verdict.words }),
    );
  }
  if (verdict.kind === 'pass') return undefined;
  const objected = objectToStop(state, reply, verdict.words, deps);
  if (objected === undefined) {
    const text = `A stop hook objected too often and is not asked again: ${verdict.words}`;
    yield { type: 'notice', level: 'warn', topic: 'stop_hook', text };
    return yield* announce(state, stop(append(state, ...reply), { reason: 'completed' }));
  }
  yield { type: 'notice', level: 'info', topic: 'stop_hook', text: verdict.words };
  return yield* announce(state, objected);
}

export function replyOf(turn: Turn): readonly Message[] {
  const kept = worthKeeping(turn.reply, { calls: 'kept' });
  return kept === undefined ? [] : [kept];
}

function* buryEmpty(turn: Turn): Generator<AgentEvent, void> {
  if (turn.reply !== undefined) yield { type: 'tombstone', messageId: turn.reply.id, why: 'It held no words.' };
}

/** `undefined` once aborted: a stopped hook lets the query complete. */
async function ask(
  deps: QueryDeps,
  facts: Parameters<QueryDeps['onStop']>[0],
  signal: AbortSignal,
): Promise<StopVerdict | undefined> {
  try {
    return await untilAborted((async () => deps.onStop(facts, signal))(), signal);
  } catch (thrown) {
    return { kind: 'prevent', words: `A stop hook broke: ${messageOf(thrown)}` };
  }
}
