/** What a judge may do before a person has to look: calls allowed without a word of theirs, and money. */
export type JudgeLimits = { readonly inARow: number; readonly usd: number };

/** What a judge did so far. */
export type JudgeLedger = {
  readonly inARow: number;
  readonly usd: number;
  /** What it allowed since this turn began, by its titles. */
  readonly allowed: readonly string[];
};

export const NOTHING_JUDGED: JudgeLedger = { inARow: 0, usd: 0, allowed: [] };
export const USUAL_LIMITS: JudgeLimits = { inARow: 20, usd: 0.5 };

export type JudgeEvent =
  | { readonly is: 'paid'; readonly usd: number }
  | { readonly is: 'allowed'; readonly title: string }
  /** A person has said something, or answered. */
  | { readonly is: 'person_spoke' }
  | { readonly is: 'turn_ended' };

export function reduceJudge(ledger: JudgeLedger, event: JudgeEvent): JudgeLedger {
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

/** Why nothing more is judged; `undefined` while there is something left. */
export function spentBudget(ledger: JudgeLedger, limits: JudgeLimits): string | undefined {
  if (ledger.inARow >= limits.inARow)
    return `Mode auto has allowed ${ledger.inARow} calls in a row, so this one is yours to look at.`;
  if (ledger.usd >= limits.usd)
    return `Mode auto has spent the $${limits.usd} that judging may cost in this session, so calls are asked about again.`;
  return undefined;
}
