import type { AgentEvent } from '../contracts/event.ts';
import type { Message } from '../contracts/message.ts';
import type { QueryDeps } from '../contracts/query.ts';
import type { Terminal } from '../contracts/terminal-reason.ts';
import { guardDeps } from './guard-deps.ts';
import { type Phase, runLadder } from './ladder.ts';
import { advance } from './phases/advance.ts';
import { checkCompletion, runStopHooks, stopOnRequest } from './phases/check-completion.ts';
import { checkInterrupt, finishTools } from './phases/check-interrupt.ts';
import { prepareContext } from './phases/prepare-context.ts';
import { reportFailure } from './phases/report-failure.ts';
import { selectModel } from './phases/select-model.ts';
import { streamModel } from './phases/stream-model.ts';
import { emitFallbackOutcome, recoverWithFallback } from './recoveries/fallback.ts';
import { recoverOverflow } from './recoveries/overflow.ts';
import { recoverTruncation } from './recoveries/truncation.ts';
import { createInitialState } from './state.ts';

/** Phases after a reply, in order; the first one that returns a verdict wins. */
const LADDER: readonly Phase[] = [
  checkInterrupt,
  recoverWithFallback,
  recoverOverflow,
  recoverTruncation,
  reportFailure,
  stopOnRequest,
  runStopHooks,
  checkCompletion,
  finishTools,
  advance,
];

/** Runs the agent loop: yields events, and returns the reason it ended. All side effects go through `deps`. */
export async function* query(
  messages: readonly Message[],
  callerDeps: QueryDeps,
  signal: AbortSignal,
): AsyncGenerator<AgentEvent, Terminal> {
  const { deps: guardedDeps, emitFaults } = guardDeps(callerDeps);
  let deps = guardedDeps;
  let state = createInitialState(messages, deps.config.excluded, deps.config.failedCompactions);
  for (;;) {
    ({ state, deps } = selectModel(state, deps));
    const ready = yield* prepareContext(state, deps, signal);
    yield* emitFaults();
    if (ready.kind === 'stop') {
      yield* emitFallbackOutcome(state, undefined);
      return ready.terminal;
    }

    const turn = yield* streamModel(ready, deps, signal);
    yield* emitFallbackOutcome(state, turn);
    const verdict = yield* runLadder(
      LADDER,
      { ...ready.state, sent: ready.view, excluded: turn.stripped, requestCount: turn.turnNumber },
      turn,
      deps,
      signal,
    );
    yield* emitFaults();
    if (verdict.kind === 'stop') return verdict.terminal;

    yield { type: 'transition', reason: verdict.reason, turn: verdict.state.requestCount };
    state = verdict.state;
  }
}
