import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  expandTabs,
  getTextWidth,
  padToWidth,
  sliceColumns,
  splitGraphemes,
  truncateEnd,
} from '../../../src/lib/text/text-width.ts';
import { wrapHard, wrapRanges } from '../../../src/lib/text/text-wrap.ts';

/** Rows of prose as they are drawn. */
const wrapWords = (text: string, width: number) =>
  wrapRanges(text, width, { spaces: 'trim', longWords: 'break' }).map(({ from, to }) => text.slice(from, to));

const words = fc
  .array(fc.constantFrom('a', 'word', ' ', '  ', '中文', '。', '👨‍👩‍👧', 'é', 'https://example.com/path', '한국'), {
    maxLength: 30,
  })
  .map((parts) => parts.join(''));

describe('width', () => {
  test('counts columns, not code units', () => {
    expect(['abc', '中文', '👨‍👩‍👧', 'e\u0301', '\u001b[31mred\u001b[0m'].map(getTextWidth)).toEqual([3, 4, 2, 1, 3]);
  });

  test('joined graphemes are the text', () => {
    // What the unit 'binary' of fast-check means, without its table of all of them, which takes a second to make.
    const unit = fc
      .oneof(fc.nat(0xd7ff), fc.integer({ min: 0xe000, max: 0x10ffff }))
      .map((code) => String.fromCodePoint(code));
    fc.assert(fc.property(fc.string({ unit }), (text) => splitGraphemes(text).join('') === text));
    expect(splitGraphemes('a👨‍👩‍👧e\u0301')).toEqual(['a', '👨‍👩‍👧', 'e\u0301']);
  });

  test('a slice never splits a wide character', () => {
    expect(sliceColumns('a中b', 0, 2)).toBe('a');
    expect(sliceColumns('a中b', 0, 3)).toBe('a中');
    expect(sliceColumns('abcdef', 2, 4)).toBe('cd');
  });

  test('tabs advance to the next stop', () => {
    expect(expandTabs('a\tb\t\tc', 4)).toBe('a   b       c');
  });

  test('padding fills up to the width', () => {
    expect(padToWidth('中', 4)).toBe('中  ');
    expect(padToWidth('abcdef', 4)).toBe('abcdef');
  });
});

describe('wrapping', () => {
  test('text breaks between words and drops the space there', () => {
    expect(wrapWords('the quick brown fox', 10)).toEqual(['the quick', 'brown fox']);
  });

  test('a word longer than the row is broken at the edge, or kept whole on request', () => {
    expect(wrapWords('see abcdefghij ok', 5)).toEqual(['see', 'abcde', 'fghij', 'ok']);
    const kept = wrapRanges('see abcdefghij ok', 5, { spaces: 'trim', longWords: 'keep' });
    expect(kept.map(({ from, to }) => 'see abcdefghij ok'.slice(from, to))).toEqual(['see', 'abcdefghij', 'ok']);
  });

  test('Chinese breaks anywhere but not before closing punctuation', () => {
    expect(wrapWords('中文字符。', 8)).toEqual(['中文字', '符。']);
  });

  test('rows fit, and only spaces are lost', () => {
    fc.assert(
      fc.property(words, fc.integer({ min: 2, max: 20 }), (text, width) => {
        const soft = wrapWords(text, width);
        expect(soft.every((row) => getTextWidth(row) <= width)).toBe(true);
        expect(soft.join('').replaceAll(' ', '')).toBe(text.replaceAll(' ', ''));
        const hard = wrapHard(text, width);
        expect(hard.every((row) => getTextWidth(row) <= width)).toBe(true);
        expect(hard.join('')).toBe(text);
      }),
    );
  });
});

describe('truncating', () => {
  test('keeps the requested end', () => {
    expect(truncateEnd('src/ui/app.ts', 7)).toBe('src/ui…');
    expect(truncateEnd('short', 7)).toBe('short');
  });

  test('never exceeds the width', () => {
    fc.assert(
      fc.property(
        words,
        fc.integer({ min: 0, max: 12 }),
        (text, width) => getTextWidth(truncateEnd(text, width)) <= width,
      ),
    );
  });
});
