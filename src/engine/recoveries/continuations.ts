import type { Message, UserMessage } from '../../contracts/message.ts';
import type { QueryDeps, QueryState } from '../../contracts/query.ts';
import { createMetaMessage, hasReplyText, type ModelTurn } from '../model-turn.ts';
import { appendMessages, EMPTY_RECOVERY_LEDGER, type PhaseVerdict, retry, spend } from '../query-state.ts';

const MAX_PAUSES = 10;
const MAX_NUDGES = 1;
const MAX_STOP_HOOK_BLOCKS = 8;
const BUDGET_TARGET = 0.9;
const MIN_CONTINUATIONS = 3;
const SMALL_GAIN_TOKENS = 500;

/** Resumes a long turn that the provider paused: the reply is sent back unchanged. */
export function resumePausedTurn(state: QueryState, turn: ModelTurn): PhaseVerdict | undefined {
  if (turn.stopReason !== 'pause_turn' || turn.reply === undefined || state.ledger.pauses >= MAX_PAUSES)
    return undefined;
  return retry('pause_turn_resume', spend(appendMessages(state, turn.reply), { pauses: state.ledger.pauses + 1 }));
}

/** Retries a reply without text and calls once; an empty message is never sent. */
export function retryEmptyReply(
  state: QueryState,
  turn: ModelTurn,
  deps: Pick<QueryDeps, 'newId'>,
): PhaseVerdict | undefined {
  if (hasReplyText(turn.reply) || hasServerBlock(turn) || state.ledger.nudges >= MAX_NUDGES) return undefined;
  const text = 'Your last reply was empty. Answer the request, or say why you cannot.';
  const counted = spend(state, { nudges: state.ledger.nudges + 1 });
  return retry('empty_response_nudge', appendMessages(counted, createMetaMessage(deps, 'nudge', text)));
}

/** Continues with the steering messages that arrived during the reply; the next iteration adds them. */
export function continueWithSteering(state: QueryState, reply: readonly Message[]): PhaseVerdict {
  return retry('next_turn', { ...appendMessages(state, ...reply), turnCount: state.turnCount + 1 });
}

/** Continues with the message of a stop hook that blocks; the ledger is not reset. */
export function continueAfterStopHook(
  state: QueryState,
  reply: readonly Message[],
  message: string,
  deps: Pick<QueryDeps, 'newId'>,
): PhaseVerdict | undefined {
  if (state.ledger.stopHookBlocks >= MAX_STOP_HOOK_BLOCKS) return undefined;
  const counted = spend(state, { stopHookBlocks: state.ledger.stopHookBlocks + 1 });
  const next = appendMessages(counted, ...reply, createMetaMessage(deps, 'hook', message));
  return retry('stop_hook_blocking', { ...next, stopHookActive: true });
}

/** Continues while a token budget is left and recent continuations still produced enough tokens. */
export function continueForBudget(
  state: QueryState,
  reply: readonly Message[],
  replyTokens: number,
  budgetTokens: number | undefined,
  deps: Pick<QueryDeps, 'newId'>,
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
export function continueWithFollowUps(
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
