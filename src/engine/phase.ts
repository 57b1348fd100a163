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
