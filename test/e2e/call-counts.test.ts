import { expect } from 'vitest';
import type { JsonObject } from '../../src/contracts/json.ts';
import { calls, toolUse } from '../support/api/reply.ts';
import { type CallCounts, listEnteredFiles, runCounted, subtractCounts, sumCounts } from '../support/counted-run.ts';
import { longTest } from '../support/long-test.ts';

/** Counts the calls of one more turn with the same call, after two of them. */
async function countTurn(tool: string, input: JsonObject): Promise<CallCounts> {
  const runTurns = async (count: number) =>
    (await runCounted(Array.from({ length: count }, () => calls(toolUse(tool, input))))).calls;
  return subtractCounts(await runTurns(3), await runTurns(2));
}

/** Lists functions whose results are values that no turn changes. */
function listRecomputed(counts: CallCounts): readonly string[] {
  const values = /^(?:selectEnabledTools|createInfo|createGlobMatcher|parseRule|defineProgramFacts|foldName)$/;
  return Object.keys(counts).filter((name) => values.test(name.replace(/^.* /, '')));
}

longTest('a run with one answer calls few functions in few files', async () => {
  const { calls: counts } = await runCounted([]);
  expect(sumCounts(counts)).toBeLessThan(7_800);
  expect(listEnteredFiles(counts).length).toBeLessThan(345);
});

longTest('a turn with Read calls few functions, and computes no value again that has not changed', async () => {
  const counts = await countTurn('Read', { file_path: 'a.txt' });
  expect(sumCounts(counts)).toBeLessThan(5_000);
  expect(listRecomputed(counts)).toEqual([]);
});

longTest('a turn with Bash computes no value again that has not changed', async () => {
  const counts = await countTurn('Bash', { command: 'echo hi' });
  expect(listRecomputed(counts)).toEqual([]);
});
