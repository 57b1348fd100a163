import type { Message, UserMessage } from '../../contracts/message.ts';
import type { QueryDeps, QueryState } from '../../contracts/query.ts';
import { metaLine } from '../keep.ts';
import { append, EMPTY_LEDGER, retry, spend, type Verdict } from '../state.ts';
import { hasWords, type Turn } from '../turn.ts';

const MAX_PAUSES = 10;
const MAX_NUDGES = 1;
const MAX_STOP_HOOK_BLOCKS = 8;
const BUDGET_ENOUGH = 0.9;
const MIN_CONTINUATIONS = 3;
const SMALL_GAIN_TOKENS = 500;

/** The provider paused a long turn of its own: hand the reply back as it is, and it goes on. */
export function resumePause(state: QueryState, turn: Turn): Verdict | undefined {
  if (turn.stop !== 'pause_turn' || turn.reply === undefined || state.ledger.pauses >= MAX_PAUSES) return undefined;
  return retry('pause_turn_resume', spend(append(state, turn.reply), { pauses: state.ledger.pauses + 1 }));
}

/** Nothing was said and nothing was called: ask once more. No empty message is ever sent. */
export function nudgeEmpty(state: QueryState, turn: Turn, deps: Pick<QueryDeps, 'newId'>): Verdict | undefined {
  if (hasWords(turn.reply) || hasServerWork(turn) || state.ledger.nudges >= MAX_NUDGES) return undefined;
  const words = 'Your last reply was empty. Answer the request, or say why you cannot.';
  const nudged = spend(state, { nudges: state.ledger.nudges + 1 });
  return retry('empty_response_nudge', append(nudged, metaLine(deps, 'nudge', words)));
}

/** Words typed while the model wrote its last reply: the next iteration picks them up. */
export function takeSteeringNext(state: QueryState, reply: readonly Message[]): Verdict {
  return retry('next_turn', { ...append(state, ...reply), turnCount: state.turnCount + 1 });
}

/** A stop hook objects: its words join, the recoveries already spent stay spent. */
export function objectToStop(
  state: QueryState,
  reply: readonly Message[],
  words: string,
  deps: Pick<QueryDeps, 'newId'>,
): Verdict | undefined {
  if (state.ledger.stopHookBlocks >= MAX_STOP_HOOK_BLOCKS) return undefined;
  const objected = spend(state, { stopHookBlocks: state.ledger.stopHookBlocks + 1 });
  const objection = append(objected, ...reply, metaLine(deps, 'hook', words));
  return retry('stop_hook_blocking', { ...objection, stopHookActive: true });
}

/** A budget asks for more work while it still brings something. A continuation's gain is all that was written since the last one. */
export function continueBudget(
  state: QueryState,
  reply: readonly Message[],
  replyTokens: number,
  budgetTokens: number | undefined,
  deps: Pick<QueryDeps, 'newId'>,
): Verdict | undefined {
  if (budgetTokens === undefined) return undefined;
  const { continuations, gains, freshTokens, usedTokens } = state.budget;
  const used = usedTokens + replyTokens;
  if (used >= budgetTokens * BUDGET_ENOUGH) return undefined;
  const recent = [...gains, freshTokens + replyTokens].slice(-2);
  const diminishing = continuations >= MIN_CONTINUATIONS && recent.every((gain) => gain < SMALL_GAIN_TOKENS);
  if (diminishing) return undefined;
  const percent = Math.round((used / budgetTokens) * 100);
  const words = `${percent} % of the token budget is used. Keep working on the task; do not sum up yet.`;
  const continued = append(state, ...reply, metaLine(deps, 'nudge', words));
  const budget = { continuations: continuations + 1, gains: recent, freshTokens: 0, usedTokens: used };
  return retry('token_budget_continuation', { ...continued, budget });
}

/** The next queued prompt: a fresh start for all guards. */
export function followUp(
  state: QueryState,
  reply: readonly Message[],
  queued: readonly UserMessage[],
): Verdict | undefined {
  if (queued.length === 0) return undefined;
  const next = append(state, ...reply, ...queued);
  return retry('follow_up', { ...next, ledger: EMPTY_LEDGER, stopHookActive: false });
}

function hasServerWork(turn: Turn): boolean {
  return (turn.reply?.blocks ?? []).some((block) => block.type === 'server');
}
