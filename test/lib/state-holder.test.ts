import { expect, test } from 'vitest';
import { createStateHolder } from '../../src/lib/state-holder.ts';

test('an event leads to the next state, and the one before is returned', () => {
  const sum = createStateHolder(1, (state, added: number) => state + added);
  expect([sum.update(2), sum.update(3), sum.current()]).toEqual([1, 3, 6]);
});
