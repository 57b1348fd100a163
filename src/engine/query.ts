import type { AgentEvent } from '../contracts/event.ts';
import type { Message } from '../contracts/message.ts';
import type { QueryDeps } from '../contracts/query.ts';
import type { Terminal } from '../contracts/terminal.ts';
import { climb, type Phase } from './climb.ts';
import { guarded } from './guarded.ts';
import { advance } from './phases/advance.ts';
import { askWhoAnswers } from './phases/ask-who-answers.ts';
import { checkCompletion } from './phases/check-completion.ts';
import { checkInterrupt } from './phases/check-interrupt.ts';
import { consultStopHooks } from './phases/consult-stop-hooks.ts';
import { finishTools } from './phases/finish-tools.ts';
import { prepareContext } from './phases/prepare-context.ts';
import { recoverModel, settleFallback } from './phases/recover-model.ts';
import { recoverOverflow } from './phases/recover-overflow.ts';
import { recoverTruncation } from './phases/recover-truncation.ts';
import { stopWhereAsked } from './phases/stop-where-asked.ts';
import { streamModel } from './phases/stream-model.ts';
import { surfaceFailure } from './phases/surface-failure.ts';
import { initialState } from './state.ts';

/** After the reply, in this order: the first phase that gives a verdict wins. */
const LADDER: readonly Phase[] = [
  checkInterrupt,
  recoverModel,
  recoverOverflow,
  recoverTruncation,
  surfaceFailure,
  stopWhereAsked,
  consultStopHooks,
  checkCompletion,
  finishTools,
  advance,
];

/** The heart. Yields what happens; returns why it ended. Everything it touches comes in through `deps`. */
export async function* query(
  messages: readonly Message[],
  outside: QueryDeps,
  signal: AbortSignal,
): AsyncGenerator<AgentEvent, Terminal> {
  const { deps: first, tellFaults } = guarded(outside);
  let deps = first;
  let state = initialState(messages, deps.config.stripped, deps.config.failedCompactions);
  for (;;) {
    ({ state, deps } = askWhoAnswers(state, deps));
    const ready = yield* prepareContext(state, deps, signal);
    yield* tellFaults();
    if (ready.kind === 'stop') {
      yield* settleFallback(state, undefined);
      return ready.terminal;
    }

    const turn = yield* streamModel(ready, deps, signal);
    yield* settleFallback(state, turn);
    const verdict = yield* climb(
      LADDER,
      { ...ready.state, sent: ready.view, stripped: turn.stripped, asked: turn.asked },
      turn,
      deps,
      signal,
    );
    yield* tellFaults();
    if (verdict.kind === 'stop') return verdict.terminal;

    yield { type: 'transition', reason: verdict.reason, turn: verdict.state.asked };
    state = verdict.state;
  }
}
