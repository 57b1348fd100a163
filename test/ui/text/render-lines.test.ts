import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { asPrintable } from '../../../src/lib/printable.ts';
import { textWidth } from '../../../src/lib/text/text-width.ts';
import { type LogicalLine, plain, proseLine, terminalLine, toned } from '../../../src/ui/text/line.ts';
import { type LineTarget, renderLines } from '../../../src/ui/text/render-lines.ts';

const HISTORY: LineTarget = { width: 12, paint: asPrintable, zone: 'history', links: 'printed' };
const LIVE: LineTarget = { ...HISTORY, zone: 'live' };

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
    const long = terminalLine(plain('x'.repeat(100)), toned('ok', 'y'.repeat(100)));
    expect(renderLines([long], HISTORY)).toEqual(['x'.repeat(100) + 'y'.repeat(100)]);
  });

  test('prose is broken between words, and a long address stays whole', () => {
    expect(renderLines([proseLine(plain('see the page https://example.com/x'))], HISTORY)).toEqual([
      'see the page',
      'https://example.com/x',
    ]);
    expect(renderLines([proseLine(plain('a b c d e f g h i'))], { ...HISTORY, prose: 'terminal' })).toHaveLength(1);
  });

  test('labels stand in the first row, prefixes in every row', () => {
    const item: LogicalLine = {
      ...proseLine(plain('one two three')),
      indent: 2,
      label: plain('- '),
      prefix: [plain('│ ')],
    };
    expect(renderLines([item], HISTORY)).toEqual(['│ - one two', '│   three']);
  });

  test('links carry their address only where terminals know them', () => {
    const link = terminalLine({ text: 'here', href: 'https://x.y' });
    expect(renderLines([link], HISTORY)).toEqual(['here']);
    expect(renderLines([link], { ...HISTORY, links: 'clickable' })).toEqual([
      '\u001b]8;;https://x.y\u001b\\here\u001b]8;;\u001b\\',
    ]);
  });

  test('no string holds a line break or a sequence that was in the text', () => {
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
        expect(renderLines(lines, LIVE).every((row) => textWidth(row) <= LIVE.width)).toBe(true);
      }),
    );
  });
});
