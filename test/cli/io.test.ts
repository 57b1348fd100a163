import { expect, test } from 'vitest';
import { columnsOf } from '../../src/cli/io.ts';

test('a terminal that does not say how wide it is, or says nought, is as wide as most', () => {
  expect([undefined, 0, 40, 200].map(columnsOf)).toEqual([80, 80, 40, 200]);
});
