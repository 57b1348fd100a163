import fc from 'fast-check';
import { expect, test } from 'vitest';
import { computeDiffHunks, revertHunks } from '../../../src/lib/text/diff.ts';
import { runs } from '../../support/runs.ts';

const numbered = (count: number) => Array.from({ length: count }, (_, at) => `line ${at + 1}\n`);

test('a refused hunk is reverted, the others stay', () => {
  const before = numbered(40).join('');
  const after = numbered(40).with(2, 'two\n').with(20, 'twenty\nand one\n').toSpliced(36, 1).join('');
  const hunks = computeDiffHunks(before, after);
  expect(hunks).toHaveLength(3);
  expect(revertHunks(before, after, hunks, [1])).toBe(numbered(40).with(2, 'two\n').toSpliced(36, 1).join(''));
  expect(revertHunks(before, after, hunks, [0, 2])).toBe(numbered(40).with(20, 'twenty\nand one\n').join(''));
});

test('refusing all gives the old text, refusing none the new one, whatever the texts and line ends', () => {
  const line = fc.constantFrom('a', 'b', 'c', '', '名', '\tx');
  const text = (end: string) =>
    fc.array(line, { maxLength: 30 }).map((lines) => lines.map((one) => one + end).join(''));
  const pair = fc.constantFrom('\n', '\r\n', '\r').chain((end) => fc.tuple(text(end), text(end), fc.boolean()));
  fc.assert(
    fc.property(pair, ([before, all, isCut]) => {
      const after = isCut ? all.replace(/[\r\n]+$/, '') : all;
      const hunks = computeDiffHunks(before, after);
      expect(revertHunks(before, after, hunks, [])).toBe(after);
      const every = hunks.map((_, at) => at);
      if (hunks.length > 0) expect(revertHunks(before, after, hunks, every)).toBe(before);
      // What is refused and what is not add up to the whole.
      const kept = revertHunks(before, after, hunks, every.slice(1));
      expect(computeDiffHunks(before, kept).length).toBeLessThanOrEqual(Math.max(1, hunks.length));
    }),
    runs(500),
  );
});
