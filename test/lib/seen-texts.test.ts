import { expect, test } from 'vitest';
import { createSeenTexts } from '../../src/lib/seen-texts.ts';
import { isWholeRun } from '../support/runs.ts';

test('each text is new once, however many there are', () => {
  const seen = createSeenTexts();
  const texts = Array.from({ length: isWholeRun ? 50_000 : 10_000 }, (_, n) => [
    `line ${n}`,
    `${n} line`,
    crypto.randomUUID(),
  ]).flat();
  expect(texts.filter(seen.isNew)).toHaveLength(texts.length);
  expect(texts.filter(seen.isNew)).toEqual([]);
  expect(['', '\0', '\0\0', 'ü', 'u\u0308'].map(seen.isNew)).toEqual([true, true, true, true, true]);
  expect(seen.isNew('')).toBe(false);
});
