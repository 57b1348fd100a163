import type { CompactionResult, QueryState } from '../../contracts/query.ts';
import { retry, spend, type Verdict } from '../state.ts';
import { callsOf, type Turn } from '../turn.ts';

/** Withheld: the request or its answer did not fit. */
export function isOverflow(turn: Turn): boolean {
  if (turn.failure?.kind === 'too_long' || turn.failure?.kind === 'media_too_large') return true;
  return turn.stop === 'model_context_window_exceeded' && callsOf(turn.reply).length === 0;
}

/** May staged collapses be committed? Once, and never twice in a row. */
export function mayDrain(state: QueryState, turn: Turn): boolean {
  return (
    isOverflow(turn) &&
    turn.failure?.kind !== 'media_too_large' &&
    !state.ledger.drained &&
    state.transition?.reason !== 'collapse_drain_retry'
  );
}

export function afterDrain(state: QueryState): Verdict {
  return retry('collapse_drain_retry', spend(state, { drained: true }));
}

/** May a compaction be tried? Once between two turns with real results. */
export function mayCompact(state: QueryState, turn: Turn): boolean {
  return isOverflow(turn) && !state.ledger.compacted;
}

/** The conversation is replaced by its summary and tail, and asked again. */
export function afterReactiveCompaction(state: QueryState, result: Extract<CompactionResult, { ok: true }>): Verdict {
  const compaction = { consecutiveFailures: 0, turnsSinceCompact: 0 };
  return retry('reactive_compact_retry', {
    ...spend(state, { compacted: true }),
    messages: result.messages,
    compaction,
  });
}
