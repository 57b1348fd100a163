import { expect } from 'vitest';
import { listEnteredFiles, runCounted, sumCounts } from '../support/counted-run.ts';
import { longTest } from '../support/long-test.ts';

longTest('a run with one answer calls few functions in few files', async () => {
  const { calls } = await runCounted([]);
  expect(sumCounts(calls)).toBeLessThan(9_000);
  expect(listEnteredFiles(calls).length).toBeLessThan(345);
});
