import { describe, expect, test } from 'vitest';
import { createPaint, parseHexColor } from '../../../src/ui/theme/paint.ts';
import { parseThemeFile } from '../../../src/ui/theme/parse-theme-file.ts';
import { resolveCustomTheme, resolveTheme, type THEME_NAMES, type ThemeToken } from '../../../src/ui/theme/theme.ts';

const FOREGROUNDS: readonly ThemeToken[] = ['dim', 'accent', 'user', 'ok', 'warn', 'error', 'add', 'del', 'code'];
const BACKGROUNDS = { dark: ['#000000', '#1E1E1E'], light: ['#FFFFFF', '#FDF6E3'] } as const;

function linear(hex: string): number[] {
  return parseHexColor(hex).map((channel) => {
    const value = channel / 255;
    return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
  });
}

function dot(row: readonly number[], vector: readonly number[]): number {
  return row.reduce((sum, factor, index) => sum + factor * (vector[index] ?? 0), 0);
}

function contrast(one: string, other: string): number {
  const [darker = 0, lighter = 0] = [one, other]
    .map((hex) => dot([0.2126, 0.7152, 0.0722], linear(hex)))
    .sort((a, b) => a - b);
  return (lighter + 0.05) / (darker + 0.05);
}

/** Colour blindness as matrices on linear RGB (Machado, Oliveira, Fernandes 2009, full severity). */
const BLINDNESS = {
  protanopia: [
    [0.152286, 1.052583, -0.204868],
    [0.114503, 0.786281, 0.099216],
    [-0.003882, -0.048116, 1.051998],
  ],
  deuteranopia: [
    [0.367322, 0.860646, -0.227968],
    [0.280085, 0.672501, 0.047413],
    [-0.01182, 0.04294, 0.968881],
  ],
  tritanopia: [
    [1.255528, -0.076749, -0.178779],
    [-0.078411, 0.930809, 0.147602],
    [0.004733, 0.691367, 0.3039],
  ],
} as const;

function lab(rgb: readonly number[]): number[] {
  const xyz = [
    dot([0.4124, 0.3576, 0.1805], rgb) / 0.9505,
    dot([0.2126, 0.7152, 0.0722], rgb),
    dot([0.0193, 0.1192, 0.9505], rgb) / 1.089,
  ];
  const [x = 0, y = 0, z = 0] = xyz.map((value) =>
    value > 0.008856 ? Math.cbrt(Math.max(0, value)) : 7.787 * value + 16 / 116,
  );
  return [116 * y - 16, 500 * (x - y), 200 * (y - z)];
}

function distance(one: string, other: string, matrix: readonly (readonly number[])[]): number {
  const [first = [], second = []] = [one, other].map((hex) => lab(matrix.map((row) => dot(row, linear(hex)))));
  return Math.hypot(...first.map((value, index) => value - (second[index] ?? 0)));
}

function colorOf(name: (typeof THEME_NAMES)[number], token: ThemeToken): string {
  const background = name.startsWith('light') ? 'light' : 'dark';
  return resolveTheme(name, { depth: 'truecolor', background }).styles[token].color ?? '';
}

describe('themes', () => {
  for (const name of ['dark', 'light', 'dark-cvd', 'light-cvd'] as const) {
    test(`${name} is readable on the usual backgrounds`, () => {
      const weak = FOREGROUNDS.flatMap((token) =>
        BACKGROUNDS[name.startsWith('light') ? 'light' : 'dark']
          .map((background) => ({ token, background, ratio: contrast(colorOf(name, token), background) }))
          .filter(({ ratio }) => ratio < 4.5),
      );
      expect(weak).toEqual([]);
      expect(contrast(colorOf(name, 'add'), colorOf(name, 'addBg'))).toBeGreaterThanOrEqual(4.5);
      expect(contrast(colorOf(name, 'del'), colorOf(name, 'delBg'))).toBeGreaterThanOrEqual(4.5);
      const inDiffs = (['accent', 'ok', 'warn', 'code', 'dim'] as const).flatMap((token) =>
        (['addBg', 'delBg'] as const)
          .map((background) => ({
            token,
            background,
            ratio: contrast(colorOf(name, token), colorOf(name, background)),
          }))
          .filter(({ ratio }) => ratio < 4.5),
      );
      expect(inDiffs).toEqual([]);
    });
  }

  for (const name of ['dark-cvd', 'light-cvd'] as const) {
    test(`${name} distinguishes good and bad for every kind of color blindness`, () => {
      const near = Object.entries(BLINDNESS).flatMap(([kind, matrix]) =>
        (
          [
            ['ok', 'error'],
            ['add', 'del'],
          ] as const
        )
          .map(([good, bad]) => ({ kind, good, apart: distance(colorOf(name, good), colorOf(name, bad), matrix) }))
          .filter(({ apart }) => apart < 20),
      );
      expect(near).toEqual([]);
    });
  }

  test('a terminal never gets colors it does not support', () => {
    expect(resolveTheme('dark', { depth: 'none', background: 'dark' }).name).toBe('no-color');
    const ansi = resolveTheme('auto', { depth: '16', background: 'light' });
    expect([ansi.name, ansi.styles.accent]).toEqual(['ansi', { color: 'blue' }]);
    expect(resolveTheme('auto', { depth: '256', background: 'light' }).name).toBe('light');
    expect(resolveTheme('no-color', { depth: 'truecolor', background: 'dark' }).name).toBe('no-color');
  });
});

