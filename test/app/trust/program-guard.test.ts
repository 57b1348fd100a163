import { chmod, mkdir, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { readEnvironment } from '../../../src/app/environment.ts';
import { loadFolderTrust } from '../../../src/app/trust/folder-trust.ts';
import { listTrustEffects, trustFolder } from '../../../src/app/trust/manage-folder-trust.ts';
import { createProgramGuard } from '../../../src/app/trust/program-guard.ts';
import { createHookProcessRunners } from '../../../src/hooks/hook-runners.ts';
import { getErrorMessage } from '../../../src/lib/errors.ts';
import { bareEnvironment } from '../../support/environment.ts';
import { createTestReadOnlySandbox } from '../../support/read-only-sandbox.ts';
import { createTempProject, type TempProject } from '../../support/temp-project.ts';

const environmentOf = (project: TempProject) => readEnvironment(bareEnvironment(project));

/** Opens the guard of a session in a project, which runs lines as a hook does. */
async function openGuard(project: TempProject, override?: 'this-run') {
  const environment = environmentOf(project);
  const { isTrusted, programs } = await loadFolderTrust(project.dir, environment, override);
  const { check } = createProgramGuard({
    cwd: project.dir,
    trusted: isTrusted,
    programs,
    environment,
    getRoots: () => [project.dir],
  });
  const env = {
    ...environment.variables,
    CLAUDE_PROJECT_DIR: project.dir,
    PATH: `${project.dir}/tools:/usr/local/bin:/usr/bin:/bin`,
  };
  async function runHook(line: string, more: Readonly<Record<string, string>>, source: 'project' | 'user') {
    const { runCommand } = createHookProcessRunners({
      cwd: project.dir,
      getVariables: () => ({ ...env, ...more }),
      getTimeoutMs: () => undefined,
      checkProgram: check,
    });
    const { signal } = new AbortController();
    return runCommand(line, '', 60_000, signal, {}, { source }).then(
      ({ stdout }) => stdout,
      (thrown: unknown) => getErrorMessage(thrown),
    );
  }
  return {
    programs,
    run: (line: string, more = {}) => runHook(line, more, 'project'),
    runOwn: (line: string, more = {}) => runHook(line, more, 'user'),
  };
}

const hook = (command: string) => ({ hooks: { Stop: [{ hooks: [{ type: 'command', command }] }] } });

async function writeProject(project: TempProject, command: string): Promise<void> {
  await project.write('.claude/settings.json', JSON.stringify(hook(command)));
}

const REFUSED = /not started, since .+ is not approved as it is now.+"ouro trust"/;

test('a script that an approved hook names runs as approved, and not once it was rewritten, until it is approved again', async () => {
  await using project = await createTempProject({ 'hook.sh': 'echo good\n' });
  await writeProject(project, 'sh ./hook.sh');
  const shown = await listTrustEffects(project.dir, environmentOf(project));
  expect(shown.join('\n')).toMatch(/runs hook\.sh as it is now \(sha256 [0-9a-f]{16}…\)/);
  await trustFolder(project.dir, 'folder', environmentOf(project));
  const { run, programs } = await openGuard(project);
  expect(await run('sh ./hook.sh')).toBe('good\n');
  expect(programs.listFrozen()).toEqual([join(project.dir, 'hook.sh')]);
  await project.write('hook.sh', 'echo evil\n');
  expect(await run('sh ./hook.sh')).toMatch(REFUSED);
  expect((await listTrustEffects(project.dir, environmentOf(project)))[0]).toContain('has changed since');
  await trustFolder(project.dir, 'folder', environmentOf(project));
  expect(await run('sh ./hook.sh')).toBe('evil\n');
});

test('a program of the project gets no variable with a secret, unless its line names it', async () => {
  await using project = await createTempProject({ 'hook.sh': 'env\n' });
  await writeProject(project, 'sh ./hook.sh');
  await trustFolder(project.dir, 'folder', environmentOf(project));
  const secrets = {
    GITHUB_TOKEN: 'x',
    AWS_SECRET_ACCESS_KEY: 'x',
    npm_config__auth: 'x',
    DB_URL: 'postgres://u:p@localhost/x',
    SOME_VALUE: 'ghp_0123456789abcdef',
    'A-TOKEN': 'x',
  };
  const given = { ...secrets, TITLE: 'a', NODE_ENV: 'test', SSH_AUTH_SOCK: '/s' };
  const { run, runOwn } = await openGuard(project);
  const printed = async (line: string): Promise<readonly string[]> =>
    (await run(line, given)).match(/^(?:\w|-)+(?==)/gm) ?? [];
  const listed = await printed('sh ./hook.sh');
  expect(Object.keys(given).filter((name) => listed.includes(name))).toEqual(['TITLE', 'NODE_ENV', 'SSH_AUTH_SOCK']);
  expect(await printed('GH="$GITHUB_TOKEN" sh ./hook.sh')).toContain('GITHUB_TOKEN');
  // Programs of the user's own settings, on PATH, get what the user has.
  expect(await runOwn('env', given)).toContain('GITHUB_TOKEN=x');
  expect(await run('env', given)).not.toContain('GITHUB_TOKEN=x');
});

test('a program that only reads does not run on the host because the sandbox could not be tested', async () => {
  await using project = await createTempProject({ 'hook.sh': 'echo ran\n' });
  const bwrap = await project.write('../home/bin/bwrap', '#!/bin/sh\nkill -9 $$\n');
  await chmod(bwrap, 0o755);
  const environment = environmentOf(project);
  const { sandbox } = createTestReadOnlySandbox(project, {
    env: { PATH: `${join(project.home, 'bin')}:/usr/bin:/bin` },
  });
  const { programs } = await loadFolderTrust(project.dir, environment, 'this-run');
  const { check } = createProgramGuard({
    ...{ cwd: project.dir, trusted: true, programs, environment, readOnlySandbox: sandbox },
    getRoots: () => [project.dir],
  });
  const start = { command: { line: 'sh hook.sh' }, cwd: project.dir, variables: environment.variables };
  expect(await check(start, 'reads')).toEqual({
    ok: false,
    problem: expect.stringContaining('could not find out whether there is one (its test was ended by SIGKILL)'),
  });
});

type Variant = readonly [name: string, line: string, swap: (project: TempProject) => Promise<unknown>];

/** Ways to have a hook run something else than what was approved. */
const SWAPS: readonly Variant[] = [
  [
    'the script is replaced by a rename',
    'bash hook.sh',
    async (project) => {
      await project.write('other', 'echo evil\n');
      await rename(join(project.dir, 'other'), join(project.dir, 'hook.sh'));
    },
  ],
  [
    'the script becomes a link',
    './run',
    async (project) => {
      await chmod(await project.write('other', '#!/bin/sh\necho evil\n'), 0o755);
      await rm(join(project.dir, 'run'));
      await symlink('other', join(project.dir, 'run'));
    },
  ],
  [
    'the folder of the script is replaced',
    'sub/run',
    async (project) => {
      await rename(join(project.dir, 'sub'), join(project.dir, 'old'));
      await chmod(await project.write('sub/run', '#!/bin/sh\necho evil\n'), 0o755);
    },
  ],
  ['the target of a link changes', 'sh ./link', (project) => project.write('hook.sh', 'echo evil\n')],
  [
    'the interpreter of the first line changes',
    './shebang',
    (project) => project.write('tools/interpreter', '#!/bin/sh\necho evil\n'),
  ],
  [
    'a program on a PATH inside the project changes',
    'tool',
    (project) => project.write('tools/tool', '#!/bin/sh\necho evil\n'),
  ],
  [
    'a program on PATH is shadowed in the project',
    'uname',
    async (project) => chmod(await project.write('tools/uname', '#!/bin/sh\necho evil\n'), 0o755),
  ],
  [
    'the line changes its folder first',
    'cd sub && sh ./inner.sh',
    (project) => project.write('sub/inner.sh', 'echo evil\n'),
  ],
  [
    'the script is in a nested line',
    `bash -c "bash -c 'sh ./hook.sh'"`,
    (project) => project.write('hook.sh', 'echo evil\n'),
  ],
  [
    'the path is behind a variable',
    'sh "$CLAUDE_PROJECT_DIR"/hook.sh',
    (project) => project.write('hook.sh', 'echo evil\n'),
  ],
  ['the script is sourced', '. ./hook.sh', (project) => project.write('hook.sh', 'echo evil\n')],
  ['the script is standard input', 'bash < hook.sh', (project) => project.write('hook.sh', 'echo evil\n')],
  ['the name is quoted in pieces', `sh ./ho"ok".s'h'`, (project) => project.write('hook.sh', 'echo evil\n')],
  [
    'the path is an option value',
    'bash --rcfile=./hook.sh -ic true',
    (project) => project.write('hook.sh', 'echo evil\n'),
  ],
  [
    'a pattern names the script',
    'for f in sub/*.sh; do sh $f; done',
    (project) => project.write('sub/another.sh', 'echo evil\n'),
  ],
  [
    'a file appears that the line prefers',
    'test -f new.sh && sh new.sh || sh hook.sh',
    (project) => project.write('new.sh', 'echo evil\n'),
  ],
  ['the file is executable data', './notes.txt', (project) => project.write('notes.txt', '#!/bin/sh\necho evil\n')],
  [
    'a package script changes',
    'npm run x',
    (project) => project.write('package.json', JSON.stringify({ scripts: { x: 'echo evil' } })),
  ],
  ['the script has the ending of a text', 'sh -x ./notes.md', (project) => project.write('notes.md', 'echo evil\n')],
  ['a text goes through a pipe', 'cat notes.md | sh', (project) => project.write('notes.md', 'echo evil\n')],
  ['a text is standard input', 'bash < notes.md', (project) => project.write('notes.md', 'echo evil\n')],
  ['a module is given by name', 'python3 -m module', (project) => project.write('module.py', 'print("evil")\n')],
  [
    'a variable is cut',
    'sh "\x24{CLAUDE_PROJECT_DIR%/}/hook.sh"',
    (project) => project.write('hook.sh', 'echo evil\n'),
  ],
  ['a variable has a default', 'sh "\x24{NOTHING:-hook.sh}"', (project) => project.write('hook.sh', 'echo evil\n')],
  ['the current folder is a tilde', 'sh ~+/hook.sh', (project) => project.write('hook.sh', 'echo evil\n')],
  ['xargs inserts the name', 'echo hook | xargs -I{} sh ./{}.sh', (project) => project.write('hook.sh', 'echo evil\n')],
  [
    'the line changes its folder twice',
    'cd sub; cd deep; sh last.sh',
    (project) => project.write('sub/deep/last.sh', 'echo evil\n'),
  ],
  [
    'an option in a variable loads a module',
    'NODE_OPTIONS=--require=./required.cjs node -p 1',
    (project) => project.write('required.cjs', 'console.log("evil")\n'),
  ],
];

async function createVariantProject(): Promise<TempProject> {
  const project = await createTempProject({
    'hook.sh': 'echo good\n',
    'sub/inner.sh': 'echo good\n',
    'sub/deep/last.sh': 'echo good\n',
    'required.cjs': 'console.log("good")\n',
    'notes.md': 'echo good\n',
    'module.py': 'print("good")\n',
    'package.json': JSON.stringify({ scripts: { x: 'echo good' } }),
  });
  const good = '#!/bin/sh\necho good\n';
  await mkdir(join(project.dir, 'tools'));
  for (const name of ['run', 'sub/run', 'tools/interpreter', 'tools/tool', 'notes.txt'])
    await chmod(await project.write(name, good), 0o755);
  await chmod(await project.write('shebang', '#!/usr/bin/env interpreter\n'), 0o755);
  await symlink('hook.sh', join(project.dir, 'link'));
  return project;
}

test.each(SWAPS)('after the approval, %s: the hook is not started', async (_, line, swap) => {
  await using project = await createVariantProject();
  await writeProject(project, line);
  await trustFolder(project.dir, 'folder', environmentOf(project));
  await swap(project);
  const { run } = await openGuard(project);
  expect(await run(line)).toMatch(REFUSED);
});

test.each(SWAPS)('in a run with --trust, %s: the hook is not started', async (_, line, swap) => {
  await using project = await createVariantProject();
  await writeProject(project, line);
  const { run } = await openGuard(project, 'this-run');
  await run(line);
  await swap(project);
  expect(await run(line)).toMatch(REFUSED);
});

test('in a folder that is not trusted no file of it starts, whoever configured it', async () => {
  await using project = await createTempProject({ 'hook.sh': 'echo good\n' });
  const { run } = await openGuard(project);
  expect(await run('sh hook.sh')).toContain('this folder is not trusted');
  expect(await run('echo fine')).toBe('fine\n');
});

test('a file that others may replace counts like one of the project', async () => {
  await using project = await createTempProject();
  const shared = join(project.dir, '../shared');
  await mkdir(shared);
  await chmod(shared, 0o777);
  await writeFile(join(shared, 'x.sh'), 'echo shared\n');
  const { run } = await openGuard(project);
  expect(await run(`sh '${shared}/x.sh'`)).toContain('could be changed by others');
});

test('folders that were trusted before programs were approved keep their hooks, as they are at the first start', async () => {
  await using project = await createTempProject({ 'hook.sh': 'echo good\n' });
  await writeProject(project, 'sh ./hook.sh');
  await trustFolder(project.dir, 'folder', environmentOf(project));
  const file = join(project.home, '.ouro/trust.json');
  const stored = JSON.parse(await project.read('../home/.ouro/trust.json'));
  delete stored.folders[project.dir].approved.programs;
  await writeFile(file, JSON.stringify(stored));
  const first = await openGuard(project);
  expect(await first.run('sh ./hook.sh')).toBe('good\n');
  await project.write('hook.sh', 'echo evil\n');
  expect(await first.run('sh ./hook.sh')).toMatch(REFUSED);
  const second = await openGuard(project);
  expect(await second.run('sh ./hook.sh')).toMatch(REFUSED);
});

test('a script that was refused is part of the next trust question', async () => {
  await using project = await createTempProject();
  await trustFolder(project.dir, 'folder', environmentOf(project));
  await project.write('late.sh', 'echo late\n');
  const { run } = await openGuard(project);
  expect(await run('sh late.sh')).toMatch(REFUSED);
  expect((await listTrustEffects(project.dir, environmentOf(project))).join('\n')).toContain(
    'runs late.sh as it is now',
  );
  await trustFolder(project.dir, 'folder', environmentOf(project));
  expect(await run('sh late.sh')).toBe('late\n');
});
