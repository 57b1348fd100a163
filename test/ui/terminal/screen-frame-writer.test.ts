import fc from 'fast-check';
import { createElement } from 'react';
import { expect, test } from 'vitest';
import { markAsPrintable } from '../../../src/lib/printable.ts';
import { createInkLayout } from '../../../src/ui/terminal/ink-layout.ts';
import { ScreenContext, type ScreenContextValue } from '../../../src/ui/text/render-context.ts';
import { layoutScreen } from '../../../src/ui/widgets/screen/layout-screen.ts';
import { Screen } from '../../../src/ui/widgets/screen/Screen.tsx';
import { isWholeRun, runs } from '../../support/runs.ts';
import {
  asked,
  asks,
  begins,
  ends,
  fails,
  grows,
  opens,
  over,
  permission,
  queued,
  reports,
  starts,
} from '../widgets/screen/events.ts';
import { openStage, type StageScreen } from '../widgets/screen/stage-screen.ts';

/** Ink, for a terminal of such a size. */
const layout = (size: { cols: number; rows: number }) => createInkLayout({ columns: size.cols, rows: size.rows });

type Step = (screen: StageScreen, at: number) => void;

const CLEARS = /\x1b\[[23]J|\x1b\[\?(?:1049|100[0-3]|1006)h|\x1bc/;

const words = fc.constantFrom(
  'word',
  '中文字',
  '👨‍👩‍👧',
  'e\u0301',
  '\u001b[2Jevil',
  'שלום',
  'long'.repeat(30),
  '`code`',
  '\n\n',
  '\n```\n',
  '\n- item',
  '| a | b |\n|--|--|\n',
);

/** Text of others that would do something to a terminal, were it let through. */
const hostile = (at: number) =>
  ['npm test', '\u001b[2J\u001b[3Jgone', '\u001bcreset', 'a\u009b2Jb', '\u202eexe.txt', 'a\rb\nc'][at % 6] ?? '';

const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 6,
    arbitrary: words.map(
      (text): Step =>
        (screen) =>
          screen.emit(grows(`${text} `)),
    ),
  },
  fc.constant<Step>((screen, at) => screen.emit(begins(), asked(`prompt ${at}`, `u${at}`), opens('text'))),
  fc.constant<Step>((screen) => screen.emit(over())),
  fc.constant<Step>((screen) => screen.emit(over('aborted_streaming'))),
  fc.constant<Step>((screen, at) => screen.emit(starts(`c${at % 7}`, 'Bash', hostile(at)))),
  fc.nat(40).map(
    (lines): Step =>
      (screen, at) => {
        const tail = Array.from({ length: lines }, (_, line) => `out ${line}`);
        screen.emit(reports(`c${at % 7}`, { kind: 'output', tail, totalBytes: 10, elapsedMs: 10 }));
      },
  ),
  fc.nat(40).map(
    (lines): Step =>
      (screen, at) => {
        const output = Array.from({ length: lines }, (_, line) => `out ${line}`).join('\n');
        const display = { kind: 'output', command: 'x', output, exitCode: 0, hiddenLines: 0 } as const;
        screen.emit(ends(`c${at % 7}`, 'Bash', { display }));
      },
  ),
  fc.nat(60).map(
    (lines): Step =>
      (screen, at) => {
        const command = Array.from({ length: lines + 1 }, () => 'echo something long').join('\n');
        screen.emit(
          permission(
            `c${at % 7}`,
            hostile(at),
            { kind: 'shell', command, input: { command } },
            { reasons: [hostile(at)] },
          ),
        );
      },
  ),
  fc.constant<Step>((screen, at) =>
    screen.emit(asks(`c${at % 7}`, { kind: 'plan', plan: '# Plan\n\n1. one\n2. two' })),
  ),
  fc.constant<Step>((screen, at) => screen.emit(queued(`q${at}`, 'next', 'something that waits '.repeat(5)))),
  fc.constant<Step>((screen) =>
    screen.emit(fails(2, 3000, { kind: 'overloaded', status: 529, message: 'Overloaded' })),
  ),
  fc
    .constantFrom('a', 'y', 'enter', 'esc', 'up', 'down', 'ctrl+y', 'ctrl+t', '/', '?', 'ctrl+c', 'ctrl+j', 'ctrl+r')
    .map(
      (key): Step =>
        (screen) =>
          screen.press(key),
    ),
  fc.nat(3000).map(
    (text): Step =>
      (screen) =>
        screen.paste('pasted text '.repeat(text / 12)),
  ),
  fc.nat(2000).map(
    (ms): Step =>
      (screen) =>
        screen.wait(ms),
  ),
);

const size = fc.record({ cols: fc.integer({ min: 20, max: 120 }), rows: fc.integer({ min: 8, max: 40 }) });

