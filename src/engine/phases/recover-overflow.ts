import { untilAborted } from '../../lib/abort.ts';
import { bury } from '../announce.ts';
import type { Phase } from '../climb.ts';
import { modelOf } from '../model-of.ts';
import { stop } from '../state.ts';
import { afterDrain, afterReactiveCompaction, mayCompact, mayDrain } from '../transitions/overflow.ts';
import type { Turn } from '../turn.ts';

const ASKED_AGAIN = 'It is asked for again with more room.';

/** It did not fit. Cheapest first: commit staged collapses, then compact; each once. */
export const recoverOverflow: Phase = async function* (state, turn, deps, signal) {
  const drained = mayDrain(state, turn) && (await untilAborted(deps.context.drain(state.messages), signal));
  if (drained) {
    yield { type: 'recovery_start', recovery: 'collapse_drain_retry', cause: causeOf(turn) };
    yield* bury(turn, ASKED_AGAIN);
    yield { type: 'notice', level: 'info', topic: 'context', text: 'Older calls were folded to make room.' };
    yield { type: 'recovery_end', recovery: 'collapse_drain_retry', outcome: 'recovered' };
    return afterDrain(state);
  }
  if (!mayCompact(state, turn)) return undefined;
  yield { type: 'recovery_start', recovery: 'reactive_compact_retry', cause: causeOf(turn) };
  yield { type: 'status', status: 'compacting' };
  const compacting = deps.context.compact(state.messages, 'reactive', signal, modelOf(state, deps));
  const result = await untilAborted(compacting, signal);
  if (result === undefined) {
    yield { type: 'recovery_end', recovery: 'reactive_compact_retry', outcome: 'released', detail: 'stopped' };
    yield* bury(turn, 'It did not fit, and was not asked for again.');
    return stop(state, { reason: 'aborted_streaming' });
  }
  if (!result.ok) {
    yield { type: 'recovery_end', recovery: 'reactive_compact_retry', outcome: 'released', detail: result.why };
    return undefined;
  }
  yield* bury(turn, ASKED_AGAIN);
  const boundary = result.messages.find((message) => message.role === 'boundary');
  if (boundary !== undefined) {
    yield { type: 'compacted', boundary, messages: result.messages, postTokens: result.postTokens };
  }
  yield { type: 'recovery_end', recovery: 'reactive_compact_retry', outcome: 'recovered' };
  return afterReactiveCompaction(state, result);
};

function causeOf(turn: Turn): string {
  return turn.failure?.message ?? 'The reply ran into the end of the context window.';
}
