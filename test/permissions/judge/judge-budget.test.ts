import { expect, test } from 'vitest';
import { NOTHING_JUDGED, reduceJudge, spentBudget } from '../../../src/permissions/judge/judge-budget.ts';

const LIMITS = { inARow: 2, usd: 1 };

test('a word of a person begins the row anew, and money stays spent', () => {
  const events = [
    { is: 'allowed', title: 'a' },
    { is: 'paid', usd: 0.4 },
    { is: 'allowed', title: 'b' },
  ] as const;
  const full = events.reduce(reduceJudge, NOTHING_JUDGED);
  expect(full).toEqual({ inARow: 2, usd: 0.4, allowed: ['a', 'b'] });
  expect(spentBudget(full, LIMITS)).toContain('2 calls in a row');
  const heard = reduceJudge(full, { is: 'person_spoke' });
  expect(spentBudget(heard, LIMITS)).toBeUndefined();
  expect(spentBudget(reduceJudge(heard, { is: 'paid', usd: 0.6 }), LIMITS)).toContain('$1');
  expect(reduceJudge(full, { is: 'turn_ended' })).toEqual({ inARow: 2, usd: 0.4, allowed: [] });
});
