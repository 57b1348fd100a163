import { announce } from '../announce.ts';
import type { Phase } from '../climb.ts';
import { append, stop } from '../state.ts';
import { callsOf } from '../turn.ts';
import { replyOf } from './consult-stop-hooks.ts';

/** A reply without calls: whoever watches the turns may want no more, before hooks, budgets and waiting words do. */
export const stopWhereAsked: Phase = async function* (state, turn, deps) {
  if (callsOf(turn.reply).length > 0) return undefined;
  const after = append(state, ...replyOf(turn));
  if (deps.shouldStopAfterTurn?.(after) !== true) return undefined;
  return yield* announce(state, turn, stop(after, { reason: 'completed', isFinal: true }));
};
