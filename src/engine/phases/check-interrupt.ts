import type { AgentEvent } from '../../contracts/event.ts';
import type { QueryDeps, QueryState } from '../../contracts/query.ts';
import { announce } from '../announce.ts';
import type { Verdict } from '../state.ts';
import { interrupt } from '../transitions/interrupt.ts';
import type { Turn } from '../turn.ts';

/** ESC while the reply streamed: what is finished is kept, every complete call gets its result. */
export async function* checkInterrupt(
  state: QueryState,
  turn: Turn,
  deps: QueryDeps,
  signal: AbortSignal,
): AsyncGenerator<AgentEvent, Verdict | undefined> {
  if (!signal.aborted) return undefined;
  yield* turn.callEvents();
  return yield* announce(state, turn, interrupt(state, turn, deps));
}
