import { expect, test } from 'vitest';
import { type ApprovalDeps, requestApproval } from '../../src/permissions/approval.ts';
import { decide } from '../../src/permissions/decide.ts';
import { diskFs } from '../../src/permissions/permission-fs.ts';
import { getToolFacts } from '../../src/tools/tool-traits.ts';
import { makeFixture, policyFor } from './fixture.ts';

test.each([
  ['npm ci', ['npm']],
  ['cd sub && npm ci && git gc', ['npm', 'git']],
  ['./build.sh', undefined],
  ['npm ci; $x', undefined],
  ['sh -c "npm ci"; eval "$y"', undefined],
  ['ls', undefined],
])('a location exception is offered to the programs of a command where it suffices: %s', async (command, names) => {
  const policy = { ...policyFor(makeFixture(), {}), sandbox: 'unasked' as const };
  const input = { command, sandbox_write: ['~/.cache/tool'] };
  const facts = getToolFacts('Bash', input, policy.cwd);
  const decision = decide(facts, policy, diskFs);
  const asked: unknown[] = [];
  const request = { tool: 'Bash', callId: 'c', input, cwd: policy.cwd, title: command, isReadOnly: false };
  const deps: ApprovalDeps = {
    fs: diskFs,
    getToolFacts,
    newId: () => 'id',
    async askUser({ ofPrograms }) {
      asked.push(ofPrograms?.names);
      return { behavior: 'deny' };
    },
  };
  await requestApproval({ request, facts, decision, policy }, deps, new AbortController().signal);
  expect(asked).toEqual([names]);
});
