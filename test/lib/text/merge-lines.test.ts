import fc from 'fast-check';
import { expect, test } from 'vitest';
import { mergeLinesThreeWay } from '../../../src/lib/text/diff.ts';
import { runs } from '../../support/runs.ts';

test.each([
  ['changes of different lines come together', 'a\nb\nc\n', 'A\nb\nc\n', 'a\nb\nC\n', 'A\nb\nC\n'],
  ['lines that only touch as well', 'a\nb\n', 'A\nb\n', 'a\nB\n', 'A\nB\n'],
  ['what both did counts once', 'a\nb\n', 'x\nb\n', 'x\nb\nc\n', 'x\nb\nc\n'],
  ['the same line in two ways is nobody’s', 'a\n', 'b\n', 'c\n', undefined],
  ['two insertions in one place have no order', 'a\n', 'a\nb\n', 'a\nc\n', undefined],
  ['a missing last newline is a change of its line', 'a\nb', 'a\nb\n', 'A\nb', 'A\nb\n'],
  ['an insertion into removed lines is kept by nobody', 'a\nb\nc\n', '', 'a\nx\nb\nc\n', undefined],
])('%s', (_, base, one, other, merged) => {
  expect(mergeLinesThreeWay(base, one, other)).toBe(merged);
  expect(mergeLinesThreeWay(base, other, one)).toBe(merged);
});

test('a one-sided change is always taken, and the order of sides does not matter', () => {
  const text = fc.array(fc.constantFrom('a\n', 'b\n', '\n', 'c\r\n', 'd')).map((lines) => lines.join(''));
  fc.assert(
    fc.property(text, text, text, (base, one, other) => {
      expect(mergeLinesThreeWay(base, one, base)).toBe(one);
      expect(mergeLinesThreeWay(base, one, one)).toBe(one);
      expect(mergeLinesThreeWay(base, one, other)).toBe(mergeLinesThreeWay(base, other, one));
    }),
    runs(200),
  );
});
