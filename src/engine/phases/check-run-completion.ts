import type { Message, UserMessage } from '../../contracts/message.ts';
import type { QueryDeps, QueryState, StopVerdict } from '../../contracts/query.ts';
import type { Terminal } from '../../contracts/terminal-reason.ts';
import { getErrorMessage } from '../../lib/errors.ts';
import { resolveUndefinedOnAbort } from '../../lib/promises.ts';
import {
  createMetaMessage,
  getReplyMessages,
  hasReplyText,
  type IdSource,
  listReplyCalls,
  type ModelTurn,
} from '../model-turn-result.ts';
import { appendMessages, EMPTY_RECOVERY_LEDGER, type PhaseVerdict, retry, spend, stop } from '../query-state.ts';
import { emitVerdictMessages, type LoopPhase } from '../turn-phases.ts';

/** A reply without calls: stops if `shouldStopAfterTurn` says so, before hooks, budgets and queued prompts. */
export const stopAfterTurnOnRequest: LoopPhase = async function* (state, turn, deps) {
  if (listReplyCalls(turn.reply).length > 0) return undefined;
  const after = appendMessages(state, ...getReplyMessages(turn));
  if (deps.shouldStopAfterTurn?.(after) !== true) return undefined;
  return yield* emitVerdictMessages(state, turn, stop(after, { reason: 'completed', isFinal: true }));
};

