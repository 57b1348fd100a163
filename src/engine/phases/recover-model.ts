import { bury } from '../announce.ts';
import { modelOf } from '../model-of.ts';
import type { Phase } from '../phase.ts';
import { fallBack } from '../transitions/fallback.ts';

/** The model cannot be had: the partial reply is void, and the next model of the chain is asked the same. */
export const recoverModel: Phase = async function* (state, turn, deps) {
  const verdict = fallBack(state, turn, deps);
  if (verdict === undefined) return undefined;
  const cause = turn.failure?.message ?? '';
  yield { type: 'recovery_start', recovery: 'fallback_retry', cause };
  turn.calls.discard();
  yield* turn.callEvents();
  yield* bury(turn, 'Another model answers instead.');
  const text = `Switched to ${modelOf(verdict.state, deps)}: ${cause}`;
  yield { type: 'notice', level: 'warn', topic: 'fallback', text };
  yield { type: 'recovery_end', recovery: 'fallback_retry', outcome: 'recovered' };
  return verdict;
};
