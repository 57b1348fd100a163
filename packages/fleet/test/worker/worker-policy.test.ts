import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { createTempProject } from '../../../../test/support/temp-project.ts';
import type { BatchTaskSpec } from '../../src/store/batch.ts';
import {
  createTaskManagedSettings,
  findPolicyViolation,
  getTaskTimeLimitMs,
  readWorkerPolicy,
  type WorkerPolicy,
} from '../../src/worker/worker-policy.ts';

const SPEC: BatchTaskSpec = {
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
const refusal = (policy: WorkerPolicy, spec: Partial<BatchTaskSpec> = {}) =>
  findPolicyViolation(policy, { batch: 'b', key: 'k', spec: { ...SPEC, ...spec } });

test('without a policy everything is allowed but variables, which have to be listed', () => {
  expect(refusal({})).toBeUndefined();
  expect(refusal({}, { env: ['NPM_TOKEN'] })).toContain('does not provide the variable NPM_TOKEN');
  expect(refusal({ env: ['NPM_TOKEN'] }, { env: ['NPM_TOKEN'] })).toBeUndefined();
  expect(refusal({ env: ['STAGE'] }, { env: ['STAGE'], secrets: ['NPM_TOKEN'] })).toContain('NPM_TOKEN');
});

const REFUSALS: readonly (readonly [WorkerPolicy, string])[] = [
  [{ repositories: ['https://github.com/other/*'] }, 'does not work on https://github.com/acme/shop'],
  [{ models: ['haiku'] }, 'does not use sonnet'],
  [{ tools: ['Bash(npm run lint)'] }, 'does not allow Bash(npm test:*)'],
  [{ verify: ['make test'] }, 'does not run the check "npm test"'],
  [{ mode: 'plan' }, 'allows the mode plan at most'],
];

test.each(REFUSALS)('%j refuses with the reason', (policy, words) => {
  expect(refusal(policy)).toContain(words);
});

test.each([
  ['--mcp-config'],
  ['Bash(npm test:*) Bash(*)'],
  ['Bash(npm test:*),Edit'],
  ['Bash(npm test:*)Edit'],
  ['Bash(npm'],
  [''],
])('%j is no rule, neither to allow nor to disallow', (rule) => {
  expect(refusal({}, { allowedTools: [rule] })).toContain('is not a permission rule');
  expect(refusal({ tools: ['*'] }, { disallowedTools: ['Edit', rule] })).toContain('is not a permission rule');
});

test('rules with parentheses and spaces in them are rules', () => {
  const allowedTools = ['Edit', 'Bash(node -e "f(1)":*)', 'mcp__shop__*', 'WebFetch(domain:example.com)'];
  expect(refusal({}, { allowedTools })).toBeUndefined();
});

test('a task leaves its sandbox only through an exception that the policy names', () => {
  const outside = { allowedTools: ['Outside(npm ci)'] };
  expect(refusal({}, outside)).toBeUndefined();
  for (const tools of [undefined, ['*'], ['Bash(*)', '*npm*']]) {
    const policy = tools === undefined ? { sandbox: true } : { sandbox: true, tools };
    expect(refusal(policy, outside)).toContain('does not allow Outside(npm ci)');
    expect(refusal(policy, { allowedTools: [' Outside'] })).toBeDefined();
  }
  expect(refusal({}, { ...outside, mode: 'bypassPermissions' })).toContain('does not allow Outside(npm ci)');
  expect(refusal({ sandbox: true, tools: ['Outside(npm *)'] }, outside)).toBeUndefined();
});

test('the shorter time limit counts, and none is too long for a timer', () => {
  expect(getTaskTimeLimitMs({ minutes: 5 }, { minutes: 45 })).toBe(300_000);
  expect(getTaskTimeLimitMs({}, { minutes: 45 })).toBe(2_700_000);
  expect(getTaskTimeLimitMs({}, { minutes: 1e9 })).toBeLessThan(2 ** 31);
});

test('patterns allow what they match', () => {
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

test('a task whose name or path leads elsewhere is refused', () => {
  expect(findPolicyViolation({}, { batch: '../x', key: 'k', spec: SPEC })).toContain('is not a valid folder name');
  expect(refusal({}, { place: { url: 'ext::sh -c x', commit: 'a'.repeat(40), folder: '' } })).toContain(
    'is neither the URL',
  );
  expect(refusal({}, { mode: 'god' })).toContain('unknown mode "god"');
});

test('without questions there is a sandbox; with a sandbox the bypass mode is removed', () => {
  expect(JSON.parse(createTaskManagedSettings({}, { mode: 'bypassPermissions' }))).toEqual({
    sandbox: { enabled: true, network: false },
  });
  expect(JSON.parse(createTaskManagedSettings({}, { mode: 'acceptEdits' }))).toEqual({
    permissions: { disableBypassPermissionsMode: 'disable' },
  });
});

test('an unreadable policy starts no worker', async () => {
  await using project = await createTempProject();
  await mkdir(project.ouroHome, { recursive: true });
  for (const text of ['{', '{"mode": "god"}', '{"repositorys": []}']) {
    await writeFile(join(project.ouroHome, 'worker.json'), text);
    await expect(readWorkerPolicy(project.ouroHome)).rejects.toThrow('A worker does not start');
  }
});
