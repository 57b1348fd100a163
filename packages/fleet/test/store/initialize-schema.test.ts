import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { createTempProject } from '../../../../test/support/temp-project.ts';
import type { SqlDatabase } from '../../src/store/database.ts';
import type { FleetStore } from '../../src/store/fleet-store.ts';
import { openFleetStore } from '../../src/store/open-fleet-store.ts';
import { openPostgres } from '../../src/store/postgres.ts';
import { openSqlite } from '../../src/store/sqlite.ts';
import { TESTED_STORES, testQueue } from '../support/fleet.ts';
import { stormBatch, stormTasks } from '../support/fleet-storm.ts';

test('a store with newer tables is refused with what to do', async () => {
  await using project = await createTempProject();
  await (await openFleetStore({ kind: 'here', folder: project.dir })).close();
  const sql = openSqlite(join(project.dir, 'fleet.db'));
  await sql.transaction((tx) => tx.query("UPDATE fleet_meta SET value = ? WHERE name = 'schema'", 5));
  await sql.close();
  await expect(openFleetStore({ kind: 'here', folder: project.dir })).rejects.toThrow('Update ouro on this machine.');
});

test('a store is private to its owner', async () => {
  await using project = await createTempProject();
  await (await openFleetStore({ kind: 'here', folder: project.dir })).close();
  expect((await stat(join(project.dir, 'fleet.db'))).mode & 0o777).toBe(0o600);
});

test.each([
  { version: 2, tables: ['fleet_schedules', 'fleet_deletions'] },
  { version: 3, tables: ['fleet_deletions'] },
])('a store of version $version gets what it lacks: $tables', async ({ version, tables }) => {
  await using project = await createTempProject();
  await (await openFleetStore({ kind: 'here', folder: project.dir })).close();
  const sql = openSqlite(join(project.dir, 'fleet.db'));
  for (const table of tables) await sql.transaction((tx) => tx.query(`DROP TABLE ${table}`));
  await sql.transaction((tx) => tx.query('ALTER TABLE fleet_attempts DROP COLUMN installation'));
  await sql.transaction((tx) => tx.query("UPDATE fleet_meta SET value = ? WHERE name = 'schema'", version));
  await sql.close();
  const store = await openFleetStore({ kind: 'here', folder: project.dir });
  expect(await store.listSchedules()).toEqual([]);
  expect(await store.listDeletions()).toEqual([]);
  await store.submit(stormBatch(), stormTasks(1, 0));
  expect(await store.claim({ worker: 'w', machine: 'here', installation: 'i', leaseMs: 1_000 })).toBeDefined();
  await store.close();
});

/** The tables of version 1, with a queue of their own for waiting tasks. */
const VERSION_1 = (bytes: string) => [
  'CREATE TABLE fleet_meta (name TEXT PRIMARY KEY, value BIGINT NOT NULL)',
  `CREATE TABLE fleet_batches (id TEXT PRIMARY KEY, name TEXT NOT NULL, state TEXT NOT NULL, priority INTEGER NOT NULL,
    limit_each BIGINT NOT NULL, limit_all BIGINT NOT NULL, attempts INTEGER NOT NULL, at_once INTEGER NOT NULL,
    collect TEXT NOT NULL, created_ms BIGINT NOT NULL)`,
  `CREATE TABLE fleet_tasks (batch TEXT NOT NULL, task_key TEXT NOT NULL, job TEXT NOT NULL, seq INTEGER NOT NULL,
    title TEXT NOT NULL, kind TEXT NOT NULL, lane TEXT NOT NULL, priority INTEGER NOT NULL, spec TEXT NOT NULL,
    signature TEXT, state TEXT NOT NULL, tries INTEGER NOT NULL, reason TEXT, session TEXT, machine TEXT, doing TEXT,
    started_ms BIGINT, ended_ms BIGINT, result TEXT, PRIMARY KEY (batch, task_key))`,
  'CREATE INDEX fleet_tasks_state ON fleet_tasks (batch, state, lane)',
  'CREATE INDEX fleet_tasks_job ON fleet_tasks (batch, job)',
  `CREATE TABLE fleet_attempts (id TEXT PRIMARY KEY, batch TEXT NOT NULL, task_key TEXT NOT NULL, token BIGINT NOT NULL,
    lane TEXT NOT NULL, worker TEXT NOT NULL, machine TEXT NOT NULL, started_ms BIGINT NOT NULL, beat_ms BIGINT NOT NULL,
    lease_ms BIGINT NOT NULL, ended_ms BIGINT, cost BIGINT NOT NULL, reserved BIGINT NOT NULL, session TEXT,
    outcome TEXT NOT NULL)`,
  'CREATE INDEX fleet_attempts_task ON fleet_attempts (batch, task_key)',
  'CREATE INDEX fleet_attempts_open ON fleet_attempts (lane) WHERE ended_ms IS NULL',
  'CREATE TABLE fleet_lanes (name TEXT PRIMARY KEY, until_ms BIGINT NOT NULL, words TEXT NOT NULL, at_most INTEGER, since_ms BIGINT NOT NULL)',
  `CREATE TABLE fleet_files (batch TEXT NOT NULL, task_key TEXT NOT NULL, kind TEXT NOT NULL, content ${bytes} NOT NULL,
    PRIMARY KEY (batch, task_key, kind))`,
  "INSERT INTO fleet_meta VALUES ('schema', 1)",
  "INSERT INTO fleet_lanes VALUES ('anthropic', 0, '', NULL, 0)",
  `INSERT INTO fleet_batches VALUES ('b1', 'b1', 'open', 0, 1000000, 9000000, 3, 8, '{"as":"patches","name":"b1"}', 5)`,
];

