import type { AgentEvent } from '../contracts/event.ts';
import type { Message } from '../contracts/message.ts';
import type { QueryDeps, QueryState } from '../contracts/query.ts';
import type { Terminal } from '../contracts/terminal-reason.ts';
import { guardQueryDeps } from './guard-query-deps.ts';
import { advanceToNextTurn } from './phases/advance-to-next-turn.ts';
import { checkInterrupt, finishTools } from './phases/check-interrupt.ts';
import { checkRunCompletion, handleReplyWithoutCalls, stopAfterTurnOnRequest } from './phases/check-run-completion.ts';
import { isRepeatedModelRequest, prepareContext } from './phases/prepare-context.ts';
import { reportModelFailure } from './phases/report-model-failure.ts';
import { streamModel } from './phases/stream-model.ts';
import { createQueryState } from './query-state.ts';
import { emitFallbackOutcome, recoverWithFallback } from './recoveries/fallback.ts';
import { recoverContextOverflow } from './recoveries/overflow.ts';
import { recoverTruncation } from './recoveries/truncation.ts';
import { type LoopPhase, runTurnPhases } from './turn-phases.ts';

/** Phases after a reply, in order; the first one that returns a verdict wins. */
const LADDER: readonly LoopPhase[] = [
  checkInterrupt,
  recoverWithFallback,
  recoverContextOverflow,
  recoverTruncation,
  reportModelFailure,
  stopAfterTurnOnRequest,
  handleReplyWithoutCalls,
  checkRunCompletion,
  finishTools,
  advanceToNextTurn,
];

/** Runs the agent loop: yields events, and returns the reason it ended. All side effects go through `deps`. */
export async function* query(
  messages: readonly Message[],
  callerDeps: QueryDeps,
  signal: AbortSignal,
): AsyncGenerator<AgentEvent, Terminal> {
  const { deps: guardedDeps, emitFaults } = guardQueryDeps(callerDeps);
  let deps = guardedDeps;
  let state = createQueryState(messages, deps.config.excluded, deps.config.failedCompactions);
  for (;;) {
    ({ state, deps } = applySelectedModels(state, deps));
    const ready = yield* prepareContext(state, deps, signal);
    yield* emitFaults();
    if (ready.kind === 'stop') {
      yield* emitFallbackOutcome(state, undefined);
      return ready.terminal;
    }

    const turn = yield* streamModel(ready, deps, signal);
    yield* emitFallbackOutcome(state, turn);
    const verdict = yield* runTurnPhases(
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

/** The loop: yields events, and returns why it ended. */
export type Query = (
  messages: readonly Message[],
  deps: QueryDeps,
  signal: AbortSignal,
) => AsyncGenerator<AgentEvent, Terminal>;

/** Applies the model chain and thinking effort chosen for the next turn; a new chain starts with its first model. */
function applySelectedModels(
  state: QueryState,
  deps: QueryDeps,
): { readonly state: QueryState; readonly deps: QueryDeps } {
  // A repeated request must stay the same, also for the model that takes over.
  if (deps.selectModels === undefined || isRepeatedModelRequest(state)) return { state, deps };
  const { chain, effort, thinkingBudgetTokens } = deps.selectModels();
  const config = { ...deps.config, chain, effort, thinkingBudgetTokens };
  const isSame = chain === deps.config.chain;
  return {
    state: isSame ? state : { ...state, modelIndex: 0, maxOutputTokensOverride: undefined },
    deps: { ...deps, config },
  };
}
