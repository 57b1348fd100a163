import type { ModelLink } from '../contracts/model.ts';
import type { QueryConfig, QueryState } from '../contracts/query.ts';

type Chained = { readonly config: Pick<QueryConfig, 'chain'> };

/** The link of the chain in use: the primary, then each fallback. */
export function linkOf(state: Pick<QueryState, 'modelIndex'>, deps: Chained): ModelLink {
  const link = deps.config.chain[state.modelIndex] ?? deps.config.chain.at(-1);
  if (link === undefined) throw new Error('The chain of models is empty.');
  return link;
}

export function modelOf(state: Pick<QueryState, 'modelIndex'>, deps: Chained): string {
  return linkOf(state, deps).model;
}

export function hasFallback(state: Pick<QueryState, 'modelIndex'>, deps: Chained): boolean {
  return state.modelIndex + 1 < deps.config.chain.length;
}
