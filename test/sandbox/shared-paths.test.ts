import { mkdir, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { listSharedPaths } from '../../src/sandbox/shared-paths.ts';
import { createTempProject } from '../support/temp-project.ts';

test('a package of a monorepo shares the configuration, packages and workspaces above it, and no secrets', async () => {
  await using project = await createTempProject({
    '.prettierrc': '{}',
    '.env': 'KEY=1',
    'packages/.eslintrc': '{}',
    'packages/config/index.js': '',
    'packages/app/a.js': '',
    'node_modules/x/index.js': '',
    '../elsewhere/index.js': '',
  });
  await project.initGit();
  await mkdir(join(project.dir, 'packages/app/node_modules/@own'), { recursive: true });
  await symlink('../../../config', join(project.dir, 'packages/app/node_modules/@own/config'));
  await symlink('../../../../..', join(project.dir, 'packages/app/node_modules/@own/top'));
  await symlink(join(project.dir, '.git'), join(project.dir, 'packages/app/node_modules/git'));
  await symlink(join(project.dir, '../elsewhere'), join(project.dir, 'packages/app/node_modules/elsewhere'));
  const app = join(project.dir, 'packages/app');
  const names = (cwd: string) =>
    listSharedPaths(cwd, project.home)
      .map((path) => path.slice(project.dir.length + 1))
      .toSorted();
  expect(names(app)).toEqual([
    '.prettierrc',
    'node_modules',
    'packages/.eslintrc',
    'packages/config',
    'packages/node_modules',
  ]);
  expect(names(project.dir)).toEqual([]);
  // A home folder under version control is no monorepo.
  expect(listSharedPaths(app, project.dir)).toEqual([]);
});
