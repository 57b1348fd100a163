import { join } from 'node:path';
import { expect, test } from 'vitest';
import { readHeadBranch } from '../../src/git/repository.ts';
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
