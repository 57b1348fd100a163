import { join } from 'node:path';
import { expect, test } from 'vitest';
import { openSqliteQueue } from '../../../../src/fleet/stores/engines/sqlite-queue.ts';
import { openSqlite } from '../../../../src/fleet/stores/engines/sqlite-sql.ts';
import { createTempProject } from '../../../support/temp-project.ts';

test('a pause is kept, but not for longer than any pause may be: the clock was set back', async () => {
  await using project = await createTempProject();
  let now = 1_000_000_000;
  const sql = openSqlite(join(project.dir, 'fleet.db'), () => now);
  const queue = await openSqliteQueue(sql);
  const take = () => sql.transaction((tx) => queue.take(tx, 'q'));
  await sql.transaction((tx) => queue.add(tx, 'q', [{ id: 'a', priority: 0, seq: 0 }]));
  const held = await take();
  await sql.transaction((tx) => queue.back(tx, 'q', held ?? { id: '', token: 0 }, 30_000));
  expect(await take()).toBeUndefined();
  now -= 3_600_000;
  expect(await take()).toEqual({ id: 'a', token: 2 });
  await sql.close();
});
