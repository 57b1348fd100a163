import { spawnSync } from 'node:child_process';
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { readEnvironment } from '../../src/app/environment.ts';
import { readSettings } from '../../src/app/read-settings.ts';
import { createTempProject, type TempProject } from '../support/temp-project.ts';

const FILE = '.claude/settings.local.json';

async function themeIn(project: TempProject, PATH: string) {
  const environment = readEnvironment({ HOME: project.home, OURO_HOME: project.ouroHome, PATH });
  const { merged } = await readSettings({ cwd: project.dir }, environment, true);
  return merged.theme;
}

function git(project: TempProject, ...args: readonly string[]): void {
  const env = { PATH: '/usr/bin:/bin', HOME: project.home };
  expect(spawnSync('git', args, { cwd: project.dir, env }).status).toBe(0);
}

test('local settings apply unless they are tracked by git, and not where that is unknown', async () => {
  await using project = await createTempProject({ [FILE]: '{ "theme": "dark" }', 'a.txt': 'a' });
  expect(await themeIn(project, '/usr/bin:/bin')).toBe('dark');
  await rm(join(project.dir, '.git'), { recursive: true, force: true });
  git(project, 'init', '-q');
  git(project, 'add', 'a.txt');
  expect(await themeIn(project, '/nowhere')).toBe('dark');
  git(project, 'add', '-f', FILE);
  for (const path of ['/usr/bin:/bin', '/nowhere'])
    expect([path, await themeIn(project, path)]).toEqual([path, undefined]);
  git(project, 'rm', '-q', '--cached', FILE);
  git(project, 'update-index', '--index-version', '4');
  expect([await themeIn(project, '/usr/bin:/bin'), await themeIn(project, '/nowhere')]).toEqual(['dark', undefined]);
  await writeFile(join(project.dir, '.git/index'), 'broken');
  expect(await themeIn(project, '/usr/bin:/bin')).toBe(undefined);
});
