import { expect, test } from 'vitest';
import { applyStickyFallback, createStickyFallback, formatStickyFallback } from '../../src/model/model-fallbacks.ts';

const CHAIN = ['a', 'b', 'c'] as const;

test('the sticky fallback is tried first and the skipped model last, until the time is over', () => {
  const stay = createStickyFallback('a', 'b', undefined, 1000);
  expect(applyStickyFallback(CHAIN, stay, 1001)).toEqual(['b', 'c', 'a']);
  expect(applyStickyFallback(CHAIN, stay, stay.untilMs)).toEqual(CHAIN);
});

test('another model, or a removed fallback, is not affected', () => {
  const stay = createStickyFallback('a', 'b', undefined, 0);
  expect(applyStickyFallback(['x', 'b'], stay, 1)).toEqual(['x', 'b']);
  expect(applyStickyFallback(['a', 'c'], stay, 1)).toEqual(['a', 'c']);
  expect(applyStickyFallback(['a'], undefined, 1)).toEqual(['a']);
});

test('a usage limit determines the duration itself', () => {
  const stay = createStickyFallback('a', 'b', { kind: 'rate_limited', retryAfterMs: 3_600_000 }, 0);
  expect(stay.untilMs).toBe(3_600_000);
  expect(formatStickyFallback(stay, 0)).toContain('Using b for 60 minutes; then a is tried again');
});
