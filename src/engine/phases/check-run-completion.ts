import type { QueryDeps, StopVerdict } from '../../contracts/query.ts';
import type { Terminal } from '../../contracts/terminal-reason.ts';
import { getErrorMessage } from '../../lib/errors.ts';
import { abandonOnAbort } from '../../lib/promises.ts';
import { getReplyMessages, listReplyCalls } from '../model-turn.ts';
import { appendMessages, stop } from '../query-state.ts';
import {
  continueAfterStopHook,
  continueForBudget,
  continueWithFollowUps,
  continueWithSteering,
  resumePausedTurn,
  retryEmptyReply,
} from '../recoveries/continuations.ts';
import { emitVerdictMessages, type LoopPhase } from '../turn-phases.ts';

/** A reply without calls: stops if `shouldStopAfterTurn` says so, before hooks, budgets and queued prompts. */
export const stopAfterTurnOnRequest: LoopPhase = async function* (state, turn, deps) {
  if (listReplyCalls(turn.reply).length > 0) return undefined;
  const after = appendMessages(state, ...getReplyMessages(turn));
  if (deps.shouldStopAfterTurn?.(after) !== true) return undefined;
  return yield* emitVerdictMessages(state, turn, stop(after, { reason: 'completed', isFinal: true }));
};

/** A reply without calls: resumes pauses, retries empty replies and takes new input; then asks the stop hooks. */
export const runStopHooks: LoopPhase = async function* (state, turn, deps, signal) {
  if (listReplyCalls(turn.reply).length > 0) return undefined;
  const continuation = resumePausedTurn(state, turn) ?? retryEmptyReply(state, turn, deps);
  if (continuation !== undefined) return yield* emitVerdictMessages(state, turn, continuation);
  const reply = getReplyMessages(turn);
  await deps.queues.admitQueued?.(signal);
  if (deps.queues.hasSteering()) return yield* emitVerdictMessages(state, turn, continueWithSteering(state, reply));

  const facts = { messages: [...state.messages, ...reply], stopHookActive: state.stopHookActive };
  const stopWith = (terminal: Terminal) =>
    emitVerdictMessages(state, turn, stop(appendMessages(state, ...reply), terminal));
  const verdict = await callStopHooks(deps, facts, signal);
  if (verdict === undefined) return yield* stopWith({ reason: 'completed' });
  if (verdict.kind === 'prevent') return yield* stopWith({ reason: 'stop_hook_prevented', words: verdict.words });
  if (verdict.kind === 'pass') return undefined;
  const continued = continueAfterStopHook(state, reply, verdict.words, deps);
  if (continued === undefined) {
    const text = `A stop hook blocked too often and is ignored now: ${verdict.words}`;
    yield { type: 'notice', level: 'warn', topic: 'stop_hook', text };
    return yield* stopWith({ reason: 'completed' });
  }
  yield { type: 'notice', level: 'info', topic: 'stop_hook', text: verdict.words };
  return yield* emitVerdictMessages(state, turn, continued);
};

/** Calls the stop hooks; returns `undefined` once aborted, which lets the query complete. */
async function callStopHooks(
  deps: QueryDeps,
  facts: Parameters<QueryDeps['onStop']>[0],
  signal: AbortSignal,
): Promise<StopVerdict | undefined> {
  try {
    return await abandonOnAbort((async () => deps.onStop(facts, signal))(), signal);
  } catch (thrown) {
    return { kind: 'prevent', words: `A stop hook failed: ${getErrorMessage(thrown)}` };
  }
}

/** A reply without calls: continues for a token budget or a queued prompt, otherwise completes the run. */
export const checkRunCompletion: LoopPhase = async function* (state, turn, deps, signal) {
  if (listReplyCalls(turn.reply).length > 0) return undefined;
  const reply = getReplyMessages(turn);
  const outputTokens = turn.reply?.usage?.outputTokens ?? 0;
  const continuation = continueForBudget(state, reply, outputTokens, deps.config.tokenBudget, deps);
  if (continuation !== undefined) return yield* emitVerdictMessages(state, turn, continuation);
  await deps.queues.admitQueued?.(signal);
  const queued = deps.queues.takeFollowUps();
  for (const item of queued) yield { type: 'queue', item, state: 'delivered' };
  const next = continueWithFollowUps(
    state,
    reply,
    queued.map((item) => item.message),
  );
  return yield* emitVerdictMessages(
    state,
    turn,
    next ?? stop(appendMessages(state, ...reply), { reason: 'completed' }),
  );
};