describe('a custom theme', () => {
  const read = (value: unknown) => parseThemeFile({ name: 'mine', path: '/t/mine.json', text: JSON.stringify(value) });

  test('changes the tokens it names; the rest is that of its base', () => {
    const mine = read({ base: 'light', accent: '#ff8800', user: { color: 'cyan', bold: true } });
    if (!mine.ok) throw new Error(mine.problem);
    const theme = resolveCustomTheme(mine.theme, { depth: 'truecolor', background: 'dark' });
    expect(theme.styles.accent).toEqual({ color: '#ff8800' });
    expect(theme.styles.user).toEqual({ color: 'cyan', bold: true });
    expect(theme.styles.ok).toEqual(resolveTheme('light', { depth: 'truecolor', background: 'dark' }).styles.ok);
    expect(resolveCustomTheme(mine.theme, { depth: 'none', background: 'dark' }).name).toBe('no-color');
  });

  test('may be one of Claude Code: tokens with a counterpart count, others are ignored', () => {
    const overrides = {
      claude: '#f80',
      error: 'rgb(255, 0, 10)',
      success: 'ansi:greenBright',
      warning: 'ansi256(3)',
      bashBorder: '#ffffff',
      diffAdded: '#003300',
    };
    expect(read({ name: 'Mine', base: 'light-daltonized', overrides })).toEqual({
      ok: true,
      theme: {
        base: 'light-cvd',
        styles: {
          brand: { color: '#ff8800' },
          accent: { color: '#ff8800' },
          error: { color: '#ff000a' },
          ok: { color: 'green' },
          addBg: { color: '#003300' },
        },
      },
    });
  });

  test('reports in a sentence what is invalid', () => {
    const why = (value: unknown) => JSON.stringify(read(value));
    expect(why({ acent: '#ff8800' })).toContain('unknown key \\"acent\\". Valid keys: base, text, dim, accent');
    expect(why({ accent: '\u001b[31m' })).toContain('accent must be a color like');
    expect(why({ base: 'pink' })).toContain('base must be one of auto, dark, light');
    expect(why(['dark'])).toContain('is ignored');
    expect(JSON.stringify(parseThemeFile({ name: 'x', path: '/t/x.json', text: '{' }))).toContain(
      '/t/x.json is ignored: invalid JSON',
    );
  });
});

describe('painting', () => {
  const dark = resolveTheme('dark', { depth: 'truecolor', background: 'dark' });

  test('follows the color depth', () => {
    expect(createPaint(dark, 'truecolor')('x', { token: 'ok' })).toBe('\u001b[38;2;127;201;127mx\u001b[0m');
    expect(createPaint(dark, '256')('x', { token: 'ok', background: 'addBg' })).toMatch(
      /^\u001b\[38;5;\d+;48;5;\d+mx\u001b\[0m$/,
    );
    const ansi = resolveTheme('ansi', { depth: '16', background: 'dark' });
    expect(createPaint(ansi, '16')('x', { token: 'error', bold: true })).toBe('\u001b[1;31mx\u001b[0m');
  });

  test('keeps bold, dim, underline and inverse without color', () => {
    const paint = createPaint(resolveTheme('dark', { depth: 'none', background: 'dark' }), 'none');
    expect(paint('x', { token: 'select' })).toBe('\u001b[7mx\u001b[0m');
    expect(paint('x', { token: 'dim', underline: true })).toBe('\u001b[2;4mx\u001b[0m');
    expect(paint('x', { token: 'ok' })).toBe('x');
    expect(paint('x', { token: 'add', background: 'addBg', emphasis: true })).toBe('\u001b[1;4mx\u001b[0m');
    const dark = createPaint(resolveTheme('dark', { depth: '256', background: 'dark' }), '256');
    expect(dark('x', { background: 'addBg', emphasis: true })).toMatch(/^\u001b\[1;48;5;\d+mx\u001b\[0m$/);
    expect(paint('x', undefined)).toBe('x');
  });
});
