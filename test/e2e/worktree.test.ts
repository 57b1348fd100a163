import { rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { readEnvironment } from '../../src/app/environment.ts';
import { enterWorktree } from '../../src/app/session/worktree.ts';
import { calls, says, toolUse } from '../support/api/reply.ts';
import { startApiServer } from '../support/api/server.ts';
import { bareEnvironment } from '../support/environment.ts';
import { longTest } from '../support/long-test.ts';
import { runHere } from '../support/run-here.ts';
import { createTempProject } from '../support/temp-project.ts';

test('-w works on a branch of its own, keeps what was made there and clears away what was not', async () => {
  await using project = await createTempProject({ 'notes.txt': 'one\n' });
  await project.initGit();
  await using api = await startApiServer({
    turns: ({ raw }) =>
      raw.includes('make it') && !raw.includes('toolu_1')
        ? calls(toolUse('Write', { file_path: 'made.txt', content: 'new\n' }, 'toolu_1'))
        : says('Done.'),
  });
  const untrusted = await runHere(project, ['-w', 'idea', '-p', 'make it'], api.url);
  expect(untrusted).toMatchObject({ code: 1, stderr: expect.stringContaining('needs a folder you trust') });
  const once = await runHere(project, ['-w', 'once', '--trust', '-p', 'look'], api.url);
  expect(once).toMatchObject({ code: 0, stderr: expect.stringContaining('the worktree is gone again') });
  await runHere(project, ['trust']);
  const made = await runHere(project, ['-p', 'make it', '-w', 'idea', '--permission-mode', 'acceptEdits'], api.url);
  expect(made).toMatchObject({ code: 0, stdout: 'Done.\n', stderr: expect.stringContaining('on branch ouro/idea') });
  await expect(project.read('made.txt')).rejects.toThrow('ENOENT');
  expect(await project.git('worktree', 'list')).toContain('[ouro/idea]');
  expect(await project.git('status', '--porcelain')).toBe('');
  const idle = await runHere(project, ['-p', 'look', '-w'], api.url);
  expect(idle.stderr).toContain('Nothing was changed, so the worktree is gone again.');
  expect((await project.git('worktree', 'list')).trim().split('\n')).toHaveLength(2);
});

longTest(
  'a worktree is made again from its branch, never in the place of something else, and works from a new folder',
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
    expect(foreign).toMatchObject({ code: 1, stderr: expect.stringContaining('no worktree of this repository') });

    await project.write('fresh/notes.txt', 'new');
    await runHere(project, ['trust'], undefined, { cwd: join(project.dir, 'fresh') });
    expect(await run('idea', join(project.dir, 'fresh'))).toMatchObject({ code: 0, stdout: 'Done.\n' });
    // The hook at the end still has its folder.
    const hooks = { SessionEnd: [{ hooks: [{ type: 'command', command: `pwd > ${project.dir}/end.txt` }] }] };
    await runHere(project, ['-p', 'look', '-w', 'idea', '--settings', JSON.stringify({ hooks })], api.url);
    expect(await project.read('end.txt')).toBe(`${beside('idea')}\n`);
    expect((await project.git('worktree', 'list')).trim().split('\n')).toHaveLength(1);
  },
);

longTest(
  'who is in a worktree is known from its start on: the next one is told, and nobody clears it away',
  async () => {
    await using project = await createTempProject({ 'notes.txt': 'one\n' });
    await project.initGit();
    await runHere(project, ['trust']);
    await using api = await startApiServer({ turns: () => says('Done.') });
    const first = await enterWorktree(project.dir, 'idea', readEnvironment(bareEnvironment(project)));
    expect(first.words).not.toContain('Another');
    const second = await runHere(project, ['-p', 'look', '-w', 'idea'], api.url);
    expect(second.stderr).toContain(`Another ouro (process ${process.pid}) works there, too.`);
    expect(second.stderr).toMatch(/Another ouro works in \S+idea, so it stays/);
    expect(await first.leave()).toEqual({ is: 'gone' });
  },
);

test('a name that is none, and a folder without a repository, are told', async () => {
  await using project = await createTempProject({ 'notes.txt': 'one\n' });
  await runHere(project, ['trust']);
  const name = await runHere(project, ['-p', 'x', '-w', '../up'], 'http://127.0.0.1:9');
  const none = await runHere(project, ['-p', 'x', '-w', 'idea'], 'http://127.0.0.1:9');
  expect([name.code, none.code]).toEqual([1, 1]);
  expect(name.stderr).toContain("cannot be a worktree's name");
  expect(none.stderr).toContain('not a git repository');
});

longTest('a worktree stays for files that git ignores, and for commits that no branch holds any more', async () => {
  await using project = await createTempProject({ 'notes.txt': 'one\n', '.gitignore': 'out/\n' });
  await project.initGit();
  const environment = readEnvironment(bareEnvironment(project));
  const enter = (name: string) => enterWorktree(project.dir, name, environment, 'this-run');
  const ignoring = await enter('ignoring');
  await project.write(`../project-worktrees/ignoring/out/result.txt`, 'kept');
  expect(await ignoring.leave()).toEqual({ is: 'kept', what: 'What git ignores (out/)' });
  const detached = await enter('detached');
  const git = (...args: readonly string[]) => project.git('-C', detached.cwd, ...args);
  await git('checkout', '-q', '--detach');
  await git('commit', '-q', '--allow-empty', '-m', 'found');
  await git('checkout', '-q', 'ouro/detached');
  expect(await detached.leave()).toEqual({ is: 'kept', what: 'The work' });
  const untouched = await enter('untouched');
  expect(await untouched.leave()).toEqual({ is: 'gone' });
});
