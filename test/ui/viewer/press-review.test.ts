import { expect, test } from 'vitest';
import type { DiffHunk } from '../../../src/contracts/display.ts';
import { type ReviewPage, reviewPage } from '../../../src/ui/view/review-page.ts';
import { openViewer } from '../../../src/ui/view/viewer-state.ts';
import { openStage, type StageScreen } from '../components/stage-screen.ts';

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
const LOOKED = {
  type: 'take_back',
  review: { title: 'a.ts', line: 'diff 1 1', takeBack: 'diff back 1 1', hunks: [] },
} as const;

function review(hunks: readonly DiffHunk[], goal: ReviewPage['goal'] = ANSWERED, cols = 80): StageScreen {
  const screen = openStage({ cols, rows: 24 });
  const page = reviewPage(hunks, goal);
  const rows = screen.viewer.layOut(page, { thinking: 'hidden', bodies: 'folded' });
  screen.change((view) => ({
    ...view,
    overlay: { kind: 'viewer', viewer: openViewer('src/app.ts', page, rows, 24) },
  }));
  return screen;
}

function verdicts(screen: StageScreen): readonly string[] {
  const { overlay } = screen.view();
  const page = overlay?.kind === 'viewer' ? overlay.viewer.page : undefined;
  return page?.kind === 'review' ? page.marks.map(({ verdict, why }) => `${verdict}${why}`) : [];
}

const foot = (screen: StageScreen) => screen.screen().at(-1)?.trimEnd();

test('y and n decide a part and go on; a reason is written in place; enter sends what was decided', async () => {
  const screen = review([hunk(3), hunk(30), hunk(60)]);
  screen.press('y');
  screen.press('t');
  screen.type('no ');
  screen.paste('globals');
  await screen.settled();
  expect(foot(screen)).toContain('why not? no globals_');
  screen.press('enter');
  expect(verdicts(screen)).toEqual(['yes', 'nono globals', 'open']);
  screen.press('n');
  await screen.settled();
  expect(foot(screen)).toContain('enter sends 1 yes, 2 no');
  screen.press('[', 'y', 'enter');
  expect(screen.effects).toMatchObject([
    { type: 'answer_parts', page: { marks: [{ verdict: 'yes' }, { verdict: 'yes' }, { verdict: 'no' }] } },
  ]);
  expect(screen.view().overlay).toBeUndefined();
});

test('a change of one part is answered by one key, all the rest by a or d, and q answers nothing', () => {
  for (const [keys, marks] of [
    [['n'], [{ verdict: 'no' }]],
    [['y'], [{ verdict: 'yes' }]],
  ] as const) {
    const screen = review([hunk(3)]);
    screen.press(...keys);
    expect(screen.effects).toMatchObject([{ type: 'answer_parts', page: { marks } }]);
  }
  const several = review([hunk(3), hunk(30), hunk(60)]);
  several.press('n');
  several.wait(250);
  several.press('a');
  expect(several.effects).toMatchObject([
    { type: 'answer_parts', page: { marks: [{ verdict: 'no' }, { verdict: 'yes' }, { verdict: 'yes' }] } },
  ]);
  const left = review([hunk(3), hunk(30)]);
  left.press('y', 'enter', 't', 'esc', 'q');
  expect([left.effects, left.view().overlay]).toEqual([[], undefined]);
});

test('the part that is decided next is in sight, however long those before it are', () => {
  const screen = review([hunk(3, 60), hunk(100, 60), hunk(200, 60)]);
  screen.press('y');
  const { overlay } = screen.view();
  const viewer = overlay?.kind === 'viewer' ? overlay.viewer : undefined;
  expect(viewer?.rows[viewer.top]?.text).toContain('part 2 of 3');
});

test('a key right behind the one that opened the parts allows none of them', () => {
  for (const key of ['a', 'd']) {
    const screen = review([hunk(3), hunk(30)]);
    screen.press('v', key);
    expect([screen.effects, verdicts(screen)]).toEqual([[], ['open', 'open']]);
    screen.wait(250);
    screen.press(key);
    expect(screen.effects).toHaveLength(1);
  }
});

test('of a change that was made a part is taken back by its number', () => {
  const screen = review([hunk(3), hunk(30)], LOOKED);
  screen.press(']', 'u');
  expect(screen.effects).toEqual([{ type: 'take_back', line: 'diff back 1 1 2', shows: 'diff 1 1' }]);
  expect(screen.view().overlay?.kind).toBe('viewer');
});

test('where there is room the old text stands beside the new one, and long lines go on below themselves', async () => {
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
