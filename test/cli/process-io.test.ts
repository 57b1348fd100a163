import { expect, test } from 'vitest';
import { resolveColumns } from '../../src/cli/process-io.ts';

test('a terminal that reports no width or 0 counts as 80 columns wide', () => {
  expect([undefined, 0, 40, 200].map(resolveColumns)).toEqual([80, 80, 40, 200]);
});
