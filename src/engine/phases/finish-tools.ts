import type { AgentEvent } from '../../contracts/event.ts';
import type { QueryDeps, QueryState } from '../../contracts/query.ts';
import { announce } from '../announce.ts';
import type { Verdict } from '../state.ts';
import { interrupt } from '../transitions/interrupt.ts';
import type { Turn } from '../turn.ts';

/** Waits for the remaining results, showing each as it completes. */
export async function* finishTools(
  state: QueryState,
  turn: Turn,
  deps: QueryDeps,
  signal: AbortSignal,
): AsyncGenerator<AgentEvent, Verdict | undefined> {
  yield* turn.callEvents();
  return signal.aborted ? yield* announce(state, turn, interrupt(state, turn, deps)) : undefined;
}
