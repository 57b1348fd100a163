import type { AgentEvent } from '../../contracts/event.ts';
import type { ModelFailure } from '../../contracts/model.ts';
import type { QueryDeps, QueryState } from '../../contracts/query.ts';
import { isBrokenAfterCalls, type ModelTurn } from '../model-turn-result.ts';
import { getCurrentModelId, hasFallback, type PhaseVerdict, retry, spend } from '../query-state.ts';
import { emitTombstone, type LoopPhase } from '../turn-phases.ts';

/** Discards the partial reply of an unavailable model and repeats the request with the next model of the chain. */
export const recoverWithFallback: LoopPhase = async function* (state, turn, deps) {
  const verdict = fallBackToNextModel(state, turn, deps);
  if (verdict === undefined) return undefined;
  const cause = turn.failure?.message ?? '';
  yield { type: 'recovery_start', recovery: 'fallback_retry', cause };
  turn.calls.discard();
  yield* turn.remainingCallEvents();
  yield* emitTombstone(turn, 'Retrying with a fallback model.');
  const text = `Switched to ${getCurrentModelId(verdict.state, deps)}: ${cause}`;
  yield { type: 'notice', level: 'warn', topic: 'fallback', text };
  return verdict;
};

/** Emits the end of a fallback: whether the model that took over has replied. */
export function* emitFallbackOutcome(state: QueryState, turn: ModelTurn | undefined): Generator<AgentEvent, void> {
  if (state.transition?.reason !== 'fallback_retry') return;
  const hasAnswered = turn !== undefined && turn.failure === undefined && turn.crash === undefined;
  yield {
    type: 'recovery_end',
    recovery: 'fallback_retry',
    outcome: hasAnswered ? 'recovered' : 'released',
    ...(hasAnswered ? { detail: turn.model } : {}),
  };
}

/** Switches to the next model of the chain; within a query the index only grows. */
function fallBackToNextModel(state: QueryState, turn: ModelTurn, deps: QueryDeps): PhaseVerdict | undefined {
  if (turn.failure === undefined || !hasFallback(state, deps) || isBrokenAfterCalls(turn)) return undefined;
  if (!canAnotherModelAnswer(turn.failure)) return undefined;
  const spent = spend(state, { fellBack: state.ledger.fellBack + 1 });
  return retry('fallback_retry', { ...spent, modelIndex: state.modelIndex + 1, maxOutputTokensOverride: undefined });
}

/** Tells whether the same request may succeed with another model. */
export function canAnotherModelAnswer({ kind }: ModelFailure): boolean {
  switch (kind) {
    case 'overloaded':
    case 'rate_limited':
    case 'not_found':
    case 'invalid':
    case 'server':
    case 'stalled':
    case 'cut':
    case 'refused':
      return true;
    default:
      return false;
  }
}
