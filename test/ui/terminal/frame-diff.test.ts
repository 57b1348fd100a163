import { stripVTControlCharacters } from 'node:util';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { markAsPrintable } from '../../../src/lib/printable.ts';
import { diffFrames, EMPTY_FRAME, type ScreenFrame } from '../../../src/ui/terminal/frame-diff.ts';
import { runs } from '../../support/runs.ts';
import { createScreen } from '../../support/terminal/terminal-screen.ts';

const COLUMNS = 60;
const ROWS = 14;
const BAND = '\u001b[48;2;40;44;52m';

const words = fc.constantFrom(
  '',
  'a',
  'ab',
  'abc',
  'abd',
  '◐ running 1s',
  '◓ running 2s',
  '中文字',
  '👩‍👩‍👧',
  'e\u0301',
  'x'.repeat(27),
);
/** A row as Ink writes it: every style opened and closed by itself. */
const row = fc.oneof(
  words,
  fc.tuple(words, words).map(([one, two]) => `\u001b[1m\u001b[38;2;1;2;3m${one}\u001b[39m\u001b[22m ${two}`),
  fc
    // No row is wider than the screen.
    .tuple(words, fc.constantFrom('', 'x', 'x x'))
    .map(([one, two]) => `\u001b[1;7m ask \u001b[0m  \u001b[33m${one}\u001b[0m ${two}\u001b[2m  esc\u001b[0m stop`),
  words.map((text) => `${BAND}\u001b[33m▌\u001b[39m ${text}\u001b[49m`),
);
const frame = fc
  .tuple(fc.array(row, { minLength: 1, maxLength: 8 }), fc.nat(7), fc.nat(20))
  .map(
    ([rows, y, x]): ScreenFrame => ({ rows: rows.map(markAsPrintable), caret: { x, y: Math.min(y, rows.length - 1) } }),
  );
const line = fc.oneof(
  words,
  fc.constantFrom('y'.repeat(58), 'y'.repeat(60), 'y'.repeat(150), '\u001b[31mred\u001b[0m'),
);

test('for any sequence of frames the last one is below the scrollback, and every line is in it once', async () => {
  const steps = fc.array(fc.tuple(frame, fc.array(line, { maxLength: 3 })), { minLength: 1, maxLength: 12 });
  await fc.assert(
    fc.asyncProperty(steps, async (all) => {
      const screen = createScreen({ cols: COLUMNS, rows: ROWS });
      const printed: string[] = [];
      let shown = EMPTY_FRAME;
      for (const [at, [next, lines]] of all.entries()) {
        const reported = lines.map((text) => markAsPrintable(`${at}:${text}`));
        screen.feed(diffFrames(shown, next, reported, { columns: COLUMNS, rows: ROWS }).replaceAll(/\r?\n/g, '\r\n'));
        printed.push(...reported);
        shown = next;
      }
      await screen.settled();
      const plain = (text: string) => stripVTControlCharacters(text).trimEnd();
      const lines = screen.logicalLines().map((text) => text.trimEnd());
      expect(lines.join('\n').trimEnd()).toBe([...printed, ...shown.rows].map(plain).join('\n').trimEnd());
      const bottom = screen.screen().findLastIndex((text) => text.trimEnd() !== '');
      const last = shown.rows.findLastIndex((text) => plain(text) !== '');
      if (last !== -1) expect(screen.cursor()).toEqual({ x: shown.caret.x, y: bottom - last + shown.caret.y });
      screen.dispose();
    }),
    runs(60),
  );
});

test('one more character costs a few bytes, not its row', () => {
  const before = {
    rows: [`${BAND}▌ a long draft without an end\u001b[49m`, 'ask'].map(markAsPrintable),
    caret: { x: 28, y: 0 },
  };
  const after = {
    rows: [`${BAND}▌ a long draft without an end.\u001b[49m`, 'ask'].map(markAsPrintable),
    caret: { x: 29, y: 0 },
  };
  expect(diffFrames(before, after, [], { columns: 80, rows: 24 }).length).toBeLessThan(50);
});

test('a spinner and a counter cost a few bytes, also below printed lines', () => {
  const status = (sign: string, count: number) =>
    markAsPrintable(
      ` \u001b[1;7m ask \u001b[0m  \u001b[33m${sign}\u001b[0m writing 3s · ${count} tokens\u001b[2m  esc stop   sonnet   0%   $0.00\u001b[0m`,
    );
  const frame = (sign: string, count: number): ScreenFrame => ({
    rows: ['draft', status(sign, count)].map((row) => markAsPrintable(row)),
    caret: { x: 5, y: 0 },
  });
  const bytes = (lines: readonly string[]) =>
    diffFrames(frame('◐', 312), frame('◓', 408), lines.map(markAsPrintable), { columns: 80, rows: 24 }).length;
  expect([bytes([]) < 60, bytes(['a line']) < 90]).toEqual([true, true]);
});
