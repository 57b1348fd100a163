import type { ModelLink } from '../contracts/model.ts';
import type { QueryDeps, QueryState } from '../contracts/query.ts';

/** The link of the chain in use: the primary, then each fallback. */
export function linkOf(state: Pick<QueryState, 'modelIndex'>, deps: Pick<QueryDeps, 'config'>): ModelLink {
  const link = deps.config.chain[state.modelIndex] ?? deps.config.chain.at(-1);
  if (link === undefined) throw new Error('The chain of models is empty.');
  return link;
}

export function modelOf(state: Pick<QueryState, 'modelIndex'>, deps: Pick<QueryDeps, 'config'>): string {
  return linkOf(state, deps).model;
}

export function hasFallback(state: Pick<QueryState, 'modelIndex'>, deps: Pick<QueryDeps, 'config'>): boolean {
  return state.modelIndex + 1 < deps.config.chain.length;
}
