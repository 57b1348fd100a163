import { expect, test } from 'vitest';
import type { DiffHunk } from '../../../src/contracts/display.ts';
import { textWidth } from '../../../src/lib/text/text-width.ts';
import { markHunk, type ReviewPage, reviewPage } from '../../../src/ui/view/review-page.ts';
import { openViewer, type ViewerPage } from '../../../src/ui/view/viewer-state.ts';
import { footLine } from '../../../src/ui/viewer/foot-line.ts';

const HUNK: DiffHunk = { oldStart: 1, oldLines: 1, newStart: 1, newLines: 1, lines: [{ kind: 'add', text: 'a' }] };
const REVIEW = { title: 'a.ts', line: 'diff 1 1', takeBack: 'diff back 1 1', hunks: [] };
const asked = (count: number) => reviewPage(Array(count).fill(HUNK), { type: 'answer', requestId: 'ask' });
const decided = (page: ReviewPage) => page.hunks.reduce((one) => markHunk(one, { verdict: 'yes', why: '' }), page);
const PAGES: readonly ViewerPage[] = [
  asked(1),
  asked(3),
  decided(asked(3)),
  reviewPage([HUNK, HUNK], { type: 'take_back', review: REVIEW }),
  { kind: 'text', markdown: '' },
  { kind: 'transcript', messages: [] },
];

const foot = (page: ViewerPage, width: number) => footLine(openViewer('src/a/long/name.ts', page, [], 24), 23, width);

test('no key is cut in a window of 40 columns or more, and where there is room the place stands before them', () => {
  for (const page of PAGES) {
    for (let width = 39; width <= 160; width += 1) {
      const line = foot(page, width);
      expect(textWidth(line), `${width} columns`).toBeLessThanOrEqual(width);
      expect(line).not.toContain('…');
      expect(line).toMatch(/\bq\b/);
    }
    expect(foot(page, 160)).toMatch(/^src\/a\/long\/name\.ts {2}nothing yet {3}/);
  }
  expect(foot(asked(3), 79)).toBe('nothing yet   y yes  n no  t why not  a all  d none  [ ] parts  q back');
});

test('the end of a reason that is being written is in sight', () => {
  const page = { ...asked(3), writing: 'because of a thing that takes a while to say' };
  expect(foot(page, 39)).toBe('why not? … g that takes a while to say_');
  expect(foot(page, 100)).toBe('why not? because of a thing that takes a while to say_   enter refuses this part');
});
