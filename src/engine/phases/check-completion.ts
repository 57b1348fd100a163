import { announce } from '../announce.ts';
import type { Phase } from '../climb.ts';
import { append, stop } from '../state.ts';
import { continueBudget, followUp } from '../transitions/completion.ts';
import { callsOf } from '../turn.ts';
import { replyOf } from './consult-stop-hooks.ts';

/** No calls and nobody objects: a budget may want more, a queued prompt may follow, else it is done. */
export const checkCompletion: Phase = async function* (state, turn, deps, signal) {
  if (callsOf(turn.reply).length > 0) return undefined;
  const reply = replyOf(turn);
  const written = turn.reply?.usage?.outputTokens ?? 0;
  const more = continueBudget(state, reply, written, deps.config.tokenBudget, deps);
  if (more !== undefined) return yield* announce(state, turn, more);
  await deps.queues.settle?.(signal);
  const queued = deps.queues.takeFollowUps();
  for (const item of queued) yield { type: 'queue', item, state: 'delivered' };
  const next = followUp(
    state,
    reply,
    queued.map((item) => item.message),
  );
  return yield* announce(state, turn, next ?? stop(append(state, ...reply), { reason: 'completed' }));
};
