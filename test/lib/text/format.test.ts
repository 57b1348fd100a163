import { expect, test } from 'vitest';
import {
  formatAgo,
  formatBytes,
  formatCount,
  formatDuration,
  formatMoney,
  formatTokens,
  truncate,
} from '../../../src/lib/text/format.ts';

test('sizes, durations, tokens and costs are short', () => {
  expect([0, 812, 1000, 3277, 102_400, 1_258_291, 5_368_709_120].map(formatBytes)).toEqual([
    '0 B',
    '812 B',
    '1 KB',
    '3.2 KB',
    '100 KB',
    '1.2 MB',
    '5 GB',
  ]);
  expect([0, 100, 949, 951, 14_000, 177_000, 3_900_000].map(formatDuration)).toEqual([
    '0.0s',
    '0.1s',
    '0.9s',
    '1s',
    '14s',
    '2m57s',
    '1h05m',
  ]);
  expect([312, 1234, 187_000, 1_000_000].map(formatTokens)).toEqual(['312', '1.2k', '187k', '1M']);
  expect([0, 0.12, 0.004, 0.0001, 3].map(formatMoney)).toEqual(['$0.00', '$0.12', '$0.004', '<$0.001', '$3.00']);
  expect([formatCount(1, 'line'), formatCount(2, 'line')]).toEqual(['1 line', '2 lines']);
});

test('times are relative, across midnight and daylight saving', () => {
  const now = new Date(2026, 10, 23, 15).getTime();
  const ago = (...time: [number, number, number, number]) => formatAgo(new Date(...time).getTime(), now);
  expect(ago(2026, 10, 23, 15)).toBe('just now');
  expect(ago(2026, 10, 23, 12)).toBe('3h ago');
  expect(ago(2026, 10, 22, 23)).toBe('yesterday');
  expect(ago(2026, 10, 22, 1)).toBe('yesterday');
  expect(ago(2026, 10, 21, 22)).toBe('1d ago');
  expect(ago(2026, 10, 13, 15)).toBe('10d ago');
  expect(formatAgo(new Date(2026, 10, 22, 23).getTime(), new Date(2026, 10, 23, 1).getTime())).toBe('2h ago');
  expect(formatAgo(new Date(2026, 2, 28, 12).getTime(), new Date(2026, 2, 29, 12).getTime())).toBe('yesterday');
});

test('a text is cut to a length with its ellipsis, and what is left is well-formed', () => {
  expect(['12345', '123456', '123😀6'].map((text) => truncate(text, 5))).toEqual(['12345', '1234…', '123\ufffd…']);
});
