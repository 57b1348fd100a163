import { expect, test } from 'vitest';
import { computeShortHash } from '../../../src/lib/text/short-hash.ts';

test('a hash stays the same in every version, because files and identifiers are named by it', () => {
  expect([computeShortHash('', 8), computeShortHash('x', 12)]).toEqual(['6d523710', 'cbdc1191fcaa']);
  expect(computeShortHash('ab1 é'.repeat(40_000), 32)).toBe('f86c63ca5cedf49914b00ebabc529949');
});
