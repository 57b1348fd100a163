import type { AgentEvent } from '../../contracts/event.ts';
import type { QueryState } from '../../contracts/query.ts';
import { bury } from '../announce.ts';
import type { Phase } from '../climb.ts';
import { modelOf } from '../model-of.ts';
import { fallBack } from '../transitions/fallback.ts';
import type { Turn } from '../turn.ts';

/** The model cannot be had: the partial reply is void, and the next model of the chain is asked the same. How that ends is told by `settleFallback`. */
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
  return verdict;
};

/** The model that took over has answered, or it has not either. */
export function* settleFallback(state: QueryState, turn: Turn | undefined): Generator<AgentEvent, void> {
  if (state.transition?.reason !== 'fallback_retry') return;
  const hasAnswered = turn !== undefined && turn.failure === undefined && turn.crash === undefined;
  yield {
    type: 'recovery_end',
    recovery: 'fallback_retry',
    outcome: hasAnswered ? 'recovered' : 'released',
    ...(hasAnswered ? { detail: turn.model } : {}),
  };
}
