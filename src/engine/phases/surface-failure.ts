import type { AgentEvent } from '../../contracts/event.ts';
import type { QueryDeps, QueryState } from '../../contracts/query.ts';
import { announce } from '../announce.ts';
import type { Verdict } from '../state.ts';
import { surface } from '../transitions/surface.ts';
import type { Turn } from '../turn.ts';

/** What nobody could recover is reported now, once; stop hooks are not run for it. */
export async function* surfaceFailure(
  state: QueryState,
  turn: Turn,
  _deps: QueryDeps,
): AsyncGenerator<AgentEvent, Verdict | undefined> {
  const verdict = surface(state, turn);
  if (verdict === undefined || verdict.kind !== 'stop') return undefined;
  turn.calls.discard();
  yield* turn.callEvents();
  yield* announce(state, turn, verdict);
  yield {
    type: 'notice',
    level: 'error',
    topic: verdict.terminal.reason,
    text: verdict.terminal.words ?? 'The request failed.',
  };
  return verdict;
}
