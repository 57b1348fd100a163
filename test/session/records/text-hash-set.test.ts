import { expect, test } from 'vitest';
import { createTextHashSet } from '../../../src/session/records/parse-session-records.ts';
import { isWholeRun } from '../../support/runs.ts';

test('each text is new once, however many there are', () => {
  const seen = createTextHashSet();
  const texts = Array.from({ length: isWholeRun ? 50_000 : 10_000 }, (_, n) => [
    `line ${n}`,
    `${n} line`,
    crypto.randomUUID(),
  ]).flat();
  expect(texts.filter(seen.add)).toHaveLength(texts.length);
  expect(texts.filter(seen.add)).toEqual([]);
  expect(['', '\0', '\0\0', 'ü', 'u\u0308'].map(seen.add)).toEqual([true, true, true, true, true]);
  expect(seen.add('')).toBe(false);
});
