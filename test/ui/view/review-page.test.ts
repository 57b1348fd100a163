import { expect, test } from 'vitest';
import type { DiffHunk } from '../../../src/contracts/display.ts';
import { type HunkMark, refusedWords, reviewAnswer } from '../../../src/ui/view/review-page.ts';

const hunk = (newStart: number, ...words: readonly string[]): DiffHunk => ({
  oldStart: newStart,
  oldLines: 1,
  newStart,
  newLines: 1,
  lines: words.map((text, at) => ({ kind: at === 0 ? 'del' : 'add', text })),
});
const HUNKS = [hunk(3, 'one', 'two'), hunk(40, 'three', 'four')];
const YES: HunkMark = { verdict: 'yes', why: '' };
const input = (refused: readonly number[]) => ({ without: [...refused] });

test('all parts are allowed as a whole', () => {
  expect(reviewAnswer({ hunks: HUNKS, marks: [YES, YES] }, input)).toEqual({ behavior: 'allow' });
});

test('in one line it is told which parts were refused, where it was not all or nothing', () => {
  const no = (why: string): HunkMark => ({ verdict: 'no', why });
  expect(refusedWords({ hunks: HUNKS, marks: [no(''), YES] })).toBe('You refused 1 of 2 parts: line 3.');
  expect(refusedWords({ hunks: HUNKS, marks: [YES, no('odd')] })).toBe('You refused 1 of 2 parts: line 40 (odd).');
  expect([
    refusedWords({ hunks: HUNKS, marks: [YES, YES] }),
    refusedWords({ hunks: HUNKS, marks: [no(''), no('')] }),
  ]).toEqual([undefined, undefined]);
});

test('the model is told which parts were refused, and why', () => {
  const marks = [YES, { verdict: 'no', why: 'four is unlucky' } as const];
  expect(reviewAnswer({ hunks: HUNKS, marks }, input)).toEqual({
    behavior: 'allow',
    updatedInput: { without: [1] },
    note: [
      'The user looked at this edit part by part and allowed 1 part of 2; these were refused and are not in the file:',
      'Refused (line 40), because: four is unlucky',
      '-three',
      '+four',
      '',
    ].join('\n'),
  });
});

test('when every part is refused, or nothing is left of the edit, it is refused', () => {
  const marks = [
    { verdict: 'no', why: '' },
    { verdict: 'no', why: 'never' },
  ] as const;
  const message =
    'The user looked at this edit part by part and refused all of it.\nRefused (line 3), no reason was given\n-one\n+two\nRefused (line 40), because: never\n-three\n+four';
  expect(reviewAnswer({ hunks: HUNKS, marks }, input)).toEqual({ behavior: 'deny', message });
  expect(reviewAnswer({ hunks: HUNKS, marks: [YES, marks[1]] }, () => undefined)).toMatchObject({ behavior: 'deny' });
});
