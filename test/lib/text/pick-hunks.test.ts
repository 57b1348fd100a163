import fc from 'fast-check';
import { expect, test } from 'vitest';
import { diffHunks } from '../../../src/lib/text/diff-hunks.ts';
import { withoutHunks } from '../../../src/lib/text/pick-hunks.ts';
import { runs } from '../../support/runs.ts';

const numbered = (count: number) => Array.from({ length: count }, (_, at) => `line ${at + 1}\n`);

test('a refused hunk stays as it was, the others are made', () => {
  const before = numbered(40).join('');
  const after = numbered(40).with(2, 'two\n').with(20, 'twenty\nand one\n').toSpliced(36, 1).join('');
  const hunks = diffHunks(before, after);
  expect(hunks).toHaveLength(3);
  expect(withoutHunks(before, after, hunks, [1])).toBe(numbered(40).with(2, 'two\n').toSpliced(36, 1).join(''));
  expect(withoutHunks(before, after, hunks, [0, 2])).toBe(numbered(40).with(20, 'twenty\nand one\n').join(''));
});

test('all of them refused is the old text, none the new one, whatever the texts and their line ends', () => {
  const line = fc.constantFrom('a', 'b', 'c', '', '名', '\tx');
  const text = (end: string) =>
    fc.array(line, { maxLength: 30 }).map((lines) => lines.map((one) => one + end).join(''));
  const pair = fc.constantFrom('\n', '\r\n', '\r').chain((end) => fc.tuple(text(end), text(end), fc.boolean()));
  fc.assert(
    fc.property(pair, ([before, all, isCut]) => {
      const after = isCut ? all.replace(/[\r\n]+$/, '') : all;
      const hunks = diffHunks(before, after);
      expect(withoutHunks(before, after, hunks, [])).toBe(after);
      const every = hunks.map((_, at) => at);
      if (hunks.length > 0) expect(withoutHunks(before, after, hunks, every)).toBe(before);
      // What is refused and what is not add up to the whole.
      const kept = withoutHunks(before, after, hunks, every.slice(1));
      expect(diffHunks(before, kept).length).toBeLessThanOrEqual(Math.max(1, hunks.length));
    }),
    runs(500),
  );
});
