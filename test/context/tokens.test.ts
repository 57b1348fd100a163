import { expect, test } from 'vitest';
import { createTokenEstimate, textTokens } from '../../src/context/tokens.ts';
import { words } from './workbench.ts';

test('latin text is about 3.5 characters a token, ideographs about one, samples agree with the whole', () => {
  expect(textTokens(words(3_500))).toBe(1_000);
  expect(textTokens('文字化け'.repeat(100))).toBe(400);
  const mixed = '文字 and words, '.repeat(100_000);
  const exact = textTokens(mixed.slice(0, 50_000)) * (mixed.length / 50_000);
  expect(Math.abs(textTokens(mixed) / exact - 1)).toBeLessThan(0.05);
});

test('a picture counts by its pixels, never by its bytes', () => {
  const png = Buffer.alloc(2_000_000);
  png.write('\x89PNG', 0, 'latin1');
  png.writeUInt32BE(600, 16);
  png.writeUInt32BE(400, 20);
  const { blockTokens } = createTokenEstimate();
  const image = (data: string) => ({
    type: 'image' as const,
    source: { type: 'base64' as const, media_type: 'image/png', data },
  });
  expect(blockTokens(image(png.toString('base64')))).toBe(326);
  expect(blockTokens(image('AAAA'))).toBe(1_606);
});
