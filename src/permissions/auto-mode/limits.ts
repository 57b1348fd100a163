import type { ToolFacts } from '../../contracts/permission.ts';
import { findCallConcealment, listCallRisks } from '../call-risks.ts';
import type { Requirement } from '../decision-context.ts';
import { findHiddenCharacter } from '../shell/parse/check-source.ts';
import { isLastingRisk } from '../shell/programs/program-risks.ts';

/** The budget of auto mode: calls allowed in a row without input from the user, and cost. */
type JudgeLimits = { readonly inARow: number; readonly usd: number };

/** The budget auto mode has used so far. */
type JudgeLedger = {
  readonly inARow: number;
  readonly usd: number;
  /** Titles of the calls allowed in this turn. */
  readonly allowed: readonly string[];
};

/** The ledger of a new session. */
export const EMPTY_JUDGE_LEDGER: JudgeLedger = { inARow: 0, usd: 0, allowed: [] };
/** Limits that apply unless settings change them. */
export const DEFAULT_JUDGE_LIMITS: JudgeLimits = { inARow: 20, usd: 0.5 };

/** An event that changes the ledger. */
export type JudgeLedgerEvent =
  | { readonly is: 'paid'; readonly usd: number }
  | { readonly is: 'allowed'; readonly title: string }
  /** The user sent a message or answered an approval request. */
  | { readonly is: 'person_spoke' }
  | { readonly is: 'turn_ended' };

/** Returns the ledger after an event. */
export function reduceJudgeLedger(ledger: JudgeLedger, event: JudgeLedgerEvent): JudgeLedger {
  switch (event.is) {
    case 'paid':
      return { ...ledger, usd: ledger.usd + event.usd };
    case 'allowed':
      return { ...ledger, inARow: ledger.inARow + 1, allowed: [...ledger.allowed, event.title] };
    case 'person_spoke':
      return { ...ledger, inARow: 0 };
    case 'turn_ended':
      return { ...ledger, allowed: [] };
  }
}

/** Returns the reason why auto mode stops deciding; undefined while budget is left. */
export function findJudgeBudgetProblem(ledger: JudgeLedger, limits: JudgeLimits): string | undefined {
  if (ledger.inARow >= limits.inARow)
    return `Auto mode allowed ${ledger.inARow} calls in a row, so this one needs your approval.`;
  if (ledger.usd >= limits.usd)
    return `Auto mode spent its limit of $${limits.usd} for this session, so calls need your approval again.`;
  return undefined;
}

/** Longer inputs need the user. */
const MAX_JUDGED_CHARACTERS = 4_000;

/**
 * Returns whether the judge may decide about a call. It may not if a requirement reads or edits files or asks whatever
 * the mode, if the call has a lasting risk, or if its input has hidden characters.
 */
export function canJudgeDecideCall(facts: ToolFacts, unanswered: readonly Requirement[]): boolean {
  if (facts.problem !== undefined || unanswered.length === 0) return false;
  const text = JSON.stringify(facts.input);
  if (text.length > MAX_JUDGED_CHARACTERS || findHiddenCharacter(facts.command ?? '') !== undefined) return false;
  if (findCallConcealment(facts) !== 'none') return false;
  const isEligible = unanswered.every(
    ({ kind, asks = 'by mode' }) => !['read', 'edit'].includes(kind) && asks === 'by mode',
  );
  return isEligible && !listCallRisks(facts).some(isLastingRisk);
}
