import { expect, test } from 'vitest';
import { resolveTerminalColumns } from '../../src/command/process-io.ts';

test('a terminal that reports no width or 0 counts as 80 columns wide', () => {
  expect([undefined, 0, 40, 200].map(resolveTerminalColumns)).toEqual([80, 80, 40, 200]);
});
