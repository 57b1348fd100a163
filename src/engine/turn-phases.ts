import type { AgentEvent } from '../contracts/event.ts';
import type { QueryDeps, QueryState } from '../contracts/query.ts';
import type { ModelTurn } from './model-turn-result.ts';
import type { PhaseVerdict } from './query-state.ts';

/** One step of the ladder: yields events; returns a verdict, or `undefined` to pass on to the next phase. */
export type LoopPhase = (
  state: QueryState,
  turn: ModelTurn,
  deps: QueryDeps,
  signal: AbortSignal,
) => AsyncGenerator<AgentEvent, PhaseVerdict | undefined>;

/** Runs the phases of one turn in order until one returns a verdict. */
export async function* runTurnPhases(
  ladder: readonly LoopPhase[],
  state: QueryState,
  turn: ModelTurn,
  deps: QueryDeps,
  signal: AbortSignal,
): AsyncGenerator<AgentEvent, PhaseVerdict> {
  try {
    for (const phase of ladder) {
      const verdict = yield* phase(state, turn, deps, signal);
      if (verdict !== undefined) return verdict;
    }
  } finally {
    // The consumer may return at any yield; running calls must not continue unobserved.
    turn.calls.discard();
  }
  throw new Error('No phase returned a verdict; advance always does.');
}

/** Emits the messages that a verdict added, so that the transcript has them before the next request depends on them. */
export function* emitVerdictMessages<Result extends PhaseVerdict | undefined>(
  previous: QueryState,
  turn: ModelTurn,
  verdict: Result,
): Generator<AgentEvent, Result> {
  if (verdict === undefined) return verdict;
  const added = verdict.state.messages.slice(previous.messages.length);
  if (!added.some((message) => message.id === turn.shownMessageId)) yield* emitTombstone(turn, 'The reply was empty.');
  for (const message of added) yield { type: 'message_end', message };
  return verdict;
}

/** Emits a tombstone for a reply whose beginning was shown. */
export function* emitTombstone(turn: ModelTurn, reason: string): Generator<AgentEvent, void> {
  if (turn.shownMessageId !== undefined) yield { type: 'tombstone', messageId: turn.shownMessageId, why: reason };
}
