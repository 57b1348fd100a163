import { expect, test } from 'vitest';
import type { DiffHunk } from '../../../../src/contracts/display.ts';
import type { FileChangeReview } from '../../../../src/contracts/frontend/command.ts';
import type { UiEffect } from '../../../../src/ui/input/input-result.ts';
import { createReviewPage, type ReviewPage } from '../../../../src/ui/widgets/viewer/review.ts';
import { openViewer } from '../../../../src/ui/widgets/viewer/viewer-state.ts';
import { openStage, type StageScreen } from '../screen/stage-screen.ts';

const hunk = (line: number, size = 1): DiffHunk => ({
  oldStart: line,
  oldLines: 2,
  newStart: line,
  newLines: 1 + size,
  lines: [
    { kind: 'same', text: `before ${line}` },
    { kind: 'del', text: `return greet(${line});` },
    ...Array.from({ length: size }, (_, at) => ({ kind: 'add', text: `return greet(${line}, '${at}');` }) as const),
  ],
});
const ANSWERED = { type: 'answer', requestId: 'ask-1' } as const;
const REVIEW: FileChangeReview = { title: 'a.ts', command: 'diff 1 1', revertCommand: 'diff back 1 1', hunks: [] };
const LOOKED = { type: 'take_back', review: REVIEW } as const;

function review(hunks: readonly DiffHunk[], goal: ReviewPage['purpose'] = ANSWERED, cols = 80): StageScreen {
  const screen = openStage({ cols, rows: 24 });
  const page = createReviewPage(hunks, goal);
  const rows = screen.viewer.layOut(page, { thinking: 'hidden', outputs: 'folded' });
  screen.change((view) => ({
    ...view,
    overlay: { kind: 'viewer', viewer: openViewer('src/app.ts', page, rows, 24) },
  }));
  return screen;
}

function verdicts(screen: StageScreen): readonly string[] {
  const { overlay } = screen.view();
  const page = overlay?.kind === 'viewer' ? overlay.viewer.page : undefined;
  return page?.kind === 'review' ? page.decisions.map(({ verdict, reason }) => `${verdict}${reason}`) : [];
}

/** The verdicts that were sent, for each answer. */
const answered = ({ effects }: StageScreen) =>
  effects.map((effect) =>
    effect.type === 'answer_parts' ? effect.page.decisions.map(({ verdict }) => verdict) : effect.type,
  );

const foot = (screen: StageScreen) => screen.screen().at(-1)?.trimEnd();

test('y and n decide a part and move on; a reason is typed in place; enter submits', async () => {
  const screen = review([hunk(3), hunk(30), hunk(60)]);
  screen.press('y');
  screen.press('t');
  screen.type('no ');
  screen.paste('globals');
  await screen.settled();
  expect(foot(screen)).toContain('reason: no globals_');
  screen.press('enter');
  expect(verdicts(screen)).toEqual(['yes', 'nono globals', 'open']);
  screen.press('n');
  await screen.settled();
  expect(foot(screen)).toContain('enter sends 1 yes, 2 no');
  screen.press('[', 'y', 'enter');
  expect(answered(screen)).toEqual([['yes', 'yes', 'no']]);
  expect(screen.view().overlay).toBeUndefined();
});

test('a change with one part is answered by one key, all remaining parts by a or d, and q answers nothing', () => {
  for (const [key, verdict] of [
    ['n', 'no'],
    ['y', 'yes'],
  ] as const) {
    const screen = review([hunk(3)]);
    screen.press(key);
    expect(answered(screen)).toEqual([[verdict]]);
  }
  const several = review([hunk(3), hunk(30), hunk(60)]);
  several.press('n');
  several.wait(250);
  several.press('a');
  expect(answered(several)).toEqual([['no', 'yes', 'yes']]);
  const left = review([hunk(3), hunk(30)]);
  left.press('y', 'enter', 't', 'esc', 'q');
  expect([left.effects, left.view().overlay]).toEqual([[], undefined]);
});

test('the next part is visible, however long the earlier ones are', () => {
  const screen = review([hunk(3, 60), hunk(100, 60), hunk(200, 60)]);
  screen.press('y');
  const { overlay } = screen.view();
  const viewer = overlay?.kind === 'viewer' ? overlay.viewer : undefined;
  expect(viewer?.rows[viewer.top]?.text).toContain('part 2 of 3');
});

test('a key right after the one that opened the parts allows none of them', () => {
  for (const key of ['a', 'd']) {
    const screen = review([hunk(3), hunk(30)]);
    screen.press('v', key);
    expect([screen.effects, verdicts(screen)]).toEqual([[], ['open', 'open']]);
    screen.wait(250);
    screen.press(key);
    expect(screen.effects).toHaveLength(1);
  }
});

test('a part of an applied change is undone by its number', () => {
  const screen = review([hunk(3), hunk(30)], LOOKED);
  screen.press(']', 'u');
  expect(screen.effects).toEqual<readonly UiEffect[]>([
    { type: 'take_back', line: 'diff back 1 1 2', viewCommand: 'diff 1 1' },
  ]);
  expect(screen.view().overlay?.kind).toBe('viewer');
});

test('with enough space old and new text are side by side, and long lines wrap', async () => {
  const screen = review([hunk(9)], ANSWERED, 124);
  await screen.settled();
  expect(
    screen
      .screen()
      .slice(0, 4)
      .map((row) => row.trimEnd()),
  ).toMatchInlineSnapshot(`
    [
      "> part 1 of 1, lines 9-10",
      " 9   before 9                                                │  9   before 9",
      "10 - return greet(9);                                        │ 10 + return greet(9, '0');",
      "",
    ]
  `);
  const long: DiffHunk = { ...hunk(9), lines: [{ kind: 'add', text: '名'.repeat(70) }] };
  const wide = review([long], ANSWERED, 124);
  await wide.settled();
  const text = wide.screen().join('').replaceAll(/[^名]/g, '');
  expect(text).toHaveLength(70);
});