describe.each(TESTED_STORES)('a queue of version 1 on %s', (kind) => {
  const queue = testQueue(kind);
  afterAll(() => queue.close());

  test('is migrated with its tasks, results and costs as soon as old workers run nothing', async () => {
    await using project = await createTempProject();
    const { OURO_QUEUE: url } = await queue.begin();
    const open = async (): Promise<SqlDatabase> =>
      url === undefined ? openSqlite(join(project.dir, 'fleet.db')) : openPostgres(url);
    const openNew = (): Promise<FleetStore> =>
      openFleetStore(url === undefined ? { kind: 'here', folder: project.dir } : { kind: 'postgres', url });
    const old = await open();
    const specs = stormTasks(3, 0).map(({ spec }) => JSON.stringify(spec));
    await old.transaction(async (tx) => {
      for (const text of VERSION_1(old.bytesType)) await tx.query(text);
      for (const [at, state] of ['done', 'waiting', 'running'].entries())
        await tx.query(
          `INSERT INTO fleet_tasks (batch, task_key, job, seq, title, kind, lane, priority, spec, state, tries, session, machine)
           VALUES ('b1', ?, ?, ?, ?, 'work', 'anthropic', 0, ?, ?, 1, 's1', 'here')`,
          ...[`task-${at}`, `job-${at}`, at, `task ${at}`, specs[at] ?? '', state],
        );
      await tx.query(
        `INSERT INTO fleet_attempts VALUES ('a1', 'b1', 'task-2', 4, 'anthropic', 'w', 'here', 1, ?, 30000, NULL, 70, 100, 's1', 'runs')`,
        await tx.now(),
      );
    });
    await expect(openNew()).rejects.toThrow('older ouro, whose workers still run 1 task');
    const [lane] = await old.transaction((tx) => tx.query('SELECT until_ms FROM fleet_lanes'));
    expect(Number(lane?.until_ms)).toBeGreaterThan(0);
    await old.transaction((tx) => tx.query('UPDATE fleet_attempts SET beat_ms = 0'));
    const store = await openNew();
    // What an old worker does to claim a task fails now.
    await expect(old.transaction((tx) => tx.query("SELECT * FROM fleet_tasks WHERE job = 'job-1'"))).rejects.toThrow(
      /job/,
    );
    await old.close();
    expect(await store.reclaimExpired()).toMatchObject([{ key: 'task-2', session: 's1' }]);
    const me = { worker: 'w1', machine: 'here', leaseMs: 30_000 };
    expect(await store.claim(me)).toMatchObject({ key: 'task-1', token: 1 });
    expect(await store.claim(me)).toMatchObject({ key: 'task-2', token: 5, earlierCost: 70 });
    expect(await store.getStatus('b1')).toMatchObject({ spent: 70, counts: { done: 1, running: 2 } });
    await store.close();
  });
});
