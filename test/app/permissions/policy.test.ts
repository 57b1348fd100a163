import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { chmod, symlink } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { readEnvironment } from '../../../src/app/environment.ts';
import { createCallGuards } from '../../../src/app/permissions/call-guards.ts';
import { makePolicy } from '../../../src/app/permissions/policy.ts';
import { factsOf } from '../../../src/app/permissions/tool-facts.ts';
import type { Settings } from '../../../src/contracts/settings.ts';
import { decide } from '../../../src/permissions/decide.ts';
import { diskFs } from '../../../src/permissions/paths/fs.ts';
import { shellEnvironment } from '../../../src/tools/bash/shell-environment.ts';
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
    loaded: () => ({
      layers:
        settings.permissions === undefined ? [] : [{ source: 'user', file: 'x', settings, lineOf: () => undefined }],
      merged: settings,
      problems: [],
    }),
    live: () => ({ mode: 'default', grants: [], directories: [] }),
    mayBypass: false,
  });
}

/** However PATH leads to the folder `sub` of the workspace. */
const leadingTo = (dir: string) => ['.:/usr/bin', ':/usr/bin', '/usr/bin:', `${dir}/sub:/usr/bin`, `${dir}/link:/bin`];

test('a program that PATH finds in the workspace alone asks, and beside other commands each that is there', async () => {
  const script = '#!/bin/sh\n';
  await using project = await createTempProject({ 'sub/ls': script, 'sub/grep': script, 'sub/rg': script });
  await symlink('sub', `${project.dir}/link`);
  for (const path of leadingTo(project.dir)) {
    const verdicts = ['ls', 'timeout 5 ls', 'egrep x a', 'rg x'].map((line) => verdictOf(project, line, path));
    expect([path, ...verdicts]).toEqual([path, 'allow', 'allow', 'allow', 'ask']);
    for (const line of ['ls', 'timeout 5 ls', 'egrep x a']) {
      const both = verdictOf(project, `${line} && make`, path, { permissions: { allow: ['Bash(make)'] } });
      expect([path, line, both]).toEqual([path, line, 'ask']);
    }
  }
});

test('what runs unasked runs no program of the workspace: each line is run', async () => {
  const script = '#!/bin/sh\ntouch "$(dirname "$0")/planted"\n';
  const names = ['ls', 'timeout', 'nice', 'grep', 'git', 'cat', 'mkdir', 'sh', 'env', 'sort', 'which'];
  await using project = await createTempProject(Object.fromEntries(names.map((name) => [`sub/${name}`, script])));
  await symlink('sub', `${project.dir}/link`);
  for (const name of names) await chmod(`${project.dir}/sub/${name}`, 0o755);
  const cwd = `${project.dir}/sub`;
  const lines = [
    'ls',
    'timeout 5 ls',
    'nice cat ls',
    'egrep x ls',
    'fgrep x ls',
    'mkdir -p a',
    'sort ls | cat',
    'which ls',
  ];
  for (const path of leadingTo(project.dir)) {
    const { policy } = policyOf(project, path, {});
    const guards = createCallGuards(() => ({ PATH: path }), policy);
    for (const command of lines) {
      const decision = decide(factsOf('Bash', { command }, cwd), policy(cwd, 'acceptEdits'), diskFs);
      expect([command, decision.verdict]).toEqual([command, 'allow']);
      const request = { callId: command, tool: 'Bash', title: command, input: { command }, cwd, isReadOnly: true };
      guards.record({ request, input: { command }, verdict: 'allow', by: 'decision', decision });
      const env = shellEnvironment({ PATH: path }, guards.shellVariables(command), 'x');
      spawnSync('/bin/bash', ['--noprofile', '--norc', '-c', command], { cwd, env });
    }
    expect([path, existsSync(`${cwd}/planted`)]).toEqual([path, false]);
  }
});

test('keys and logins of ours are not read unasked, whatever is allowed as a whole', async () => {
  await using project = await createTempProject();
  const policy = policyOf(project, '/usr/bin', {}).policy(project.dir);
  const read = (name: string) =>
    decide(factsOf('Read', { file_path: `${project.ouroHome}/${name}` }, project.dir), policy, diskFs).verdict;
  expect(['keys.json', 'mcp-logins.json', 'keybindings.json'].map(read)).toEqual(['ask', 'ask', 'allow']);
});
