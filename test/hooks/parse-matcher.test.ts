import { expect, test } from 'vitest';
import { parseHookMatcher } from '../../src/hooks/parse-matcher.ts';

test.each([
  ['', 'Bash', true],
  ['*', 'Bash', true],
  ['Bash', 'Bash', true],
  ['Bash', 'BashOutput', false],
  ['Edit|Write', 'Write', true],
  ['Edit|Write', 'MultiEdit', false],
  ['mcp__.*', 'mcp__a__b', true],
  ['^Bash$', 'Bash', true],
  ['(?!mcp__).*', 'mcp__a__b', false],
  ['^(?!mcp__).*$', 'Bash', true],
  ['(?!Read|Grep)(?=[A-Z]).+', 'Grep', false],
  ['(?!Read|Grep)(?=[A-Z]).+', 'Bash', true],
  ['(?!Bash)(Edit|Bash)', 'Edit', true],
  ['(?!Bash)(Edit|Bash)', 'Bash', false],
])('%s matches %s: %s', async (matcher, subject, expected) => {
  const fits = await parseHookMatcher(matcher);
  expect('problem' in fits ? fits.problem : fits(subject)).toBe(expected);
});

test.each(['(', '(a)\\1', '(?<=a)b', '(?!a)b|c'])('%s is invalid', async (matcher) => {
  expect(await parseHookMatcher(matcher)).toHaveProperty('problem');
});
