import { expect, test } from 'vitest';
import { createRunOverrides } from '../../src/hooks/run-overrides.ts';
import { decide } from '../../src/permissions/decide.ts';
import { diskFs } from '../../src/permissions/permission-fs.ts';
import { getToolFacts } from '../../src/tools/tool-traits.ts';
import { makeFixture, policyFor } from '../permissions/fixture.ts';

test.each([
  ['project', 'ask', 'ask'],
  ['user', 'allow', 'allow'],
] as const)(
  'the head of a command or skill of a %s lets commands leave the sandbox: %s',
  (source, leaving, opening) => {
    const policy = policyFor(makeFixture(), {});
    const overrides = createRunOverrides({ cwd: policy.cwd });
    const allowedTools = ['Bash', 'Outside', 'Outside(write:~/.cache)'];
    overrides.addForCurrentRun({
      ...{ name: 'x', path: 'x', source, allowedTools, deniedTools: [] },
      model: undefined,
      effort: undefined,
    });
    const decided = (input: object) =>
      decide(
        getToolFacts('Bash', { command: 'make', ...input }, policy.cwd),
        { ...policy, sandbox: 'asked', rules: overrides.rules() },
        diskFs,
      ).verdict;
    expect(decided({})).toBe('allow');
    expect(decided({ outside_sandbox: 'all' })).toBe(leaving);
    expect(decided({ sandbox_write: ['~/.cache/x'] })).toBe(opening);
  },
);
