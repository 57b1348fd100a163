import { chmod } from 'node:fs/promises';
import { dirname } from 'node:path';
import { expect, test } from 'vitest';
import { readGitSnapshot } from '../../src/git/git-repository.ts';
import { createTempProject } from '../support/temp-project.ts';

test('git is not started outside of a repository, and used as soon as there is one', async () => {
  await using project = await createTempProject({ 'bin/git': '#!/bin/sh\necho "## started"\n' });
  const git = `${project.dir}/bin/git`;
  await chmod(git, 0o755);
  const look = () => readGitSnapshot(project.dir, { PATH: dirname(git) }, () => true);
  expect(await look()).toBeUndefined();
  await project.write('.git/HEAD', 'ref: refs/heads/main');
  expect(await look()).toMatchObject({ branch: 'started' });
});

test.each([
  ['rebase-merge/head-name', 'rebase'],
  ['MERGE_HEAD', 'merge'],
  ['CHERRY_PICK_HEAD', 'cherry-pick'],
  ['REVERT_HEAD', 'revert'],
  ['BISECT_LOG', 'bisect'],
])('an unfinished operation is recognized by %s', async (file, operation) => {
  const git = { 'bin/git': '#!/bin/sh\necho "## main"\n', '.git/HEAD': 'ref: refs/heads/main' };
  await using project = await createTempProject(git);
  await chmod(`${project.dir}/bin/git`, 0o755);
  const look = () => readGitSnapshot(project.dir, { PATH: `${project.dir}/bin` }, () => true);
  expect(await look()).not.toHaveProperty('operation');
  await project.write(`.git/${file}`, 'x');
  expect(await look()).toMatchObject({ branch: 'main', operation });
});
