import { expect, test } from 'vitest';
import { EMPTY_JUDGE_LEDGER, findJudgeBudgetProblem, reduceJudgeLedger } from '../../src/permissions/auto-mode.ts';

const LIMITS = { inARow: 2, usd: 1 };

test('a user message resets the count, and spent budget stays spent', () => {
  const events = [
    { is: 'allowed', title: 'a' },
    { is: 'paid', usd: 0.4 },
    { is: 'allowed', title: 'b' },
  ] as const;
  const full = events.reduce(reduceJudgeLedger, EMPTY_JUDGE_LEDGER);
  expect(full).toEqual({ inARow: 2, usd: 0.4, allowed: ['a', 'b'] });
  expect(findJudgeBudgetProblem(full, LIMITS)).toContain('2 calls in a row');
  const received = reduceJudgeLedger(full, { is: 'person_spoke' });
  expect(findJudgeBudgetProblem(received, LIMITS)).toBeUndefined();
  expect(findJudgeBudgetProblem(reduceJudgeLedger(received, { is: 'paid', usd: 0.6 }), LIMITS)).toContain('$1');
  expect(reduceJudgeLedger(full, { is: 'turn_ended' })).toEqual({ inARow: 2, usd: 0.4, allowed: [] });
});
