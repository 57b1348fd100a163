import { expect, test } from 'vitest';
import { createTokenEstimator, estimateTextTokens } from '../../src/context/token-estimate.ts';
import { words } from './workbench.ts';

test('Latin text has about 3.5 characters per token, ideographs about one, samples agree with the whole', () => {
  expect(estimateTextTokens(words(3_500))).toBe(1_000);
  expect(estimateTextTokens('文字化け'.repeat(100))).toBe(400);
  const mixed = '文字 and words, '.repeat(100_000);
  const exact = estimateTextTokens(mixed.slice(0, 50_000)) * (mixed.length / 50_000);
  expect(Math.abs(estimateTextTokens(mixed) / exact - 1)).toBeLessThan(0.05);
});

test('an image counts by its pixels, never by its bytes', () => {
  const png = Buffer.alloc(2_000_000);
  png.write('\x89PNG', 0, 'latin1');
  png.writeUInt32BE(600, 16);
  png.writeUInt32BE(400, 20);
  const { blockTokens } = createTokenEstimator();
  const image = (data: string) => ({
    type: 'image' as const,
    source: { type: 'base64' as const, media_type: 'image/png', data },
  });
  expect(blockTokens(image(png.toString('base64')))).toBe(326);
  expect(blockTokens(image('AAAA'))).toBe(1_606);
});
