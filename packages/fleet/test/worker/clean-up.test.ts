import { existsSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { readEnvironment } from '@ouro-cli/ouro/commands';
import { getProjectDir } from '@ouro-cli/ouro/sessions';
import { expect, test } from 'vitest';
import { someOf } from '../../../../test/support/runs.ts';
import { createTempProject } from '../../../../test/support/temp-project.ts';
import { createFleetGit } from '../../src/git/fleet-git.ts';
import { openRepositoryMirrors } from '../../src/git/repository-mirrors.ts';
import type { TaskOfDeletedBatch } from '../../src/store/batch.ts';
import { openFleetStore } from '../../src/store/open-fleet-store.ts';
import { deletePendingBatchFiles, readInstallationId } from '../../src/worker/clean-up.ts';
import { stormBatch, stormTasks } from '../support/fleet-storm.ts';

test('an installation keeps its id, and another one has another', async () => {
  await using project = await createTempProject();
  const [one, again] = await Promise.all([1, 2].map(() => readInstallationId(join(project.dir, 'one'))));
  expect(one).toMatch(/^[0-9a-f-]{36}$/);
  expect(again).toBe(one);
  expect(await readInstallationId(join(project.dir, 'two'))).not.toBe(one);
});

test.each(
  someOf([
    { key: '../../victim', folder: '' },
    { key: 'k', folder: '../../../victim' },
    { key: 'k', folder: '/victim' },
  ]),
)('what the queue says of $key $folder leads to no folder of somebody else', async ({ key, folder }) => {
  await using project = await createTempProject();
  const environment = readEnvironment({ HOME: project.home, OURO_HOME: project.ouroHome });
  const fleetFolder = join(project.ouroHome, 'fleet');
  const workRoot = join(project.dir, 'work');
  const store = await openFleetStore({ kind: 'here', folder: fleetFolder });
  const [task] = stormTasks(1, 0);
  if (task === undefined) throw new Error('There is no task.');
  const place = { url: '/repos/one', commit: 'c'.repeat(40), folder };
  await store.submit(stormBatch(), [{ ...task, key, spec: { ...task.spec, place } }]);
  const victims = [join(project.dir, 'victim'), getProjectDir(project.ouroHome, join(workRoot, 'storm', key, folder))];
  for (const victim of victims) {
    await mkdir(victim, { recursive: true });
    await writeFile(join(victim, 'session.jsonl'), '');
  }
  const deps = { store, environment, workRoot, fleetFolder, machine: 'here', installation: 'i1' };
  await store.deleteBatch('storm', deps);
  const mirrors = openRepositoryMirrors(workRoot, createFleetGit(environment));
  expect(await deletePendingBatchFiles({ ...deps, mirrors })).toEqual(['storm']);
  for (const victim of victims) expect(existsSync(join(victim, 'session.jsonl'))).toBe(true);
  const left: readonly { readonly tasks: readonly TaskOfDeletedBatch[] }[] = await store.listDeletions();
  expect(left).toEqual([]);
  await store.close();
});
