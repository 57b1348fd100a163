import type { CompactionResult, QueryState } from '../../contracts/query.ts';

export const MAX_FAILED_COMPACTIONS = 3;
/** What the end of a compaction says that somebody stopped. */
export const STOPPED_COMPACTION = 'stopped';

/** A compaction that brought no room counts as a failure, so that the loop never compacts for ever. */
export function afterCompaction(state: QueryState, result: Extract<CompactionResult, { ok: true }>): QueryState {
  const progressed = result.postTokens < result.preTokens;
  const consecutiveFailures = progressed ? 0 : state.compaction.consecutiveFailures + 1;
  return { ...state, messages: result.messages, compaction: { consecutiveFailures, turnsSinceCompact: 0 } };
}

export function compactionFailed(state: QueryState): QueryState {
  const { consecutiveFailures, turnsSinceCompact } = state.compaction;
  return { ...state, compaction: { consecutiveFailures: consecutiveFailures + 1, turnsSinceCompact } };
}
