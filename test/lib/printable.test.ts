import fc from 'fast-check';
import { expect, expectTypeOf, test } from 'vitest';
import { EMPTY_PRINTABLE, joinPrintable, type Printable, printable } from '../../src/lib/printable.ts';
import {
  escapeCodeLine,
  escapeMultilineText,
  escapeUnsafeLine,
  sanitize,
  sanitizeForScreen,
} from '../../src/lib/text/sanitize.ts';
import type { TerminalOutput } from '../../src/ui/terminal/screen-frame-writer.ts';
import type { Paint } from '../../src/ui/theme/paint.ts';
import { anyText } from '../support/any-text.ts';
import { runs } from '../support/runs.ts';

test('a terminal accepts only printable text, not plain strings', () => {
  expectTypeOf<Parameters<TerminalOutput['write']>[0]>().toEqualTypeOf<Printable>();
  expectTypeOf<ReturnType<Paint>>().toEqualTypeOf<Printable>();
  expectTypeOf<string>().not.toExtend<Printable>();
  expectTypeOf<Parameters<typeof printable>[1]>().toEqualTypeOf<Printable | number>();
});

test('clean parts are joined with text and sequences of ouro', () => {
  const row = printable`\u001b[${3}G${escapeUnsafeLine('a\u001b[2Jb')}`;
  expect(joinPrintable([row, EMPTY_PRINTABLE, row], printable`\r\n`)).toBe(
    '\u001b[3Ga<U+001B>[2Jb\r\n\r\n\u001b[3Ga<U+001B>[2Jb',
  );
});

const signs = fc.oneof(
  anyText(),
  fc.constantFrom('\u001b', '\u009b', '\u202e', '\u200b', '\u0007', '\r', '[31m', ']52;c;eA==', '\u{e0041}'),
);
const texts = fc.array(signs, { maxLength: 8 }).map((parts) => parts.join(''));

test('printable text contains no terminal sequence', () => {
  fc.assert(
    fc.property(texts, (text) => {
      for (const clean of [
        escapeUnsafeLine(text),
        escapeMultilineText(text),
        sanitizeForScreen(text),
        sanitize(text, 'line'),
      ])
        expect(clean).not.toMatch(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/);
      expect(escapeMultilineText(text)).not.toMatch(/[\u200b\u200e\u200f\u{e0000}-\u{e007f}]/u);
    }),
    runs(400),
  );
});

test('a page keeps lines and columns, and shows hidden characters', () => {
  expect(escapeMultilineText(`name${' '.repeat(30)}size\nb\u202egpj\tx\u001b[31m\n\n\n\n\n\n`)).toBe(
    `name${' '.repeat(30)}size\nb<U+202E>gpj\tx\n\n\n\n\n\n`,
  );
});

test('a line of code shows invisible characters, and keeps indentation, emoji and alphabets', () => {
  const kept = `${' '.repeat(40)}\tif (x) // ❤️ 👨‍👩‍👧 می‌خواهم`;
  expect(escapeCodeLine(`${kept}\r`)).toBe(kept);
  expect(escapeCodeLine('a\u202eb\u200bc\u200dd\u0430\u200de\u001b[31mf\rg\u00a0h')).toBe(
    'a<U+202E>b<U+200B>c<U+200D>d\u0430<U+200D>e<U+001B>[31mf<U+000D>g<U+00A0>h',
  );
});
