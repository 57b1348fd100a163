import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { openSqlite } from '../../../src/fleet/stores/engines/sqlite-sql.ts';
import { openStore } from '../../../src/fleet/stores/open-store.ts';
import { createTempProject } from '../../support/temp-project.ts';

test.each([
  [2, 'Update ouro on this machine.'],
  [0, 'Finish its batches with the older ouro'],
])('a store with tables of version %i is refused with what to do', async (version, advice) => {
  await using project = await createTempProject();
  await (await openStore({ kind: 'here', folder: project.dir })).close();
  const sql = openSqlite(join(project.dir, 'fleet.db'));
  await sql.transaction((tx) => tx.all("UPDATE fleet_meta SET value = ? WHERE name = 'schema'", version));
  await sql.close();
  await expect(openStore({ kind: 'here', folder: project.dir })).rejects.toThrow(advice);
});

test('nobody else on the machine can read a store', async () => {
  await using project = await createTempProject();
  await (await openStore({ kind: 'here', folder: project.dir })).close();
  expect((await stat(join(project.dir, 'fleet.db'))).mode & 0o777).toBe(0o600);
});
