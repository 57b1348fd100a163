import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { NO_POSTGRES, startPostgres, type TestPostgres } from '../../../../test/support/postgres.ts';
import { isWholeRun } from '../../../../test/support/runs.ts';
import type { NewBatchSchedule } from '../../src/store/batch.ts';
import { postgresPair, type StorePair, sqlitePair } from '../support/fleet-stores.ts';
import { stormTasks } from '../support/fleet-storm.ts';

const HOUR_MS = 3_600_000;
const me = { worker: 'w1', machine: 'here', leaseMs: 30_000 };

let postgres: TestPostgres | undefined;
afterAll(() => postgres?.close());

const STORES = [
  { name: 'SQLite', open: sqlitePair, isMissing: false },
  { name: 'Postgres', open: openPostgresPair, isMissing: !isWholeRun || NO_POSTGRES !== undefined },
];

async function openPostgresPair(): Promise<StorePair> {
  postgres = await startPostgres();
  return postgresPair(postgres);
}

describe.each(STORES.filter(({ isMissing }) => !isMissing))('schedules on $name', ({ open }) => {
  let pair: StorePair;
  beforeAll(async () => {
    pair = await open();
  });
  beforeEach(() => pair.empty());
  afterAll(() => pair.close());

  test('a due run is submitted once, however many workers submit it at once', async () => {
    const { tasks } = schedule();
    await pair.one.saveSchedule(schedule());
    const [[due], [same]] = [await pair.one.listDueSchedules(), await pair.two.listDueSchedules()];
    if (due === undefined || same === undefined) throw new Error('Nothing is due.');
    const runs = await Promise.all(
      [pair.one, pair.two, pair.one, pair.two].map((store, at) => store.submitRun(at % 2 === 0 ? due : same, tasks)),
    );
    expect(runs.filter((run) => run !== undefined)).toHaveLength(1);
    const batches = await pair.two.listBatches();
    expect(batches).toMatchObject([{ id: runs.find(Boolean), counts: { waiting: 2 }, limits: { all: 7 } }]);
    expect(await pair.two.listSchedules()).toMatchObject([
      { id: 'nightly', taskCount: 2, lastBatch: batches[0]?.id, nextMs: due.dueMs + HOUR_MS },
    ]);
  });

  test('times missed while no worker ran give one run, and the rhythm stays', async () => {
    await pair.one.saveSchedule(schedule());
    const first = await submitDue(pair);
    await finishAll(pair);
    expect(await pair.one.listDueSchedules()).toEqual([]);
    const [before] = await pair.one.listSchedules();
    await pair.later(5 * HOUR_MS + 60_000);
    const [late] = await pair.one.listDueSchedules();
    const second = await submitDue(pair);
    expect(second).not.toBe(first);
    expect(await pair.one.listDueSchedules()).toEqual([]);
    const [after] = await pair.one.listSchedules();
    expect((after?.nextMs ?? 0) - (late?.dueMs ?? 0)).toBe(5 * HOUR_MS);
    expect(before?.lastBatch).toBe(first);
    expect(await pair.one.listBatches()).toHaveLength(2);
  });

  test('an unfinished run delays the next one', async () => {
    await pair.one.saveSchedule(schedule());
    await submitDue(pair);
    await pair.later(HOUR_MS);
    expect(await pair.two.listDueSchedules()).toEqual([]);
    await finishAll(pair);
    expect(await pair.two.listDueSchedules()).toMatchObject([{ id: 'nightly' }]);
  });

  test('a replaced schedule keeps its next time, and no worker submits what it had before', async () => {
    await pair.one.saveSchedule(schedule());
    const [old] = await pair.one.listDueSchedules();
    if (old === undefined) throw new Error('Nothing is due.');
    await pair.two.saveSchedule(schedule({ everyMs: 2 * HOUR_MS, tasks: stormTasks(1, 0) }));
    expect(await pair.one.submitRun(old, old.tasks)).toBeUndefined();
    expect(await pair.one.listDueSchedules()).toMatchObject([{ dueMs: old.dueMs, tasks: [{}], everyMs: 2 * HOUR_MS }]);
  });

  test('a problem is shown until the run is submitted', async () => {
    await pair.one.saveSchedule(schedule());
    await pair.one.setScheduleProblem('nightly', 'the host cannot be reached');
    expect(await pair.two.listSchedules()).toMatchObject([{ problem: 'the host cannot be reached' }]);
    await submitDue(pair);
    expect(await pair.two.listSchedules()).toMatchObject([{ problem: undefined }]);
  });

  test('a deleted schedule has no more runs, and its batches stay', async () => {
    await pair.one.saveSchedule(schedule());
    const [due] = await pair.one.listDueSchedules();
    await submitDue(pair);
    expect([await pair.two.deleteSchedule('nightly'), await pair.two.deleteSchedule('nightly')]).toEqual([true, false]);
    expect(due && (await pair.one.submitRun(due, due.tasks))).toBeUndefined();
    expect(await pair.one.listSchedules()).toEqual([]);
    expect(await pair.one.listBatches()).toHaveLength(1);
  });
});

async function submitDue({ one }: StorePair): Promise<string | undefined> {
  const [due] = await one.listDueSchedules();
  return due && one.submitRun(due, due.tasks);
}

async function finishAll({ one }: StorePair): Promise<void> {
  for (let claim = await one.claim(me); claim !== undefined; claim = await one.claim(me))
    await one.completeAttempt(claim, { kind: 'failed', reason: 'no luck', again: 'never' }, { cost: 0 });
}

function schedule(changes: Partial<NewBatchSchedule> = {}): NewBatchSchedule {
  const limits = { each: 3, all: 7, attempts: 3, atOnce: 8 };
  const batch = {
    id: 'nightly-1',
    name: 'nightly',
    limits,
    priority: 0,
    collect: { as: 'patches', name: 'n' },
  } as const;
  return { id: 'nightly', everyMs: HOUR_MS, batch, tasks: stormTasks(2, 0), ...changes };
}
