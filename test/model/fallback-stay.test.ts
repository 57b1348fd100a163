import { expect, test } from 'vitest';
import { stayAfter, stayedChain, stayWords } from '../../src/model/fallback-stay.ts';

const CHAIN = ['a', 'b', 'c'] as const;

test('the one that stays is asked first and the one that was passed over last, until the time is over', () => {
  const stay = stayAfter('a', 'b', undefined, 1000);
  expect(stayedChain(CHAIN, stay, 1001)).toEqual(['b', 'c', 'a']);
  expect(stayedChain(CHAIN, stay, stay.untilMs)).toEqual(CHAIN);
});

test('another model, or a fallback that was taken away, stays out of it', () => {
  const stay = stayAfter('a', 'b', undefined, 0);
  expect(stayedChain(['x', 'b'], stay, 1)).toEqual(['x', 'b']);
  expect(stayedChain(['a', 'c'], stay, 1)).toEqual(['a', 'c']);
  expect(stayedChain(['a'], undefined, 1)).toEqual(['a']);
});

test('a limit says itself how long', () => {
  const stay = stayAfter('a', 'b', { kind: 'rate_limited', retryAfterMs: 3_600_000 }, 0);
  expect(stay.untilMs).toBe(3_600_000);
  expect(stayWords(stay, 0)).toContain('b stays for 60 minutes; then a is asked again');
});
