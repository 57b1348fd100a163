import { expect, test } from 'vitest';
import type { DiffHunk } from '../../../../src/contracts/display.ts';
import {
  createReviewAnswer,
  describeRefusedHunks,
  type HunkDecision,
} from '../../../../src/ui/widgets/viewer/review.ts';

const hunk = (newStart: number, ...words: readonly string[]): DiffHunk => ({
  oldStart: newStart,
  oldLines: 1,
  newStart,
  newLines: 1,
  lines: words.map((text, at) => ({ kind: at === 0 ? 'del' : 'add', text })),
});
const HUNKS = [hunk(3, 'one', 'two'), hunk(40, 'three', 'four')];
const YES: HunkDecision = { verdict: 'yes', reason: '' };
const input = (refused: readonly number[]) => ({ without: [...refused] });

test('all parts are allowed as a whole', () => {
  expect(createReviewAnswer({ hunks: HUNKS, decisions: [YES, YES] }, input)).toEqual({ behavior: 'allow' });
});

test('one line names the refused parts, unless all or none were', () => {
  const no = (reason: string): HunkDecision => ({ verdict: 'no', reason });
  expect(describeRefusedHunks({ hunks: HUNKS, decisions: [no(''), YES] })).toBe('You refused 1 of 2 parts: line 3.');
  expect(describeRefusedHunks({ hunks: HUNKS, decisions: [YES, no('odd')] })).toBe(
    'You refused 1 of 2 parts: line 40 (odd).',
  );
  expect([
    describeRefusedHunks({ hunks: HUNKS, decisions: [YES, YES] }),
    describeRefusedHunks({ hunks: HUNKS, decisions: [no(''), no('')] }),
  ]).toEqual([undefined, undefined]);
});

test('the model gets the refused parts with their reasons', () => {
  const decisions: readonly HunkDecision[] = [YES, { verdict: 'no', reason: 'four is unlucky' }];
  expect(createReviewAnswer({ hunks: HUNKS, decisions }, input)).toEqual({
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
  const never: HunkDecision = { verdict: 'no', reason: 'never' };
  const decisions: readonly HunkDecision[] = [{ verdict: 'no', reason: '' }, never];
  const note =
    'They looked at it part by part:\nRefused (line 3), no reason was given\n-one\n+two\nRefused (line 40), because: never\n-three\n+four\n';
  expect(createReviewAnswer({ hunks: HUNKS, decisions }, input)).toEqual({ behavior: 'deny', note });
  expect(createReviewAnswer({ hunks: HUNKS, decisions: [YES, never] }, () => undefined)).toMatchObject({
    behavior: 'deny',
  });
});
