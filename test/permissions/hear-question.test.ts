import { expect, test } from 'vitest';
import { factsOf } from '../../src/app/permissions/tool-facts.ts';
import { decide } from '../../src/permissions/decide.ts';
import { hearQuestion } from '../../src/permissions/hear-question.ts';
import { diskFs } from '../../src/permissions/paths/fs.ts';
import { makeFixture, policyFor } from './fixture.ts';

test.each([
  ['npm ci', ['npm']],
  ['cd sub && npm ci && git gc', ['npm', 'git']],
  ['./build.sh', undefined],
  ['npm ci; $x', undefined],
  ['sh -c "npm ci"; eval "$y"', undefined],
  ['ls', undefined],
])('a place is offered to the programs of a line where that would do: %s', async (command, names) => {
  const policy = { ...policyFor(makeFixture(), {}), sandbox: 'unasked' as const };
  const input = { command, sandbox_write: ['~/.cache/tool'] };
  const facts = factsOf('Bash', input, policy.cwd);
  const decision = decide(facts, policy, diskFs);
  const asked: unknown[] = [];
  const request = { tool: 'Bash', callId: 'c', input, cwd: policy.cwd, title: command, isReadOnly: false };
  const parts = {
    ...{ policy: () => policy, fs: diskFs, factsOf, record: () => undefined, newId: () => 'id' },
    ...{ remember: async () => undefined, changeMode: () => undefined },
    ask: async ({ ofPrograms }: { ofPrograms?: { names: readonly string[] } }) => {
      asked.push(ofPrograms?.names);
      return { behavior: 'deny' } as const;
    },
  };
  await hearQuestion({ request, facts, decision, policy }, parts, new AbortController().signal);
  expect(asked).toEqual([names]);
});
