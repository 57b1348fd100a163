import { expect, test } from 'vitest';
import { breather, linearRegex } from '../../../src/lib/patterns/linear-regex.ts';

test.each(['(a+)+$', '(a|a)*c', '(?:a|aa)+c', '(.*a){20}c', '([a-z]+)*c', '(a*)*(a*)*c'])(
  '%s answers at once beside a long text',
  async (source) => {
    const expression = await linearRegex(source);
    if ('problem' in expression) throw new Error(expression.problem);
    const from = performance.now();
    expect(expression.test(`${'a'.repeat(20_000)}b`)).toBe(false);
    expect(performance.now() - from).toBeLessThan(2_000);
  },
);

test('what cannot be matched in linear time, or is too long, is a problem that says so', async () => {
  expect(await linearRegex('(')).toEqual({ problem: expect.stringContaining('missing closing )') });
  expect(await linearRegex('(a)\\1')).toEqual({ problem: expect.stringContaining('invalid escape sequence') });
  expect(await linearRegex('a'.repeat(3_000))).toEqual({ problem: 'it is longer than 2000 characters' });
  const many = await linearRegex('a(b)?', ['any-case']);
  expect('problem' in many ? [] : [...many.matchAll('xAB a')].map(({ index, 0: text }) => [index, text])).toEqual([
    [1, 'AB'],
    [4, 'a'],
  ]);
});

test('a long loop lets others have their turn', async () => {
  const breathe = breather(0);
  let heard = false;
  setImmediate(() => {
    heard = true;
  });
  await breathe();
  expect(heard).toBe(true);
});
