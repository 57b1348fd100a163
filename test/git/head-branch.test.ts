import { join } from 'node:path';
import { expect, test } from 'vitest';
import { headBranch } from '../../src/git/head-branch.ts';
import { createTempProject } from '../support/temp-project.ts';

test('the branch is read from the repository, a worktree, a detached head and nothing at all', async () => {
  await using project = await createTempProject({ 'a.txt': 'a' });
  expect(await headBranch(project.dir)).toBeUndefined();
  await project.initGit();
  const tree = join(project.home, 'tree');
  await project.git('worktree', 'add', '-q', '-b', 'topic/one', tree);
  expect([await headBranch(project.dir), await headBranch(tree)]).toEqual(['main', 'topic/one']);
  await project.git('checkout', '-q', '--detach');
  expect(await headBranch(project.dir)).toBeUndefined();
});
