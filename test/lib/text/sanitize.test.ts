import fc from 'fast-check';
import { expect, test } from 'vitest';
import { sanitize } from '../../../src/lib/text/sanitize.ts';

const OUTPUT: readonly (readonly [string, string, string])[] = [
  ['colours', '\u001b[31mred\u001b[0m', 'red'],
  ['cursor moves', 'a\u001b[2J\u001b[1;1Hb', 'ab'],
  ['private modes', '\u001b[?1049hx\u001b[?25l', 'x'],
  ['a title', '\u001b]0;evil\u0007ok', 'ok'],
  ['a clipboard write', '\u001b]52;c;ZXZpbA==\u001b\\ok', 'ok'],
  ['a link', '\u001b]8;;http://x\u001b\\text\u001b]8;;\u001b\\', 'text'],
  ['a device string', '\u001bP1$r0m\u001b\\ok', 'ok'],
  ['APC, PM and SOS', '\u001b_a\u001b\\b\u001b^c\u001b\\d\u001bXe\u001b\\f', 'bdf'],
  ['8-bit control sequences', '\u009b31mred\u009d0;t\u009cok', 'redok'],
  ['a character set', '\u001b(0lqk\u001b(B', 'lqk'],
  ['bells and backspaces', 'a\u0007b\bc\u007f', 'abc'],
  ['NUL', 'a\0b', 'ab'],
  ['a Windows line end', 'a\r\nb', 'a\nb'],
  ['a lone carriage return', 'safe\rrm', 'saferm'],
  ['an unfinished title', '\u001b]0;evil\nnext', '\nnext'],
  ['an unfinished sequence', 'a\u001b[31', 'a'],
  ['a cancelled sequence', '\u001b[31\u0018m', 'm'],
  ['an escape in a string', '\u001b]0;x\u001b[31mred', 'red'],
  ['a reset', '\u001bcx', 'x'],
  ['tab and newline', 'a\tb\nc', 'a\tb\nc'],
  ['other alphabets', '中文 émoji 👨‍👩‍👧', '中文 émoji 👨‍👩‍👧'],
];

test.each(OUTPUT)('output: %s', (_, text, clean) => {
  expect(sanitize(text, 'output')).toBe(clean);
});

const PROMPT: readonly (readonly [string, string, string])[] = [
  ['an override of direction', 'a\u202eb', 'a<U+202E>b'],
  ['an isolate', '\u2066a\u2069', '<U+2066>a<U+2069>'],
  ['a zero-width space', 'r\u200bm', 'r<U+200B>m'],
  ['a byte order mark', '\ufeffls', '<U+FEFF>ls'],
  ['tag characters', 'x\u{e0041}', 'x<U+E0041>'],
  ['a space that is none', 'a\u00a0b', 'a<U+00A0>b'],
  ['an ideographic space', 'a\u3000b', 'a<U+3000>b'],
  ['a line separator', 'a\u2028b', 'a<U+2028>b'],
  ['a Hangul filler', 'a\u3164b', 'a<U+3164>b'],
  ['an object replacement character', 'a\ufffcb', 'a<U+FFFC>b'],
  ['an escape sequence', '\u001b[31mx', '<U+001B>[31mx'],
  ['an 8-bit control', '\u009bx', '<U+009B>x'],
  ['a lone carriage return', 'safe\rrm', 'safe<U+000D>rm'],
  ['NUL', 'a\0', 'a<U+0000>'],
  ['a lone surrogate', 'a\ud800b', 'a<U+D800>b'],
  ['an emoji with its selector', '❤️', '❤️'],
  ['a soft hyphen', 'r\u00adm', 'r<U+00AD>m'],
  ['a long run of spaces', `ls${' '.repeat(30)}; rm`, 'ls ⟨30 spaces⟩ ; rm'],
  ['twenty spaces', `ls${' '.repeat(20)}x`, `ls${' '.repeat(20)}x`],
  ['many blank lines', `a${'\n'.repeat(12)}b`, 'a\n⟨11 blank lines⟩\nb'],
  ['three blank lines', 'a\n\n\n\nb', 'a\n\n\n\nb'],
];

test.each(PROMPT)('prompt: %s', (_, text, shown) => {
  expect(sanitize(text, 'prompt')).toBe(shown);
});

test('on one line a newline is shown as a symbol', () => {
  expect(sanitize('a\nb\r\nc\td', 'line')).toBe('a⏎b⏎c d');
});

const piece = fc.constantFrom(
  '\u001b',
  '[',
  ']',
  '3',
  '1',
  'm',
  ';',
  '\u0007',
  '\\',
  '\n',
  '\r',
  'a',
  '\u009b',
  'P',
  '(',
  'B',
  '中',
);
const pieces = fc.array(piece, { maxLength: 20 });

test('sanitizing is idempotent: removed parts do not form a new sequence', () => {
  fc.assert(
    fc.property(pieces, (parts) => {
      const clean = sanitize(parts.join(''), 'output');
      expect(sanitize(clean, 'output')).toBe(clean);
    }),
    { numRuns: 300 },
  );
});

const FOREIGN: readonly (readonly [string, string, string])[] = [
  ['a colour', '\u001b[31mred\u001b[0m', 'red'],
  ['an override of direction', 'a\u202eb', 'ab'],
  ['tag characters', 'x\u{e0041}', 'x'],
  ['a zero-width space', 'r\u200bm', 'rm'],
  ['an emoji with its joiners', '❤️ 👨‍👩‍👧', '❤️ 👨‍👩‍👧'],
  ['a Windows line end', 'a\r\nb\tc', 'a\nb\tc'],
];

test.each(FOREIGN)('foreign text: %s', (_, text, clean) => {
  expect(sanitize(text, 'foreign')).toBe(clean);
});

test('no control character but tab and newline is left', () => {
  fc.assert(
    fc.property(pieces, (parts) => {
      expect(sanitize(parts.join(''), 'output')).not.toMatch(/[\0-\x08\x0b-\x1f\x7f-\x9f]/);
    }),
    { numRuns: 300 },
  );
});
