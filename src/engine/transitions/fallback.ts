import type { ModelFailure } from '../../contracts/model.ts';
import type { QueryDeps, QueryState } from '../../contracts/query.ts';
import { hasFallback } from '../model-of.ts';
import { retry, spend, type Verdict } from '../state.ts';
import { brokeAfterCalls, type Turn } from '../turn.ts';

/** The model stays away: the next one of the chain takes over. The index only grows inside a query. */
export function fallBack(state: QueryState, turn: Turn, deps: Pick<QueryDeps, 'config'>): Verdict | undefined {
  if (turn.failure === undefined || !hasFallback(state, deps) || brokeAfterCalls(turn)) return undefined;
  if (!mayAnotherAnswer(turn.failure)) return undefined;
  const spent = spend(state, { fellBack: state.ledger.fellBack + 1 });
  return retry('fallback_retry', { ...spent, modelIndex: state.modelIndex + 1, maxOutputTokensOverride: undefined });
}

/** Would the same request have a chance with another model? */
export function mayAnotherAnswer({ kind }: Pick<ModelFailure, 'kind'>): boolean {
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
