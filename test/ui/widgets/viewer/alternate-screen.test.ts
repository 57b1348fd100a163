import { expect, test } from 'vitest';
import type { DiffHunk } from '../../../../src/contracts/display.ts';
import type { FileChangeReview } from '../../../../src/contracts/frontend/command.ts';
import { getTextWidth } from '../../../../src/lib/text/text-width.ts';
import { renderViewerFooter } from '../../../../src/ui/widgets/viewer/alternate-screen.ts';
import { createReviewPage, decideHunk, type ReviewPage } from '../../../../src/ui/widgets/viewer/review.ts';
import { openViewer, type ViewerPage } from '../../../../src/ui/widgets/viewer/viewer-state.ts';

const HUNK: DiffHunk = { oldStart: 1, oldLines: 1, newStart: 1, newLines: 1, lines: [{ kind: 'add', text: 'a' }] };
const REVIEW: FileChangeReview = { title: 'a.ts', command: 'diff 1 1', revertCommand: 'diff back 1 1', hunks: [] };
const asked = (count: number) => createReviewPage(Array(count).fill(HUNK), { type: 'answer', requestId: 'ask' });
const decided = (page: ReviewPage) => page.hunks.reduce((one) => decideHunk(one, { verdict: 'yes', reason: '' }), page);
const PAGES: readonly ViewerPage[] = [
  asked(1),
  asked(3),
  decided(asked(3)),
  createReviewPage([HUNK, HUNK], { type: 'take_back', review: REVIEW }),
  { kind: 'text', markdown: '' },
  { kind: 'transcript', messages: [] },
];

const foot = (page: ViewerPage, width: number) =>
  renderViewerFooter(openViewer('src/a/long/name.ts', page, [], 24), 23, width);

test('no key is cut in a window of 40 columns or more, and with enough space the position is before them', () => {
  for (const page of PAGES) {
    for (let width = 39; width <= 160; width += 1) {
      const line = foot(page, width);
      expect(getTextWidth(line), `${width} columns`).toBeLessThanOrEqual(width);
      expect(line).not.toContain('…');
      expect(line).toMatch(/\bq\b/);
    }
    expect(foot(page, 160)).toMatch(/^src\/a\/long\/name\.ts {2}empty {3}/);
  }
  expect(foot(asked(3), 79)).toBe('empty   y yes  n no  t reason  a all  d none  [ ] parts  q back');
});

test('the end of a reason being typed is visible', () => {
  const page: ReviewPage = { ...asked(3), typedReason: 'because of a thing that takes a while to say' };
  expect(foot(page, 39)).toBe('reason: … ng that takes a while to say_');
  expect(foot(page, 100)).toBe(
    'reason: because of a thing that takes a while to say_   enter refuses this part, esc cancels',
  );
});
