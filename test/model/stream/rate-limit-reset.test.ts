import { expect, test } from 'vitest';
import { readRateLimitReset } from '../../../src/model/stream/rate-limit-reset.ts';

const NOW = Date.parse('2026-01-01T12:00:00Z');
const after = (headers: Readonly<Record<string, string>>) => readRateLimitReset((name) => headers[name], NOW);

test.each([
  ['2026-01-01T12:02:00Z', 120_000],
  ['6m0s', 360_000],
  ['1h2m3.5s', 3_723_500],
  ['20ms', 20],
  ['1d', 86_400_000],
  ['12.5', 12_500],
  [`${NOW / 1000 + 90}`, 90_000],
  [`${NOW + 1500}`, 1500],
  ['2026-01-01T11:00:00Z', 0],
  ['soon', undefined],
  ['', undefined],
  ['-5', undefined],
])('%s is a time %s ms from now', (text, ms) => {
  expect(after({ 'x-ratelimit-reset': text })).toBe(ms);
});

test('of several exhausted limits the last reset counts, else the first; limits with quota left are ignored', () => {
  const at = (seconds: number) => new Date(NOW + seconds * 1000).toISOString();
  const both = {
    'anthropic-ratelimit-requests-reset': at(1),
    'anthropic-ratelimit-requests-remaining': '49',
    'anthropic-ratelimit-input-tokens-reset': at(30),
    'anthropic-ratelimit-output-tokens-reset': at(60),
  };
  expect(after(both)).toBe(30_000);
  expect(after({ 'x-ratelimit-reset': '9', 'x-ratelimit-remaining': '3' })).toBeUndefined();
  expect(after({ ...both, 'anthropic-ratelimit-input-tokens-remaining': '0' })).toBe(30_000);
  const used = {
    'anthropic-ratelimit-input-tokens-remaining': '0',
    'anthropic-ratelimit-output-tokens-remaining': '0',
  };
  expect(after({ ...both, ...used })).toBe(60_000);
  expect(after({ 'x-ratelimit-remaining-requests': '0', 'x-ratelimit-reset-requests': '2m30s' })).toBe(150_000);
  expect(after({})).toBeUndefined();
});
