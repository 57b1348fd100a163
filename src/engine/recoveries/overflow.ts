import type { CompactionResult, QueryState } from '../../contracts/query.ts';
import { resolveUndefinedOnAbort } from '../../lib/promises.ts';
import { listReplyCalls, type ModelTurn } from '../model-turn-result.ts';
import { getCurrentModelId, type PhaseVerdict, retry, spend, stop } from '../query-state.ts';
import { emitTombstone, type LoopPhase } from '../turn-phases.ts';

const RETRYING = 'Retrying with a smaller context.';

/** Shrinks a context that does not fit, cheapest first: commits staged collapses, then compacts; each once. */
export const recoverContextOverflow: LoopPhase = async function* (state, turn, deps, signal) {
  const isDrained =
    canDrainCollapses(state, turn) && (await resolveUndefinedOnAbort(deps.context.drain(state.messages), signal));
  if (isDrained) {
    yield { type: 'recovery_start', recovery: 'collapse_drain_retry', cause: describeCause(turn) };
    yield* emitTombstone(turn, RETRYING);
    yield { type: 'notice', level: 'info', topic: 'context', text: 'Older calls were collapsed to free context.' };
    yield { type: 'recovery_end', recovery: 'collapse_drain_retry', outcome: 'recovered' };
    return applyDrain(state);
  }
  if (!canCompact(state, turn)) return undefined;
  yield { type: 'recovery_start', recovery: 'reactive_compact_retry', cause: describeCause(turn) };
  yield { type: 'status', status: 'compacting' };
  const compacting = deps.context.compact(state.messages, 'reactive', signal, getCurrentModelId(state, deps));
  const result = await resolveUndefinedOnAbort(compacting, signal);
  if (result === undefined) {
    yield { type: 'recovery_end', recovery: 'reactive_compact_retry', outcome: 'released', detail: 'stopped' };
    yield* emitTombstone(turn, 'The context was too large, and compaction was stopped.');
    return stop(state, { reason: 'aborted_streaming' });
  }
  if (!result.ok) {
    yield { type: 'recovery_end', recovery: 'reactive_compact_retry', outcome: 'released', detail: result.why };
    return undefined;
  }
  yield* emitTombstone(turn, RETRYING);
  const boundary = result.messages.find((message) => message.role === 'boundary');
  if (boundary !== undefined) {
    yield { type: 'compacted', boundary, messages: result.messages, postTokens: result.postTokens };
  }
  yield { type: 'recovery_end', recovery: 'reactive_compact_retry', outcome: 'recovered' };
  return applyReactiveCompaction(state, result);
};

function describeCause(turn: ModelTurn): string {
  return turn.failure?.message ?? 'The reply reached the end of the context window.';
}

/** Tells whether the request or its reply exceeded the context window. */
export function isContextOverflow(turn: ModelTurn): boolean {
  if (turn.failure?.kind === 'too_long' || turn.failure?.kind === 'media_too_large') return true;
  return turn.stopReason === 'model_context_window_exceeded' && listReplyCalls(turn.reply).length === 0;
}

/** Tells whether staged collapses may be committed: once, and never twice in a row. */
function canDrainCollapses(state: QueryState, turn: ModelTurn): boolean {
  return (
    isContextOverflow(turn) &&
    turn.failure?.kind !== 'media_too_large' &&
    !state.ledger.drained &&
    state.transition?.reason !== 'collapse_drain_retry'
  );
}

/** Requests another reply after staged collapses were committed. */
function applyDrain(state: QueryState): PhaseVerdict {
  return retry('collapse_drain_retry', spend(state, { drained: true }));
}

/** Tells whether a compaction may be tried: once between two turns with results. */
function canCompact(state: QueryState, turn: ModelTurn): boolean {
  return isContextOverflow(turn) && !state.ledger.compacted;
}

/** Replaces the conversation by its compaction and requests another reply. */
function applyReactiveCompaction(state: QueryState, result: Extract<CompactionResult, { ok: true }>): PhaseVerdict {
  const compaction = { consecutiveFailures: 0, turnsSinceCompact: 0 };
  return retry('reactive_compact_retry', {
    ...spend(state, { compacted: true }),
    messages: result.messages,
    compaction,
  });
}
