import { chmod } from 'node:fs/promises';
import { dirname } from 'node:path';
import { expect, test } from 'vitest';
import { gitSnapshot } from '../../src/git/snapshot.ts';
import { createTempProject } from '../support/temp-project.ts';

test('no git is started outside of a repository, and from the moment there is one it is asked', async () => {
  await using project = await createTempProject({ 'bin/git': '#!/bin/sh\necho "## started"\n' });
  const git = `${project.dir}/bin/git`;
  await chmod(git, 0o755);
  const look = () => gitSnapshot(project.dir, { PATH: dirname(git) }, () => true);
  expect(await look()).toBeUndefined();
  await project.write('.git/HEAD', 'ref: refs/heads/main');
  expect(await look()).toMatchObject({ branch: 'started' });
});