test('the live region is always lower than the terminal and nothing clears the screen', async () => {
  await fc.assert(
    fc.asyncProperty(size, fc.array(fc.oneof(step, size), { maxLength: 30 }), async (start, steps) => {
      const screen = openStage(start);
      let now = start;
      for (const [at, one] of steps.entries()) {
        if (typeof one === 'function') one(screen, at);
        else {
          now = one;
          // The window changes under what it shows, not under what is still on its way.
          await screen.settled();
          screen.resize(one);
        }
        const view = screen.view();
        const context = { ...screen.drawing(), width: now.cols, rows: now.rows };
        const plan = layoutScreen(view, context, { openCode: '', lastKind: undefined });
        const look: ScreenContextValue = { context, paint: markAsPrintable };
        const drawn = layout(now).layoutRows(
          createElement(ScreenContext, { value: look }, createElement(Screen, { view, layout: plan })),
        );
        expect(drawn.length).toBeLessThan(now.rows);
        expect(plan.caret.y).toBeLessThan(drawn.length);
      }
      await screen.settled();
      expect(screen.bytes()).not.toMatch(CLEARS);
      screen.close();
      screen.dispose();
    }),
    runs(12),
  );
});

/** Paragraphs that can be told apart wherever they are cut. */
const numbered = (count: number) =>
  Array.from(
    { length: count },
    (_, at) => `Paragraph ${at} begins here and goes on for a while so that it wraps, end ${at}.`,
  );

/** Windows that hold all that is redrawn, before and after: what a smaller one pushes out of sight nobody can take back. */
const roomy = fc.record({ cols: fc.integer({ min: 40, max: 120 }), rows: fc.integer({ min: 14, max: 40 }) });

test('nothing is printed twice or lost, however text is split and the window resized', async () => {
  const plan = fc.record({
    start: roomy,
    cuts: fc.array(fc.integer({ min: 1, max: 90 }), { minLength: 5, maxLength: 40 }),
    count: fc.integer({ min: 1, max: 25 }),
    sizes: fc.array(roomy, { maxLength: 4 }),
  });
  await fc.assert(
    fc.asyncProperty(plan, async ({ start, cuts, count, sizes }) => {
      const screen = openStage(start);
      const text = numbered(count).join('\n\n');
      screen.emit(begins(), asked('go on'), opens('text'));
      let from = 0;
      for (let piece = 0; from < text.length; piece += 1) {
        const end = from + (cuts[piece % cuts.length] ?? 1);
        screen.emit(grows(text.slice(from, end)));
        from = end;
        const to = piece % 7 === 6 ? sizes[Math.floor(piece / 7) % Math.max(1, sizes.length)] : undefined;
        if (to === undefined) continue;
        await screen.settled();
        screen.resize(to);
      }
      screen.emit(over());
      await screen.settled();
      const said = screen.logicalLines().join(' ').replaceAll(/\s+/g, ' ');
      for (let at = 0; at < count; at += 1) {
        expect(said.match(new RegExp(`Paragraph ${at} begins`, 'g')) ?? [], `${at}`).toHaveLength(1);
        expect(said.match(new RegExp(`end ${at}\\.`, 'g')) ?? [], `end ${at}`).toHaveLength(1);
      }
      screen.close();
      screen.dispose();
    }),
    runs(8),
  );
});

test('text at a steady pace costs at most five times its bytes', async () => {
  const screen = openStage({ cols: 120, rows: 40 });
  const text = numbered(isWholeRun ? 120 : 40).join('\n\n');
  screen.emit(begins(), asked('go on'), opens('text'));
  await screen.settled();
  const before = screen.bytes().length;
  // A hundred pieces a second of 10 characters, drawn every 66 ms.
  for (let from = 0; from < text.length; from += 66) {
    screen.wait(66);
    screen.emit(grows(text.slice(from, from + 66)));
  }
  await screen.settled();
  expect((screen.bytes().length - before) / text.length).toBeLessThan(5);
  screen.close();
  screen.dispose();
});

test('an idle screen writes nothing', async () => {
  const screen = openStage({ cols: 80, rows: 24 });
  await screen.settled();
  const before = screen.bytes().length;
  for (let second = 0; second < 30; second += 1) screen.wait(1000);
  await screen.settled();
  expect(screen.bytes().length).toBe(before);
  screen.close();
  screen.dispose();
});

test.each(['wrapped', 'cut'] as const)(
  'where rows that are too wide are %s, the scrollback is kept and no frame is left behind',
  async (resizeMode) => {
    const screen = openStage({ cols: 100, rows: 30 }, { resizeMode });
    screen.emit(begins(), asked('where is it?'), opens('text'));
    for (const cols of [40, 80, 30, 100, 44]) {
      screen.emit(grows('Some words that take a row and then some more of them. '));
      await screen.settled();
      screen.resize({ cols, rows: 30 });
      screen.emit(grows('More. '));
      await screen.settled();
    }
    const rows = [...screen.scrollback(), ...screen.screen()];
    const count = (pattern: RegExp) => rows.filter((row) => pattern.test(row)).length;
    expect([count(/ouro 0\.1\.0/), count(/^▌ where is it\?/), count(/^▌ Say what/), count(/^ {2}ask/)]).toEqual([
      1, 1, 1, 1,
    ]);
    screen.close();
    screen.dispose();
  },
);
