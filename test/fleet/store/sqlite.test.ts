import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { createFleetStore, openFleetStore } from '../../../src/fleet/store/open-fleet-store.ts';
import { openSqlite } from '../../../src/fleet/store/sqlite.ts';
import { stormBatch, stormTasks } from '../../support/fleet-storm.ts';
import { createTempProject } from '../../support/temp-project.ts';

const me = { worker: 'w1', machine: 'here', leaseMs: 30_000 };

test('a pause ends by its maximum duration although the clock was set back', async () => {
  await using project = await createTempProject();
  let now = 1_000_000_000_000;
  const store = await createFleetStore(openSqlite(join(project.dir, 'fleet.db'), () => now));
  await store.submit(stormBatch(), stormTasks(1, 0));
  const claim = await store.claim(me);
  if (claim === undefined) throw new Error('Nothing was claimed.');
  await store.completeAttempt(claim, { kind: 'back', reason: 'later', afterMs: 30_000 }, { cost: 0 });
  expect(await store.claim(me)).toBeUndefined();
  now -= 3_600_000;
  expect(await store.claim(me)).toMatchObject({ key: 'task-0', token: 2 });
  await store.close();
});

test.each([
  ['is no database', () => Buffer.from('not a database at all '.repeat(500))],
  [
    'has a page that was overwritten',
    (bytes: Buffer) => Buffer.concat([bytes.subarray(0, 4096), Buffer.alloc(bytes.length - 4096, 7)]),
  ],
  ['was cut off', (bytes: Buffer) => bytes.subarray(0, 3 * 4096)],
])('a queue file that %s is refused by name', async (_, damage) => {
  await using project = await createTempProject();
  const place = { kind: 'here', folder: project.dir } as const;
  const store = await openFleetStore(place);
  await store.submit(stormBatch(), stormTasks(200, 0));
  await store.close();
  const file = join(project.dir, 'fleet.db');
  await writeFile(file, damage(await readFile(file)));
  await expect(openFleetStore(place)).rejects.toThrow(`The queue file ${file} is damaged`);
});
