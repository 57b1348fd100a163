import { exec } from 'node:child_process';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { readHeadBranch } from '../../src/git/git-repository.ts';
import { createTempProject } from '../support/temp-project.ts';

test('the branch is read from a repository, a worktree, a detached HEAD and a plain folder', async () => {
  await using project = await createTempProject({ 'a.txt': 'a' });
  expect(await readHeadBranch(project.dir)).toBeUndefined();
  await project.initGit();
  const tree = join(project.home, 'tree');
  await project.git('worktree', 'add', '-q', '-b', 'topic/one', tree);
  expect([await readHeadBranch(project.dir), await readHeadBranch(tree)]).toEqual(['main', 'topic/one']);
  await project.git('checkout', '-q', '--detach');
  expect(await readHeadBranch(project.dir)).toBeUndefined();
});

test.each(['mkfifo .git/HEAD', 'ln -s /dev/zero .git/HEAD', 'rmdir .git; mkfifo .git'])(
  'a repository that could be read for ever has no branch: %s',
  async (command) => {
    await using project = await createTempProject();
    await mkdir(join(project.dir, '.git'));
    await promisify(exec)(command, { cwd: project.dir });
    expect(await readHeadBranch(project.dir)).toBeUndefined();
  },
);
