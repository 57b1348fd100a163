import { expect, test } from 'vitest';
import { readEnvironment } from '../../../src/app/environment.ts';
import { makePolicy } from '../../../src/app/permissions/policy.ts';
import { factsOf } from '../../../src/app/permissions/tool-facts.ts';
import type { Settings } from '../../../src/contracts/settings.ts';
import { decide } from '../../../src/permissions/decide.ts';
import { diskFs } from '../../../src/permissions/paths/fs.ts';
import { createTempProject, type TempProject } from '../../support/temp-project.ts';

/** What is said to a command in the folder `sub`, with this PATH of the user and of the settings. */
function verdictOf(project: TempProject, command: string, path: string, settings: Settings = {}) {
  const cwd = `${project.dir}/sub`;
  return decide(factsOf('Bash', { command }, cwd), policyOf(project, path, settings).policy(cwd), diskFs).verdict;
}

function policyOf({ dir, home, ouroHome }: TempProject, path: string, settings: Settings) {
  return makePolicy({
    options: { addDirs: [], allowedTools: ['Read'] },
    environment: readEnvironment({ HOME: home, OURO_HOME: ouroHome, PATH: path }),
    cwd: dir,
    trusted: true,
    loaded: () => ({ layers: [], merged: settings, problems: [] }),
    live: () => ({ mode: 'default', grants: [], directories: [] }),
    mayBypass: false,
  });
}

test('a program that PATH finds in the workspace asks, however PATH leads there', async () => {
  await using project = await createTempProject({ 'sub/ls': '#!/bin/sh\n', 'sub/bin/cat': '#!/bin/sh\n' });
  expect(verdictOf(project, 'ls', '/usr/bin:/bin')).toBe('allow');
  for (const path of ['.:/usr/bin', ':/usr/bin', '/usr/bin:', `${project.dir}/sub:/usr/bin`])
    expect([path, verdictOf(project, 'ls', path)]).toEqual([path, 'ask']);
  const settings = { env: { PATH: 'bin:/usr/bin' } };
  expect(verdictOf(project, 'cat ls', '/usr/bin:/bin', settings)).toBe('ask');
  expect(verdictOf(project, 'ls', '/usr/bin:/bin', settings)).toBe('allow');
});

test('keys and logins of ours are not read unasked, whatever is allowed as a whole', async () => {
  await using project = await createTempProject();
  const policy = policyOf(project, '/usr/bin', {}).policy(project.dir);
  const read = (name: string) =>
    decide(factsOf('Read', { file_path: `${project.ouroHome}/${name}` }, project.dir), policy, diskFs).verdict;
  expect(['keys.json', 'mcp-logins.json', 'keybindings.json'].map(read)).toEqual(['ask', 'ask', 'allow']);
});
