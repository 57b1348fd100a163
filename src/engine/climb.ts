import type { AgentEvent } from '../contracts/event.ts';
import type { QueryDeps, QueryState } from '../contracts/query.ts';
import type { Verdict } from './state.ts';
import type { Turn } from './turn.ts';

/** One rung of the ladder: yields what it does, returns a verdict or stays silent. */
export type Phase = (
  state: QueryState,
  turn: Turn,
  deps: QueryDeps,
  signal: AbortSignal,
) => AsyncGenerator<AgentEvent, Verdict | undefined>;

/** Goes up the ladder of one turn: the first phase that gives a verdict wins, silence passes on. */
export async function* climb(
  ladder: readonly Phase[],
  state: QueryState,
  turn: Turn,
  deps: QueryDeps,
  signal: AbortSignal,
): AsyncGenerator<AgentEvent, Verdict> {
  try {
    for (const phase of ladder) {
      const verdict = yield* phase(state, turn, deps, signal);
      if (verdict !== undefined) return verdict;
    }
  } finally {
    // The consumer may leave at any yield: no call goes on behind its back.
    turn.calls.discard();
  }
  throw new Error('The ladder has no last rung: advance always gives a verdict.');
}
