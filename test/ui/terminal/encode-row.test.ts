import { expect, test } from 'vitest';
import { encodeNewRow } from '../../../src/ui/terminal/encode-row.ts';
import { createPaint } from '../../../src/ui/theme/paint.ts';
import { resolveTheme, THEME_NAMES, THEME_TOKENS } from '../../../src/ui/theme/theme.ts';

test('a row with a background has a band, whatever colors its words have', () => {
  for (const name of THEME_NAMES)
    for (const depth of ['truecolor', '256', '16', 'none'] as const) {
      const paint = createPaint(resolveTheme(name, { depth, background: 'dark' }), depth);
      for (const token of THEME_TOKENS) {
        const row = paint('words', { token, bold: true });
        expect(encodeNewRow(row), `${token} of ${name} at ${depth}`).toBe(row);
      }
    }
  for (const color of ['38;2;1;2;104', '38;2;48;5;41', '38;5;47', '1;38;2;0;0;100'])
    expect(encodeNewRow(`\u001b[${color}mwords\u001b[0m`)).not.toContain('\u001b[K');
});

test('a row that starts with a background is filled to the edge', () => {
  expect(encodeNewRow('\u001b[38;2;1;2;104;48;2;3;4;5mwords\u001b[0m')).toMatch(/^\u001b\[48;2;3;4;5m\u001b\[K/);
  expect(encodeNewRow('\u001b[1;44mwords\u001b[0m')).toMatch(/^\u001b\[44m\u001b\[K/);
});
