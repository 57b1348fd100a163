import { chmod, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { runShellCommand } from '../../../src/lib/processes/find-shell.ts';
import { listProgramFiles } from '../../../src/lib/programs/program-files.ts';
import { startOutsideWorkspace } from '../../../src/lib/programs/start-outside-workspace.ts';
import { createTempProject, type TempProject } from '../../support/temp-project.ts';

async function createProject(): Promise<TempProject> {
  const project = await createTempProject({
    'a.sh': 'echo a\n',
    'data.json': '{}',
    'notes.md': 'x',
    'log.txt': 'x',
    'sub/b.sh': 'echo b\n',
    'server/index.js': '',
    'lib.py': '',
    Makefile: '',
  });
  await chmod(await project.write('node_modules/.bin/tool', '#!/usr/bin/env node\n'), 0o755);
  await symlink('/bin/sh', join(project.dir, 'shell'));
  return project;
}

function list(project: TempProject, command: string | readonly string[]): readonly string[] {
  const start = typeof command === 'string' ? { line: command } : { argv: command };
  const variables = { PATH: '/usr/bin:/bin', HOME: project.home };
  const files = listProgramFiles({ command: start, cwd: project.dir, variables }, (path) =>
    path.startsWith(`${project.dir}/`),
  );
  return files.map(({ path }) => path.slice(project.dir.length + 1));
}

test('a start names its script, wherever the line has it', async () => {
  await using project = await createProject();
  const lines = [
    'sh a.sh',
    'time sh -x ./a.sh',
    'test -f x || . a.sh',
    'cat a.sh | sh',
    '$(cat a.sh)',
    'env X=1 sh a.sh',
  ];
  for (const line of [
    ...lines,
    `bash -c 'sh "a.sh"'`,
    'sh <a.sh',
    'find . -exec sh a.sh \\;',
    '/bin/sh\t$PWD/../x;sh a.sh',
  ])
    expect([line, list(project, line)]).toEqual([line, ['a.sh']]);
  expect(list(project, 'cd sub; sh b.sh')).toEqual(['sub/b.sh']);
  expect(list(project, 'node server')).toEqual(['server/index.js']);
  expect(list(project, ['python3', '-m', 'lib'])).toEqual(['lib.py']);
  expect(list(project, ['npx', 'tool'])).toEqual(['node_modules/.bin/tool']);
  expect(list(project, 'make check')).toEqual(['Makefile']);
  expect(list(project, './shell -c true')).toEqual(['shell']);
});

test('a path that a line puts together, a package and a module are named by the files they may be', async () => {
  await using project = await createProject();
  const files = ['hooks/a.sh', 'pkg/__init__.py', 'pkg/c.py', 'Mod.pm', 'main.cjs', 'deep/x/a.sh', '.npmrc'];
  for (const file of files) await project.write(file, 'x');
  await project.write('tool/package.json', '{ "main": "start" }');
  await project.write('tool/start.mjs', '');
  await chmod(join(project.dir, 'hooks/a.sh'), 0o755);
  for (const line of [
    'n=a; sh hooks/$n.sh',
    'd=hooks; sh ./$d/a.sh',
    'read n; sh hooks/$n',
    'sh hooks/$(echo a).sh',
    'sh "$(dirname hooks/x)/a.sh"',
    'PATH=$PWD/hooks:$PATH a.sh',
    'export PATH=./hooks:$PATH; a.sh',
    'run-parts --regex=. hooks',
    'HOME=$PWD; sh ~/hooks/a.sh',
    'HOME=hooks sh -c "sh ~/a.sh"',
  ])
    expect([line, list(project, line).filter((file) => file.startsWith('hooks'))]).toEqual([line, ['hooks/a.sh']]);
  expect(list(project, 'sh deep/?/*.sh')).toEqual(['deep/x/a.sh']);
  expect(list(project, 'python3 -m pkg.c')).toEqual(['pkg/__init__.py', 'pkg/c.py']);
  expect(list(project, 'perl -MMod -e 1')).toEqual(['Mod.pm']);
  expect(list(project, 'node main')).toEqual(['main.cjs']);
  expect(list(project, 'node tool')).toEqual(['tool/package.json', 'tool/start.mjs']);
  expect(list(project, 'npm run -s x')).toEqual(['.npmrc']);
  expect(list(project, 'file=$(jq -r .path); sh -c "$file"')).toEqual([]);
});

test('what a line writes, and what programs only read, is data', async () => {
  await using project = await createProject();
  const lines = ['cat >> a.sh', 'jq .x data.json', 'cat notes.md', 'grep -q x data.json && echo found > data.json'];
  for (const line of [
    ...lines,
    'sort log.txt >log.txt',
    'node -e 1 log.txt',
    'if [ -e log.txt ]; then cat log.txt; fi; [ -e data.json ] || { touch data.json; exit 2; }',
    'sh -c "echo x" >a.sh',
    'sh -c "echo x" >> "./a.sh"',
  ])
    expect([line, list(project, line)]).toEqual([line, []]);
});

test('a command that hands out keys starts no file of the working directory', async () => {
  await using project = await createProject();
  const run = async (line: string) => {
    const options = { cwd: project.dir, timeoutMs: 60_000, check: startOutsideWorkspace, use: 'reads' } as const;
    const { stdout, problem } = await runShellCommand('sh', line, { ...options, env: { PATH: '/usr/bin:/bin' } });
    return problem ?? stdout.toString('utf8');
  };
  expect(await run('echo key')).toBe('key\n');
  expect(await run('sh a.sh')).toContain('a.sh is not started');
});
