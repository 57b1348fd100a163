import { createRequire } from 'node:module';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { execa } from 'execa';
import { expect } from 'vitest';
import { DIRECT } from '../support/environment.ts';
import { longTest } from '../support/long-test.ts';
import { createTempProject, type TempProject } from '../support/temp-project.ts';

const SUITE = createRequire(import.meta.url).resolve('@modelcontextprotocol/conformance/dist/index.js');
const CLIENT = fileURLToPath(new URL('../support/conformance-client.ts', import.meta.url));

/** Scenarios of the official suite for clients, the telling ones first. */
const SCENARIOS = [
  'auth/scope-step-up',
  'elicitation-sep1034-client-defaults',
  'initialize',
  'tools_call',
  'sse-retry',
  'auth/metadata-default',
  'auth/metadata-var1',
  'auth/metadata-var2',
  'auth/metadata-var3',
  'auth/basic-cimd',
  'auth/scope-from-www-authenticate',
  'auth/scope-from-scopes-supported',
  'auth/scope-omitted-when-undefined',
  'auth/scope-retry-limit',
  'auth/token-endpoint-auth-basic',
  'auth/token-endpoint-auth-post',
  'auth/token-endpoint-auth-none',
  'auth/pre-registration',
  'auth/2025-03-26-oauth-metadata-backcompat',
  'auth/2025-03-26-oauth-endpoint-fallback',
  'auth/resource-mismatch',
  'auth/offline-access-scope',
  'auth/offline-access-not-supported',
  'auth/client-credentials-jwt',
  'auth/client-credentials-basic',
  'auth/cross-app-access-complete-flow',
];

/** The suite kills its clients, so their temporary files are in the folder that is removed with the project. */
const run = (args: readonly string[], { dir: cwd, home }: TempProject) =>
  execa(process.execPath, [SUITE, ...args], {
    cwd,
    all: true,
    reject: false,
    env: { ...DIRECT, NO_COLOR: '1', TMPDIR: dirname(home) },
  });

longTest('every scenario of the client conformance suite is run', async () => {
  await using project = await createTempProject();
  const { all } = await run(['list', '--client'], project);
  const names = [...all.matchAll(/^ {2}- (\S+)/gm)].map(([, name]) => name);
  const first = names.indexOf('initialize');
  expect(names.slice(first).toSorted()).toEqual(SCENARIOS.toSorted());
});

longTest.each(SCENARIOS)('the client passes %s', async (scenario) => {
  await using project = await createTempProject();
  const command = `"${process.execPath}" "${CLIENT}"`;
  const { exitCode, all } = await run(['client', '--command', command, '--scenario', scenario], project);
  expect(exitCode, all).toBe(0);
});
