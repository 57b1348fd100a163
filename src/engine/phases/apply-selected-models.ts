import type { QueryDeps, QueryState } from '../../contracts/query.ts';
import { isIdenticalRetry } from './prepare-context.ts';

/** Applies the model chain and thinking effort chosen for the next turn; a new chain starts with its first model. */
export function applySelectedModels(
  state: QueryState,
  deps: QueryDeps,
): { readonly state: QueryState; readonly deps: QueryDeps } {
  // A repeated request must stay the same, also for the model that takes over.
  if (deps.selectModels === undefined || isIdenticalRetry(state)) return { state, deps };
  const { chain, effort, thinkingBudgetTokens } = deps.selectModels();
  const config = { ...deps.config, chain, effort, thinkingBudgetTokens };
  const isSame = chain === deps.config.chain;
  return {
    state: isSame ? state : { ...state, modelIndex: 0, maxOutputTokensOverride: undefined },
    deps: { ...deps, config },
  };
}
