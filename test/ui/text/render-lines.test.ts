import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { markAsPrintable } from '../../../src/lib/printable.ts';
import { getTextWidth } from '../../../src/lib/text/text-width.ts';
import { colored, createProseLine, createStyledLine, type LogicalLine, plain } from '../../../src/ui/text/line.ts';
import { type RenderLinesOptions, renderLines } from '../../../src/ui/text/render-lines.ts';

const HISTORY: RenderLinesOptions = { width: 12, paint: markAsPrintable, zone: 'history', links: 'printed' };
const LIVE: RenderLinesOptions = { ...HISTORY, zone: 'live' };

const spans = fc.array(
  fc.constantFrom('word ', 'a', '中文', '\n', '\t', '\u001b[2J', 'https://example.com/a/long/path').map(plain),
  { maxLength: 8 },
);
const line: fc.Arbitrary<LogicalLine> = fc.record({
  spans,
  wrap: fc.constantFrom('terminal' as const, 'words' as const),
  indent: fc.nat(4),
});

describe('logical lines', () => {
  test('a terminal line is one string however long it is', () => {
    const long = createStyledLine(plain('x'.repeat(100)), colored('ok', 'y'.repeat(100)));
    expect(renderLines([long], HISTORY)).toEqual(['x'.repeat(100) + 'y'.repeat(100)]);
  });

  test('text is broken between words, and a long URL stays whole', () => {
    expect(renderLines([createProseLine(plain('see the page https://example.com/x'))], HISTORY)).toEqual([
      'see the page',
      'https://example.com/x',
    ]);
    expect(renderLines([createProseLine(plain('a b c d e f g h i'))], { ...HISTORY, prose: 'terminal' })).toHaveLength(
      1,
    );
  });

  test('labels are in the first row, prefixes in every row', () => {
    const item: LogicalLine = {
      ...createProseLine(plain('one two three')),
      indent: 2,
      label: plain('- '),
      prefix: [plain('│ ')],
    };
    expect(renderLines([item], HISTORY)).toEqual(['│ - one two', '│   three']);
  });

  test('links have their URL only where terminals support them', () => {
    const link = createStyledLine({ text: 'here', href: 'https://x.y' });
    expect(renderLines([link], HISTORY)).toEqual(['here']);
    expect(renderLines([link], { ...HISTORY, links: 'clickable' })).toEqual([
      '\u001b]8;;https://x.y\u001b\\here\u001b]8;;\u001b\\',
    ]);
  });

  test('no string contains a line break or a sequence of the text', () => {
    fc.assert(
      fc.property(fc.array(line, { maxLength: 4 }), (lines) => {
        const strings = [...renderLines(lines, HISTORY), ...renderLines(lines, LIVE)];
        expect(strings.every((text) => !/[\n\r\u001b]/.test(text))).toBe(true);
        const unbroken = lines.filter(({ wrap }) => wrap === 'terminal');
        expect(renderLines(unbroken, HISTORY)).toHaveLength(unbroken.length);
      }),
    );
  });

  test('live rows fit the width', () => {
    fc.assert(
      fc.property(fc.array(line, { maxLength: 4 }), (lines) => {
        expect(renderLines(lines, LIVE).every((row) => getTextWidth(row) <= LIVE.width)).toBe(true);
      }),
    );
  });
});
