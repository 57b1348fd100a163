import type { QueryDeps, QueryState } from '../../contracts/query.ts';
import { repeatsRequest } from './prepare-context.ts';

/** Before a turn: another chain of models begins with its first, and what it thinks with counts from here on. */
export function askWhoAnswers(
  state: QueryState,
  deps: QueryDeps,
): { readonly state: QueryState; readonly deps: QueryDeps } {
  // A request that is repeated is the same request, also to the model that takes over.
  if (deps.answering === undefined || repeatsRequest(state)) return { state, deps };
  const { chain, effort, thinkingBudgetTokens } = deps.answering();
  const config = { ...deps.config, chain, effort, thinkingBudgetTokens };
  const isSame = chain === deps.config.chain;
  return {
    state: isSame ? state : { ...state, modelIndex: 0, maxOutputTokensOverride: undefined },
    deps: { ...deps, config },
  };
}
