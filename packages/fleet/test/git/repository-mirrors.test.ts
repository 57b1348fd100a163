import { existsSync } from 'node:fs';
import { mkdir, rm, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { acquireLock } from '@ouro-cli/ouro/commands';
import { expect, test } from 'vitest';
import { bareEnvironment } from '../../../../test/support/environment.ts';
import { longTest } from '../../../../test/support/long-test.ts';
import type { TempProject } from '../../../../test/support/temp-project.ts';
import { createFleetGit } from '../../src/git/fleet-git.ts';
import { openRepositoryMirrors, type RepositoryMirrors } from '../../src/git/repository-mirrors.ts';
import { addRepo, projectWithRepos } from '../support/fleet.ts';

const DAY_MS = 86_400_000;
const NO_LIMITS = { maxAgeMs: 365 * DAY_MS, maxBytes: 1e12 };

test('mirrors that were not used for a time are deleted, but none that has clones or is in use', async () => {
  await using project = await projectWithRepos(['old', 'cloned', 'locked', 'fresh']);
  const { mirrors, mirror } = await openTestMirrors(project);
  const days = { old: 31, cloned: 31, locked: 31, fresh: 29 };
  for (const [name, age] of Object.entries(days)) await mirror(name, age);
  const clone = join(project.dir, 'work', 'b', 'k');
  const checkout = { ...(await checkoutOf(project, 'cloned')) };
  await mirrors.checkOut(checkout, clone);
  await makeOld(mirrors.getPath(checkout.url), 31);
  const lock = await acquireLock(`${mirrors.getPath(join(project.dir, 'repos', 'locked'))}.lock`);
  const left = () => Object.keys(days).filter((name) => existsSync(mirrors.getPath(join(project.dir, 'repos', name))));
  await mirrors.prune({ ...NO_LIMITS, maxAgeMs: 30 * DAY_MS });
  expect(left()).toEqual(['cloned', 'locked', 'fresh']);
  if (lock.ok) await lock.release();
  await rm(clone, { recursive: true });
  await mirrors.prune({ ...NO_LIMITS, maxAgeMs: 30 * DAY_MS });
  expect(left()).toEqual(['fresh']);
});

longTest('beyond the total size the mirrors go that were used longest ago, but none of the last hour', async () => {
  await using project = await projectWithRepos([]);
  const { mirrors, mirror } = await openTestMirrors(project);
  const names = ['a', 'b', 'c', 'd'];
  for (const [at, name] of names.entries()) {
    await addRepo(project, name, { 'a.txt': name });
    const path = await mirror(name, 4 - at);
    await writeFile(join(path, 'objects', 'pack', 'large'), Buffer.alloc(1_000_000));
    await makeOld(path, 4 - at);
  }
  const left = () => names.filter((name) => existsSync(mirrors.getPath(join(project.dir, 'repos', name))));
  await mirrors.prune({ ...NO_LIMITS, maxBytes: 2_500_000 });
  expect(left()).toEqual(['c', 'd']);
  await mirrors.ensureCommit(await checkoutOf(project, 'c'));
  await mirrors.prune({ ...NO_LIMITS, maxBytes: 0 });
  expect(left()).toEqual(['c']);
});

async function openTestMirrors(project: TempProject) {
  const git = createFleetGit({ home: project.home, variables: bareEnvironment(project) });
  const mirrors: RepositoryMirrors = openRepositoryMirrors(join(project.dir, 'work'), git);
  await mkdir(join(project.dir, 'work'), { recursive: true });
  return {
    mirrors,
    /** Creates a mirror that was used so many days ago. */
    async mirror(name: string, days: number): Promise<string> {
      const path = await mirrors.ensureCommit(await checkoutOf(project, name));
      await makeOld(path, days);
      return path;
    },
  };
}

async function checkoutOf(project: TempProject, name: string) {
  const url = join(project.dir, 'repos', name);
  return { url, commit: (await project.git('-C', url, 'rev-parse', 'HEAD')).trim(), folder: '' };
}

async function makeOld(mirror: string, days: number): Promise<void> {
  const time = new Date(Date.now() - days * DAY_MS);
  await utimes(join(mirror, 'config'), time, time);
}
