import { expect, test } from 'vitest';
import type { DiffLine } from '../../../src/contracts/display.ts';
import { changedWords } from '../../../src/ui/history/changed-words.ts';

function marked(...lines: readonly string[]): string[] {
  const kinds = { '+': 'add', '-': 'del', ' ': 'same' } as const;
  const parsed: DiffLine[] = lines.map((line) => ({
    kind: line.startsWith('+') ? kinds['+'] : line.startsWith('-') ? kinds['-'] : kinds[' '],
    text: line.slice(1),
  }));
  return changedWords(parsed).map((range, index) =>
    (parsed[index]?.text ?? '').slice(range?.from ?? 0, range?.to ?? 0),
  );
}

test('the words that differ in a replaced line are found', () => {
  expect(marked(' a', '-return old + name;', '+return fresh + name;', ' b')).toEqual(['', 'old', 'fresh', '']);
  expect(marked('-f(a)', '+f(a, b)')).toEqual(['', ', b']);
});

test('several lines are compared one by one', () => {
  expect(marked('-let a = 1;', '-let b = 2;', '+let a = 3;', '+let c = 2;')).toEqual(['1', 'b', '3', 'c']);
});

test('lines that were only added, or have nothing in common, are left alone', () => {
  expect(marked('+new line')).toEqual(['']);
  expect(marked('-  one', '+  other')).toEqual(['', '']);
  expect(marked('-one', '+one', '+two')).toEqual(['', '', '']);
});
