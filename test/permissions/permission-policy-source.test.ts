import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { chmod, mkdir, symlink, writeFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { readEnvironment } from '../../src/app/environment.ts';
import type { Settings } from '../../src/contracts/settings.ts';
import { decide } from '../../src/permissions/decide.ts';
import { diskFs } from '../../src/permissions/permission-fs.ts';
import { createPermissionPolicySource } from '../../src/permissions/permission-policy-source.ts';
import { buildShellEnvironment } from '../../src/tools/bash/start-command.ts';
import { createCallGuards } from '../../src/tools/call-guards.ts';
import { getToolFacts } from '../../src/tools/tool-traits.ts';
import { someOf } from '../support/runs.ts';
import { createTempProject, type TempProject } from '../support/temp-project.ts';

/** What is said to a command in the folder `sub`, with this PATH of the user and of the settings. */
function verdictOf(project: TempProject, command: string, path: string, settings: Settings = {}) {
  const cwd = `${project.dir}/sub`;
  return decide(getToolFacts('Bash', { command }, cwd), policyOf(project, path, settings).getPolicy(cwd), diskFs)
    .verdict;
}

function policyOf({ dir, home, ouroHome }: TempProject, path: string, settings: Settings) {
  return createPermissionPolicySource({
    options: { addDirs: [], allowedTools: ['Read'] },
    environment: readEnvironment({ HOME: home, OURO_HOME: ouroHome, PATH: path }),
    cwd: dir,
    trusted: true,
    getLoadedSettings: () => ({
      layers:
        settings.permissions === undefined ? [] : [{ source: 'user', file: 'x', settings, lineOf: () => undefined }],
      merged: settings,
      problems: [],
    }),
    getLive: () => ({ mode: 'default', grants: [], directories: [] }),
    canBypass: false,
  });
}

/** However PATH leads to the folder `sub` of the workspace, besides a folder elsewhere. */
const leadingTo = (dir: string, elsewhere = '/usr/bin') => [
  `.:${elsewhere}`,
  `:${elsewhere}`,
  `${elsewhere}:`,
  `${dir}/sub:${elsewhere}`,
  `${dir}/link:${elsewhere}`,
];

test('a program that PATH finds only in the workspace asks, and so does one of several', async () => {
  const script = '#!/bin/sh\n';
  await using project = await createTempProject({ 'sub/ls': script, 'sub/grep': script, 'sub/rg': script });
  await symlink('sub', `${project.dir}/link`);
  const elsewhere = `${project.home}/bin`;
  await mkdir(elsewhere);
  for (const name of ['ls', 'timeout', 'grep', 'egrep'])
    await writeFile(`${elsewhere}/${name}`, script, { mode: 0o755 });
  for (const path of leadingTo(project.dir, elsewhere)) {
    const verdicts = ['ls', 'timeout 5 ls', 'egrep x a', 'rg x'].map((line) => verdictOf(project, line, path));
    expect([path, ...verdicts]).toEqual([path, 'allow', 'allow', 'allow', 'ask']);
    for (const line of ['ls', 'timeout 5 ls', 'egrep x a']) {
      const both = verdictOf(project, `${line} && make`, path, { permissions: { allow: ['Bash(make)'] } });
      expect([path, line, both]).toEqual([path, line, 'ask']);
    }
  }
});

test('commands that run unasked run no program of the workspace', async () => {
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
    'head -3 ls | cat',
    'cat ls',
  ];
  for (const path of someOf(leadingTo(project.dir))) {
    const { getPolicy } = policyOf(project, path, {});
    const guards = createCallGuards(() => ({ all: { PATH: path }, own: { PATH: path } }), getPolicy, diskFs);
    for (const command of lines) {
      const decision = decide(getToolFacts('Bash', { command }, cwd), getPolicy(cwd, 'acceptEdits'), diskFs);
      expect([command, decision.verdict]).toEqual([command, 'allow']);
      const request = { callId: command, tool: 'Bash', title: command, input: { command }, cwd, isReadOnly: true };
      guards.record({ request, input: { command }, verdict: 'allow', by: 'decision', decision });
      const env = buildShellEnvironment({ PATH: path }, guards.takeShellVariables(command), 'x');
      spawnSync('/bin/bash', ['--noprofile', '--norc', '-c', command], { cwd, env });
    }
    expect([path, existsSync(`${cwd}/planted`)]).toEqual([path, false]);
  }
});

test('keys and logins of ouro are not read unasked, whatever is allowed', async () => {
  await using project = await createTempProject();
  const policy = policyOf(project, '/usr/bin', {}).getPolicy(project.dir);
  const read = (name: string) =>
    decide(getToolFacts('Read', { file_path: `${project.ouroHome}/${name}` }, project.dir), policy, diskFs).verdict;
  expect(['keys.json', 'mcp-logins.json', 'keybindings.json'].map(read)).toEqual(['ask', 'ask', 'allow']);
});
