import { expect, test } from 'vitest';
import type { DiffLine } from '../../../../src/contracts/display.ts';
import { createPaint } from '../../../../src/ui/theme/paint.ts';
import { resolveTheme } from '../../../../src/ui/theme/theme.ts';
import { findChangedRanges, renderDiff } from '../../../../src/ui/widgets/diff/diff-lines.ts';
import { loadHighlighter } from '../../../../src/ui/widgets/markdown/highlight.ts';

function marked(...lines: readonly string[]): string[] {
  const kinds = { '+': 'add', '-': 'del', ' ': 'same' } as const;
  const parsed: DiffLine[] = lines.map((line) => ({
    kind: line.startsWith('+') ? kinds['+'] : line.startsWith('-') ? kinds['-'] : kinds[' '],
    text: line.slice(1),
  }));
  return findChangedRanges(parsed).map((range, index) =>
    (parsed[index]?.text ?? '').slice(range?.from ?? 0, range?.to ?? 0),
  );
}

test('the different words of a replaced line are found', () => {
  expect(marked(' a', '-return old + name;', '+return fresh + name;', ' b')).toEqual(['', 'old', 'fresh', '']);
  expect(marked('-f(a)', '+f(a, b)')).toEqual(['', ', b']);
});

test('several lines are compared one by one', () => {
  expect(marked('-let a = 1;', '-let b = 2;', '+let a = 3;', '+let c = 2;')).toEqual(['1', 'b', '3', 'c']);
});

test('added lines, and lines with nothing in common, are left alone', () => {
  expect(marked('+new line')).toEqual(['']);
  expect(marked('-  one', '+  other')).toEqual(['', '']);
  expect(marked('-one', '+one', '+two')).toEqual(['', '', '']);
});

const HUNK = {
  ...{ oldStart: 1, oldLines: 2, newStart: 1, newLines: 2 },
  lines: [
    { kind: 'same', text: '/* one' },
    { kind: 'del', text: 'const a = 1; */ const b = 2;' },
    { kind: 'add', text: 'const a = 1; */ const b = 3;' },
  ],
} as const;

test('the lines of a diff have the colors of their language, also where a comment began above', async () => {
  const highlight = await loadHighlighter();
  const lines = renderDiff({ hunks: [HUNK], path: '/p/a.mts' }, { width: 80, highlight, cwd: '/p' });
  const keyword = { text: 'const', style: { token: 'accent', background: 'addBg' } };
  expect(lines[2]?.spans).toContainEqual(keyword);
  expect(lines[2]?.spans).toContainEqual({
    text: 'const a = 1; */',
    style: { token: 'dim', background: 'addBg' },
  });
  expect(lines[2]?.spans).toContainEqual({
    text: '3',
    style: { token: 'warn', background: 'addBg', emphasis: true },
  });
  const unknown = renderDiff({ hunks: [HUNK], path: '/p/a.unknown' }, { width: 80, highlight, cwd: '/p' });
  expect(unknown[2]?.spans.slice(1).map((span) => span.style?.token)).toEqual(['add', 'add', 'add', 'add']);
});

test('the hunks of several files are below the names of their files', () => {
  const hunks = ['/p/a.ts', '/p/a.ts', '/q/b.ts'].map((path) => ({ ...HUNK, lines: HUNK.lines.slice(0, 1), path }));
  const lines = renderDiff({ hunks, path: '/p/a.ts' }, { width: 80, highlight: undefined, cwd: '/p' });
  expect(lines.map(({ spans }) => spans.map(({ text }) => text).join(''))).toEqual([
    '  a.ts',
    '  1   /* one',
    '   …',
    '  1   /* one',
    '  /q/b.ts',
    '  1   /* one',
  ]);
});

test('without a background color the whole line keeps the color of the change', () => {
  const paint = createPaint(resolveTheme('ansi', { depth: '16', background: 'dark' }), '16');
  const added = paint('x', { token: 'add', background: 'addBg' });
  expect(paint('x', { token: 'accent', background: 'addBg' })).toBe(added);
  expect(paint('x', { background: 'addBg' })).toBe(added);
});
