import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, test } from 'vitest';
import { longTest } from '../../../../test/support/long-test.ts';
import { someOf } from '../../../../test/support/runs.ts';
import { createTempProject } from '../../../../test/support/temp-project.ts';
import { createFleetStore, openFleetStore } from '../../src/store/open-fleet-store.ts';
import { openSqlite } from '../../src/store/sqlite.ts';
import { stormBatch, stormTasks } from '../support/fleet-storm.ts';

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
  ['is empty', () => Buffer.alloc(0)],
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

test('a queue file that is missing beside its log is refused by name, and the log is kept', async () => {
  await using project = await createTempProject();
  const file = join(project.dir, 'fleet.db');
  await writeFile(`${file}-wal`, 'batches');
  await expect(openFleetStore({ kind: 'here', folder: project.dir })).rejects.toThrow(
    `The queue file ${file} is damaged: it is missing, but ${file}-wal is not`,
  );
  expect(await readFile(`${file}-wal`, 'utf8')).toBe('batches');
});

test('a queue file that several processes create at once is created once, and leaves no drafts', async () => {
  await using project = await createTempProject();
  const place = { kind: 'here', folder: project.dir } as const;
  const stores = await Promise.all([1, 2, 3].map(() => openFleetStore(place)));
  await stores[0]?.submit(stormBatch(), stormTasks(1, 0));
  expect(await Promise.all(stores.map(async (store) => (await store.listBatches()).length))).toEqual([1, 1, 1]);
  for (const store of stores) await store.close();
  expect(await readdir(project.dir)).toEqual(['fleet.db']);
});

/** A store with two tasks, one of them done, after these statements. */
async function openAfter(folder: string, ...statements: readonly string[]) {
  const place = { kind: 'here', folder } as const;
  const store = await openFleetStore(place);
  await store.submit(stormBatch(), stormTasks(2, 0));
  const claim = await store.claim(me);
  if (claim === undefined) throw new Error('Nothing was claimed.');
  const result = { answer: 'yes', verified: 'not asked', turns: 1, machine: 'here', session: 's', denials: 0 } as const;
  const done = { kind: 'done', result: { ...result, stat: { files: 1, added: 1, removed: 0 }, notes: [] } } as const;
  await store.completeAttempt(claim, done, { cost: 7 }, { patch: Buffer.from('patch') });
  await store.close();
  const database = new DatabaseSync(join(folder, 'fleet.db'));
  for (const statement of statements) database.exec(statement);
  database.close();
  return openFleetStore(place);
}

test.each([
  ['a table is missing', ['DROP TABLE fleet_tasks'], 'is damaged: no such table'],
  [
    'a column is missing',
    ['DROP INDEX fleet_tasks_next', 'ALTER TABLE fleet_tasks DROP COLUMN state'],
    'is damaged: no such column',
  ],
  [
    'the version is from a newer ouro',
    ['UPDATE fleet_meta SET value = 99'],
    'has schema version 99, but this ouro needs version 4. Update ouro',
  ],
  [
    'the version is none',
    ["UPDATE fleet_meta SET value = 'x'"],
    'has schema version NaN, but this ouro needs version 4. No ouro has written it',
  ],
])('a queue file in which %s is refused by name', async (_, statements, message) => {
  await using project = await createTempProject();
  const file = join(project.dir, 'fleet.db');
  const reading = openAfter(project.dir, ...statements).then(async (store) => {
    try {
      return await store.listBatches();
    } finally {
      await store.close();
    }
  });
  await expect(reading).rejects.toThrow(`The queue file ${file} ${message}`);
});

test.each(['fleet.db', 'fleet.db-wal', 'fleet.db-shm'])(
  'a folder in place of %s is told with its file',
  async (name) => {
    await using project = await createTempProject();
    await (await openAfter(project.dir)).close();
    await rm(join(project.dir, name), { force: true });
    await mkdir(join(project.dir, name));
    const opening = openFleetStore({ kind: 'here', folder: project.dir });
    await expect(opening).rejects.toThrow(`The queue file ${join(project.dir, 'fleet.db')} cannot be read or written`);
  },
);

const ODD = ["'{'", "'[]'", 'NULL', "x'00ff'", '-1', "'text'"] as const;
const COLUMNS = {
  fleet_tasks: ['title', 'kind', 'lane', 'state', 'tries', 'priority', 'spec', 'result', 'started_ms', 'reason'],
  fleet_batches: [
    'name',
    'state',
    'limit_each',
    'attempts',
    'at_once',
    'collect',
    'version',
    'submitted',
    'created_ms',
  ],
  fleet_attempts: ['machine', 'worker', 'cost', 'outcome', 'session', 'started_ms', 'ended_ms'],
  fleet_lanes: ['until_ms', 'words', 'at_most', 'since_ms'],
  fleet_files: ['content'],
} as const;

longTest(
  'odd values in a column of a queue hide neither the other columns nor the other rows, and are not lost',
  async () => {
    const failures: string[] = [];
    for (const [table, columns] of Object.entries(COLUMNS))
      for (const column of someOf(columns, 2)) {
        await using project = await createTempProject();
        const store = await openAfter(project.dir);
        const database = new DatabaseSync(join(project.dir, 'fleet.db'));
        const isNullable = database
          .prepare(`PRAGMA table_info(${table})`)
          .all()
          .some((info) => info.name === column && info.notnull === 0);
        for (const odd of ODD) {
          if (odd === 'NULL' && !isNullable) continue;
          database.exec(`UPDATE ${table} SET ${column} = ${odd}`);
          try {
            const [batch] = await store.listBatches();
            const tasks = await store.listTasks(batch?.id ?? '');
            if (tasks.length !== 2 || tasks.some(({ key }) => !key.startsWith('task-')))
              throw new Error('Tasks are lost.');
            await store.listAttempts(batch?.id ?? '', 'task-0');
            await store.readFile(batch?.id ?? '', 'task-0', 'patch');
            await store.claim({ ...me, worker: 'w2' });
            await store.reclaimExpired();
          } catch (thrown) {
            failures.push(`${table}.${column} = ${odd}: ${thrown}`);
          }
        }
        database.close();
        await store.close();
      }
    expect(failures).toEqual([]);
  },
);

test('a task in an unknown state has failed, and a retry starts it again', async () => {
  await using project = await createTempProject();
  const store = await openAfter(project.dir, "UPDATE fleet_tasks SET state = 'dreaming' WHERE state = 'waiting'");
  const [batch] = await store.listBatches();
  expect(batch?.counts).toMatchObject({ done: 1, failed: 1, waiting: 0 });
  expect(await store.listTasks(batch?.id ?? '')).toMatchObject([
    { state: 'done' },
    { state: 'failed', reason: 'its state "dreaming" is damaged' },
  ]);
  await store.applyCommand(batch?.id ?? '', { command: 'retry' });
  expect((await store.getStatus(batch?.id ?? ''))?.counts).toMatchObject({ waiting: 1, failed: 0 });
  await store.close();
});