/** A reply without calls: resumes pauses, retries empty replies and takes new input; then asks the stop hooks. */
export const handleReplyWithoutCalls: LoopPhase = async function* (state, turn, deps, signal) {
  if (listReplyCalls(turn.reply).length > 0) return undefined;
  const continuation = resumePausedTurn(state, turn) ?? retryEmptyReply(state, turn, deps);
  if (continuation !== undefined) return yield* emitVerdictMessages(state, turn, continuation);
  const missing = describeMissingReply(turn);
  if (missing !== undefined) yield { type: 'notice', level: 'warn', topic: 'model', text: missing };
  const reply = getReplyMessages(turn);
  await deps.queues.admitQueued?.(signal);
  if (deps.queues.hasSteering()) return yield* emitVerdictMessages(state, turn, continueWithSteering(state, reply));

  const facts = { messages: [...state.messages, ...reply], stopHookActive: state.stopHookActive };
  const stopWith = (terminal: Terminal) =>
    emitVerdictMessages(state, turn, stop(appendMessages(state, ...reply), terminal));
  const verdict = await callStopHooks(deps, facts, signal);
  if (verdict === undefined)
    return yield* stopWith({ reason: isProcessEnding(signal) ? 'aborted_tools' : 'completed' });
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

/**
 * Tells whether a signal of the process or the end of the session aborted the run. Somebody who presses Esc during a
 * stop hook has the reply and wants no more; a process that is ended was not allowed to check it.
 */
const isProcessEnding = ({ reason }: AbortSignal): boolean => typeof reason === 'string' && reason !== 'user';

/** Calls the stop hooks; returns `undefined` once aborted. */
async function callStopHooks(
  deps: QueryDeps,
  facts: Parameters<QueryDeps['onStop']>[0],
  signal: AbortSignal,
): Promise<StopVerdict | undefined> {
  try {
    const verdict = await resolveUndefinedOnAbort((async () => deps.onStop(facts, signal))(), signal);
    return signal.aborted ? undefined : verdict;
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

const MAX_PAUSES = 10;
const MAX_NUDGES = 1;
const MAX_STOP_HOOK_BLOCKS = 8;
const BUDGET_TARGET = 0.9;
const MIN_CONTINUATIONS = 3;
const SMALL_GAIN_TOKENS = 500;

/** Resumes a long turn that the provider paused: the reply is sent back unchanged. */
function resumePausedTurn(state: QueryState, turn: ModelTurn): PhaseVerdict | undefined {
  if (turn.stopReason !== 'pause_turn' || turn.reply === undefined || state.ledger.pauses >= MAX_PAUSES)
    return undefined;
  return retry('pause_turn_resume', spend(appendMessages(state, turn.reply), { pauses: state.ledger.pauses + 1 }));
}

/** Retries a reply without text and calls once; an empty message is never sent. */
function retryEmptyReply(state: QueryState, turn: ModelTurn, deps: IdSource): PhaseVerdict | undefined {
  if (hasReplyText(turn.reply) || hasServerBlock(turn) || state.ledger.nudges >= MAX_NUDGES) return undefined;
  const text = 'Your last reply was empty. Answer the request, or say why you cannot.';
  const counted = spend(state, { nudges: state.ledger.nudges + 1 });
  return retry('empty_response_nudge', appendMessages(counted, createMetaMessage(deps, 'nudge', text)));
}

/** Returns what is missing in a reply that is not continued any more; `undefined` if it is complete. */
function describeMissingReply(turn: ModelTurn): string | undefined {
  if (turn.stopReason === 'pause_turn')
    return `The provider paused the reply ${MAX_PAUSES} times in a row, so it may be incomplete. Send a message to go on.`;
  if (hasReplyText(turn.reply) || hasServerBlock(turn)) return undefined;
  return 'The model said nothing, even when it was asked again. Rephrase the request, or use another model.';
}

/** Continues with the steering messages that arrived during the reply; the next iteration adds them. */
function continueWithSteering(state: QueryState, reply: readonly Message[]): PhaseVerdict {
  return retry('next_turn', { ...appendMessages(state, ...reply), turnCount: state.turnCount + 1 });
}

/** Continues with the message of a stop hook that blocks; the ledger is not reset. */
function continueAfterStopHook(
  state: QueryState,
  reply: readonly Message[],
  message: string,
  deps: IdSource,
): PhaseVerdict | undefined {
  if (state.ledger.stopHookBlocks >= MAX_STOP_HOOK_BLOCKS) return undefined;
  const counted = spend(state, { stopHookBlocks: state.ledger.stopHookBlocks + 1 });
  const next = appendMessages(counted, ...reply, createMetaMessage(deps, 'hook', message));
  return retry('stop_hook_blocking', { ...next, stopHookActive: true });
}

/** Continues while a token budget is left and recent continuations still produced enough tokens. */
function continueForBudget(
  state: QueryState,
  reply: readonly Message[],
  replyTokens: number,
  budgetTokens: number | undefined,
  deps: IdSource,
): PhaseVerdict | undefined {
  if (budgetTokens === undefined) return undefined;
  const { continuations, gains, freshTokens, usedTokens } = state.budget;
  const totalTokens = usedTokens + replyTokens;
  if (totalTokens >= budgetTokens * BUDGET_TARGET) return undefined;
  const recentGains = [...gains, freshTokens + replyTokens].slice(-2);
  const isDiminishing = continuations >= MIN_CONTINUATIONS && recentGains.every((gain) => gain < SMALL_GAIN_TOKENS);
  if (isDiminishing) return undefined;
  const percent = Math.round((totalTokens / budgetTokens) * 100);
  const text = `${percent} % of the token budget is used. Keep working on the task; do not sum up yet.`;
  const continued = appendMessages(state, ...reply, createMetaMessage(deps, 'nudge', text));
  const budget = { continuations: continuations + 1, gains: recentGains, freshTokens: 0, usedTokens: totalTokens };
  return retry('token_budget_continuation', { ...continued, budget });
}

/** Continues with queued prompts and an empty ledger. */
function continueWithFollowUps(
  state: QueryState,
  reply: readonly Message[],
  queued: readonly UserMessage[],
): PhaseVerdict | undefined {
  if (queued.length === 0) return undefined;
  const next = appendMessages(state, ...reply, ...queued);
  return retry('follow_up', { ...next, ledger: EMPTY_RECOVERY_LEDGER, stopHookActive: false });
}

function hasServerBlock(turn: ModelTurn): boolean {
  return (turn.reply?.blocks ?? []).some((block) => block.type === 'server');
}
