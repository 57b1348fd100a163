import type { Message } from '../../contracts/message.ts';
import type { QueryDeps, StopVerdict } from '../../contracts/query.ts';
import type { Terminal } from '../../contracts/terminal.ts';
import { untilAborted } from '../../lib/abort.ts';
import { messageOf } from '../../lib/errors.ts';
import { announce } from '../announce.ts';
import type { Phase } from '../climb.ts';
import { worthKeeping } from '../keep.ts';
import { append, stop } from '../state.ts';
import { nudgeEmpty, objectToStop, resumePause, takeSteeringNext } from '../transitions/completion.ts';
import { callsOf, type Turn } from '../turn.ts';

/** A reply without calls: is it really the end? Pauses, empty replies and new words come before the hooks. */
export const consultStopHooks: Phase = async function* (state, turn, deps, signal) {
  if (callsOf(turn.reply).length > 0) return undefined;
  const goesOn = resumePause(state, turn) ?? nudgeEmpty(state, turn, deps);
  if (goesOn !== undefined) return yield* announce(state, turn, goesOn);
  const reply = replyOf(turn);
  await deps.queues.settle?.(signal);
  if (deps.queues.hasSteering()) return yield* announce(state, turn, takeSteeringNext(state, reply));

  const facts = { messages: [...state.messages, ...reply], stopHookActive: state.stopHookActive };
  const end = (terminal: Terminal) => announce(state, turn, stop(append(state, ...reply), terminal));
  const verdict = await ask(deps, facts, signal);
  if (verdict === undefined) return yield* end({ reason: 'completed' });
  if (verdict.kind === 'prevent') return yield* end({ reason: 'stop_hook_prevented', words: verdict.words });
  if (verdict.kind === 'pass') return undefined;
  const objected = objectToStop(state, reply, verdict.words, deps);
  if (objected === undefined) {
    const text = `A stop hook objected too often and is not asked again: ${verdict.words}`;
    yield { type: 'notice', level: 'warn', topic: 'stop_hook', text };
    return yield* end({ reason: 'completed' });
  }
  yield { type: 'notice', level: 'info', topic: 'stop_hook', text: verdict.words };
  return yield* announce(state, turn, objected);
};

export function replyOf(turn: Turn): readonly Message[] {
  const kept = worthKeeping(turn.reply, { calls: 'kept' });
  return kept === undefined ? [] : [kept];
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
