import { expect, test, vi } from 'vitest';
import { computeDiffHunks } from '../../../src/lib/text/diff.ts';
import { longTest } from '../../support/long-test.ts';

const numbered = (count: number, word: string) => Array.from({ length: count }, (_, at) => `${word} ${at}\n`);

test('a diff is the same on a busy machine', () => {
  const before = numbered(60, 'line');
  const after = before.with(2, 'three\n').with(39, 'forty\n');
  const atRest = computeDiffHunks(before.join(''), after.join(''));
  let nowMs = 0;
  const clock = vi.spyOn(Date, 'now').mockImplementation(() => {
    nowMs += 10_000;
    return nowMs;
  });
  const whileBusy = computeDiffHunks(before.join(''), after.join(''));
  clock.mockRestore();
  expect(atRest.map(({ oldStart, oldLines }) => [oldStart, oldLines])).toEqual([
    [1, 6],
    [37, 7],
  ]);
  expect(whileBusy).toEqual(atRest);
});

longTest('where hardly a line is equal, everything was replaced', () => {
  const [before, after] = [numbered(1000, 'old'), numbered(1000, 'new')];
  const hunks = computeDiffHunks(before.join(''), after.join(''));
  expect(hunks.map(({ oldLines, newLines, lines }) => [oldLines, newLines, lines.length])).toEqual([
    [1000, 1000, 2000],
  ]);
});
