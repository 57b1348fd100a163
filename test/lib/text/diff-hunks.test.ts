import { expect, test, vi } from 'vitest';
import { diffHunks } from '../../../src/lib/text/diff-hunks.ts';

const numbered = (count: number, word: string) => Array.from({ length: count }, (_, at) => `${word} ${at}\n`);

test('what a change shows is the same on a machine that is busy', () => {
  const before = numbered(60, 'line');
  const after = before.with(2, 'three\n').with(39, 'forty\n');
  const atRest = diffHunks(before.join(''), after.join(''));
  let nowMs = 0;
  const clock = vi.spyOn(Date, 'now').mockImplementation(() => {
    nowMs += 10_000;
    return nowMs;
  });
  const whileBusy = diffHunks(before.join(''), after.join(''));
  clock.mockRestore();
  expect(atRest.map(({ oldStart, oldLines }) => [oldStart, oldLines])).toEqual([
    [1, 6],
    [37, 7],
  ]);
  expect(whileBusy).toEqual(atRest);
});

test('where hardly a line is the same, all of it was replaced', () => {
  const [before, after] = [numbered(1000, 'old'), numbered(1000, 'new')];
  const hunks = diffHunks(before.join(''), after.join(''));
  expect(hunks.map(({ oldLines, newLines, lines }) => [oldLines, newLines, lines.length])).toEqual([
    [1000, 1000, 2000],
  ]);
});
