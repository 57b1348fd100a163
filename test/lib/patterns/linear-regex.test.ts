import { expect, test } from 'vitest';
import { compileLinearRegex } from '../../../src/lib/patterns/linear-regex.ts';
import { fastestMs } from '../../support/fastest.ts';

test.each(['(a+)+$', '(a|a)*c', '(?:a|aa)+c', '(.*a){20}c', '([a-z]+)*c', '(a*)*(a*)*c'])(
  '%s answers at once on a long text',
  async (source) => {
    const expression = await compileLinearRegex(source);
    if ('problem' in expression) throw new Error(expression.problem);
    const search = () => expect(expression.test(`${'a'.repeat(20_000)}b`)).toBe(false);
    expect(fastestMs(2_000, search)).toBeLessThan(2_000);
  },
);

test('a pattern that needs more than linear time, or is too long, is reported', async () => {
  expect(await compileLinearRegex('(')).toEqual({ problem: expect.stringContaining('missing closing )') });
  expect(await compileLinearRegex('(a)\\1')).toEqual({ problem: expect.stringContaining('invalid escape sequence') });
  expect(await compileLinearRegex('a'.repeat(3_000))).toEqual({ problem: 'it is longer than 2000 characters' });
  const many = await compileLinearRegex('a(b)?', ['any-case']);
  expect('problem' in many ? [] : [...many.matchAll('xAB a')].map(({ index, 0: text }) => [index, text])).toEqual([
    [1, 'AB'],
    [4, 'a'],
  ]);
});
