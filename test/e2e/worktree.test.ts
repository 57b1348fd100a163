import { readFile, rm } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import { expect, test } from 'vitest';
import { readEnvironment } from '../../src/app/environment.ts';
import { enterWorktree } from '../../src/app/session/worktree.ts';
import { calls, says, toolUse } from '../support/api/reply.ts';
import { startApiServer } from '../support/api/server.ts';
import { bareEnvironment } from '../support/environment.ts';
import { longTest } from '../support/long-test.ts';
import { runHere } from '../support/run-here.ts';
import { createTempProject } from '../support/temp-project.ts';

test('-w works on its own branch, keeps changes, and removes an unchanged worktree', async () => {
  await using project = await createTempProject({ 'notes.txt': 'one\n' });
  await project.initGit();
  await using api = await startApiServer({
    turns: ({ raw }) =>
      raw.includes('make it') && !raw.includes('toolu_1')
        ? calls(toolUse('Write', { file_path: 'made.txt', content: 'new\n' }, 'toolu_1'))
        : says('Done.'),
  });
  const untrusted = await runHere(project, ['-w', 'idea', '-p', 'make it'], api.url);
  expect(untrusted).toMatchObject({ code: 1, stderr: expect.stringContaining('need a trusted folder') });
  const once = await runHere(project, ['-w', 'once', '--trust', '-p', 'look'], api.url);
  expect(once).toMatchObject({ code: 0, stderr: expect.stringContaining('Worktree removed') });
  await runHere(project, ['trust']);
  const made = await runHere(project, ['-p', 'make it', '-w', 'idea', '--permission-mode', 'acceptEdits'], api.url);
  expect(made).toMatchObject({ code: 0, stdout: 'Done.\n', stderr: expect.stringContaining('on branch ouro/idea') });
  await expect(project.read('made.txt')).rejects.toThrow('ENOENT');
  expect(await project.git('worktree', 'list')).toContain('[ouro/idea]');
  expect(await project.git('status', '--porcelain')).toBe('');
  const idle = await runHere(project, ['-p', 'look', '-w'], api.url);
  expect(idle.stderr).toContain('Worktree removed: it had no changes.');
  expect((await project.git('worktree', 'list')).trim().split('\n')).toHaveLength(2);
});

longTest(
  'a worktree is recreated from its branch, never replaces another folder, and works from a new folder',
  async () => {
    await using project = await createTempProject({ 'notes.txt': 'one\n' });
    await project.initGit();
    await runHere(project, ['trust']);
    await using api = await startApiServer({ turns: () => says('Done.') });
    const beside = (name: string) => join(dirname(project.dir), 'project-worktrees', name);
    const run = (name: string, cwd = project.dir) => runHere(project, ['-p', 'look', '-w', name], api.url, { cwd });
    await project.git('worktree', 'add', '-q', beside('kept'), '-b', 'ouro/kept');
    await rm(beside('kept'), { recursive: true });
    expect(await run('kept')).toMatchObject({ code: 0, stderr: expect.stringContaining('on branch ouro/kept') });

    await project.write('../project-worktrees/other/mine.txt', 'mine');
    const foreign = await run('other');
    expect(foreign).toMatchObject({ code: 1, stderr: expect.stringContaining('not a worktree of this repository') });

    await project.write('fresh/notes.txt', 'new');
    await runHere(project, ['trust'], undefined, { cwd: join(project.dir, 'fresh') });
    expect(await run('idea', join(project.dir, 'fresh'))).toMatchObject({ code: 0, stdout: 'Done.\n' });
    // The hook at the end still has its folder.
    const hooks = { SessionEnd: [{ hooks: [{ type: 'command', command: `pwd > '${project.dir}/end.txt'` }] }] };
    await runHere(project, ['-p', 'look', '-w', 'idea', '--settings', JSON.stringify({ hooks })], api.url);
    expect(await project.read('end.txt')).toBe(`${beside('idea')}\n`);
    expect((await project.git('worktree', 'list')).trim().split('\n')).toHaveLength(1);
  },
);

