import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { TaskSpec } from '../../../src/contracts/fleet.ts';
import { managedSettings, type Policy, readPolicy, refusalOf } from '../../../src/fleet/worker/policy.ts';
import { createTempProject } from '../../support/temp-project.ts';

const SPEC: TaskSpec = {
  place: { url: 'https://github.com/acme/shop', commit: 'a'.repeat(40), folder: '' },
  prompt: 'Do it.',
  model: 'sonnet',
  mode: 'acceptEdits',
  allowedTools: ['Bash(npm test:*)'],
  disallowedTools: [],
  env: [],
  verify: { kind: 'command', run: 'npm test', tries: 2 },
  minutes: 45,
};
const refusal = (policy: Policy, spec: Partial<TaskSpec> = {}) =>
  refusalOf(policy, { batch: 'b', key: 'k', spec: { ...SPEC, ...spec } });

test('without a policy everything is allowed but variables, which have to be named', () => {
  expect(refusal({})).toBeUndefined();
  expect(refusal({}, { env: ['NPM_TOKEN'] })).toContain('does not give the variable NPM_TOKEN');
  expect(refusal({ env: ['NPM_TOKEN'] }, { env: ['NPM_TOKEN'] })).toBeUndefined();
});

const REFUSALS: readonly (readonly [Policy, string])[] = [
  [{ repositories: ['https://github.com/other/*'] }, 'does not work on https://github.com/acme/shop'],
  [{ models: ['haiku'] }, 'does not use sonnet'],
  [{ tools: ['Bash(npm run lint)'] }, 'does not allow Bash(npm test:*)'],
  [{ verify: ['make test'] }, 'does not run the check "npm test"'],
  [{ mode: 'plan' }, 'at most the mode plan'],
];

test.each(REFUSALS)('%j refuses, and says why', (policy, words) => {
  expect(refusal(policy)).toContain(words);
});

test('patterns allow what they fit', () => {
  const policy = {
    repositories: ['https://github.com/acme/*'],
    models: ['son*'],
    tools: ['Bash(npm *)'],
    verify: ['npm test'],
    mode: 'acceptEdits',
  } as const;
  expect(
    refusal({
      ...policy,
      repositories: [...policy.repositories],
      models: [...policy.models],
      tools: [...policy.tools],
      verify: [...policy.verify],
    }),
  ).toBeUndefined();
});

test('a task whose name or place leads elsewhere is refused', () => {
  expect(refusalOf({}, { batch: '../x', key: 'k', spec: SPEC })).toContain('lead out of the folder');
  expect(refusal({}, { place: { url: 'ext::sh -c x', commit: 'a'.repeat(40), folder: '' } })).toContain(
    'neither an address',
  );
  expect(refusal({}, { mode: 'god' })).toContain('there is no mode "god"');
});

test('without questions there is a sandbox; with them the mode without is taken away', () => {
  expect(JSON.parse(managedSettings({}, { mode: 'bypassPermissions' }))).toEqual({
    sandbox: { enabled: true, network: false },
  });
  expect(JSON.parse(managedSettings({}, { mode: 'acceptEdits' }))).toEqual({
    permissions: { disableBypassPermissionsMode: 'disable' },
  });
});

test('a policy that cannot be read starts no worker', async () => {
  await using project = await createTempProject();
  await mkdir(project.ouroHome, { recursive: true });
  for (const text of ['{', '{"mode": "god"}', '{"repositorys": []}']) {
    await writeFile(join(project.ouroHome, 'worker.json'), text);
    await expect(readPolicy(project.ouroHome)).rejects.toThrow('A worker does not start');
  }
});
