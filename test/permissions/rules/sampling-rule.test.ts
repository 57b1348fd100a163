import { expect, test } from 'vitest';
import type { RuleBehavior } from '../../../src/contracts/permission.ts';
import { getSamplingVerdict, parseRule } from '../../../src/permissions/rules/parse-rule.ts';

const rule = (text: string, behavior: RuleBehavior, source: 'user' | 'project' = 'user') =>
  parseRule(text, behavior, { source, root: '/' });

test.each([
  [[], undefined],
  [[rule('Sampling(docs)', 'allow')], 'allow'],
  [[rule('Sampling', 'allow')], 'allow'],
  [[rule('Sampling(*)', 'allow')], 'allow'],
  [[rule('Sampling(other)', 'allow')], undefined],
  [[rule('Sampling(docs)', 'allow'), rule('Sampling', 'ask')], 'ask'],
  [[rule('Sampling', 'allow'), rule('Sampling(docs)', 'deny')], 'deny'],
  [[rule('Sampling(docs)', 'allow', 'project')], undefined],
  [[rule('Sampling(docs)', 'deny', 'project')], 'deny'],
  [[rule('Sampling()', 'allow')], undefined],
  [[rule('mcp__docs', 'allow')], undefined],
] as const)('of %j for the server docs it is %s', (rules, verdict) => {
  expect(getSamplingVerdict(rules, 'docs')).toBe(verdict);
});