longTest('a worktree is locked from the start: a second session is told, and nobody removes it', async () => {
  await using project = await createTempProject({ 'notes.txt': 'one\n' });
  await project.initGit();
  await runHere(project, ['trust']);
  await using api = await startApiServer({ turns: () => says('Done.') });
  const first = await enterWorktree(project.dir, 'idea', readEnvironment(bareEnvironment(project)));
  expect(first.message).not.toContain('Another');
  const second = await runHere(project, ['-p', 'look', '-w', 'idea'], api.url);
  expect(second.stderr).toContain(`Another ouro process (${process.pid}) works there too.`);
  expect(second.stderr).toMatch(/Worktree kept: another ouro process works in \/.+idea/);
  expect(await first.leave()).toEqual({ kind: 'gone' });
});

test('an invalid name and a folder without a repository are reported', async () => {
  await using project = await createTempProject({ 'notes.txt': 'one\n' });
  await runHere(project, ['trust']);
  const name = await runHere(project, ['-p', 'x', '-w', '../up'], 'http://127.0.0.1:9');
  const none = await runHere(project, ['-p', 'x', '-w', 'idea'], 'http://127.0.0.1:9');
  expect([name.code, none.code]).toEqual([1, 1]);
  expect(name.stderr).toContain('is not a valid worktree name');
  expect(none.stderr).toContain('not a git repository');
});

longTest('a worktree with ignored files or commits on no branch is kept', async () => {
  await using project = await createTempProject({ 'notes.txt': 'one\n', '.gitignore': 'out/\n' });
  await project.initGit();
  const environment = readEnvironment(bareEnvironment(project));
  const enter = (name: string) => enterWorktree(project.dir, name, environment, 'this-run');
  const ignoring = await enter('ignoring');
  await project.write(`../project-worktrees/ignoring/out/result.txt`, 'kept');
  expect(await ignoring.leave()).toEqual({ kind: 'kept', what: 'Ignored content (out/)' });
  const detached = await enter('detached');
  const git = (...args: readonly string[]) => project.git('-C', detached.cwd, ...args);
  await git('checkout', '-q', '--detach');
  await git('commit', '-q', '--allow-empty', '-m', 'found');
  await git('checkout', '-q', 'ouro/detached');
  expect(await detached.leave()).toEqual({ kind: 'kept', what: 'The work' });
  const untouched = await enter('untouched');
  expect(await untouched.leave()).toEqual({ kind: 'gone' });
});

longTest(
  'sessions of -w are listed in the repository, also when their worktree is gone, and show how to resume',
  async () => {
    await using project = await createTempProject({ 'notes.txt': 'one\n' });
    await project.initGit();
    await using api = await startApiServer({
      turns: ({ raw }) =>
        raw.includes('make it') && !raw.includes('toolu_1')
          ? calls(toolUse('Write', { file_path: 'made.txt', content: 'new\n' }, 'toolu_1'))
          : says('Done.'),
    });
    await runHere(project, ['trust']);
    const go = (...args: readonly string[]) => runHere(project, [...args, '--permission-mode', 'acceptEdits'], api.url);
    await go('-p', 'make it', '-w', 'idea');
    await go('-p', 'only look', '-w', 'glance');
    const listed = JSON.parse((await runHere(project, ['sessions', '--json'])).stdout);
    expect(listed.map(({ title }: never) => title).toSorted()).toEqual(['make it', 'only look']);
    const id = listed.find(({ title }: never) => title === 'make it').id;
    const resumed = await go('-p', 'go on', '-r', 'make');
    expect(resumed.stderr).toContain(`ouro -w idea -r ${id}`);
    expect(api.requests().at(-1)?.raw).toContain('make it');
    const there = await go('-p', 'once more', '-w', 'idea', '-r', id);
    expect(there.stderr).not.toContain('To continue there');
  },
);

test('a worktree with new files is kept, also where git is set to hide untracked files', async () => {
  await using project = await createTempProject({ 'notes.txt': 'one\n' });
  await project.initGit();
  await runHere(project, ['trust']);
  await project.write('../home/.gitconfig', '[status]\n  showUntrackedFiles = no\n');
  const worktree = await enterWorktree(project.dir, 'idea', readEnvironment(bareEnvironment(project)));
  await project.write(`${relative(project.dir, worktree.path)}/made.txt`, 'new\n');
  expect(await worktree.leave()).toEqual({ kind: 'kept', what: 'The work' });
  expect(await readFile(join(worktree.path, 'made.txt'), 'utf8')).toBe('new\n');
});
