import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { FleetStore } from '../../src/contracts/fleet-store.ts';
import { openStore, type StorePlace } from '../../src/fleet/stores/open-store.ts';
import { addRepo } from '../support/fleet.ts';
import type { StormRole } from '../support/fleet-process.ts';
import { endOf, fakeOuro, hears, startStorm, stormBatch, stormTasks } from '../support/fleet-storm.ts';
import { NO_POSTGRES, startPostgres, type TestPostgres } from '../support/postgres.ts';
import { killNow } from '../support/processes.ts';
import { isWholeRun, runs } from '../support/runs.ts';
import { createTempProject, type TempProject } from '../support/temp-project.ts';

if (NO_POSTGRES !== undefined) process.stderr.write(`\n${NO_POSTGRES}\n`);

let postgres: TestPostgres | undefined;
beforeAll(async () => {
  if (NO_POSTGRES === undefined) postgres = await startPostgres();
});
afterAll(() => postgres?.close());

const KINDS = NO_POSTGRES === undefined ? (['SQLite', 'Postgres'] as const) : (['SQLite'] as const);
const LEASE_MS = 1_500;

describe.each(KINDS)('a storm over %s', (kind) => {
  /** The worker is the same over both stores: in a short run one of them has to do. */
  const isShort = kind === 'Postgres' && !isWholeRun;
  let project: TempProject;
  let place: StorePlace;
  let store: FleetStore;
  let program: string;

  beforeEach(async () => {
    project = await createTempProject();
    place =
      kind === 'SQLite'
        ? { kind: 'here', folder: join(project.dir, 'fleet') }
        : { kind: 'postgres', url: (await postgres?.database()) ?? '' };
    store = await openStore(place);
    program = await fakeOuro(project);
  });
  afterEach(async () => {
    await store.close();
    await project.remove();
  });

  const worker = (more: Partial<Extract<StormRole, { role: 'worker' }>> = {}) =>
    startStorm(project, {
      role: 'worker',
      place,
      folder: join(project.dir, 'fleet'),
      program,
      slots: 4,
      leaseMs: LEASE_MS,
      until: 'empty',
      ...more,
    });

  test.skipIf(isShort)('workers that are killed again and again lose nothing, and nothing counts twice', async () => {
    const count = Math.max(16, runs(200).numRuns);
    await store.submit(stormBatch(), stormTasks(count, 0.2));
    let workers = [worker(), worker(), worker()];
    for (let at = 0; !(await store.isSettled('storm')); at += 1) {
      await wait(1_000);
      const victim = workers[at % 3];
      if (victim?.pid !== undefined) killNow(victim.pid);
      workers = workers.map((one) => (one === victim || one.exitCode !== null ? worker() : one));
    }
    expect((await store.status('storm'))?.counts).toMatchObject({ done: count, failed: 0 });
    await expectEachOnce(count);
    for (const one of workers) if (one.pid !== undefined) killNow(one.pid);
  });

  test.skipIf(isShort)(
    'a submit that is killed is there as a whole or not at all, and the same again makes it whole',
    async () => {
      const tasks = stormTasks(isWholeRun ? 5_000 : 800, 0.1);
      const all = stormBatch();
      for (let at = 0; at < runs(20).numRuns; at += 1) {
        const batch = { ...all, id: `storm-${at}` };
        const child = startStorm(project, { role: 'submit', place, batch, count: tasks.length });
        await hears(child, 'ready');
        await wait(Math.random() * 60);
        if (child.pid !== undefined) killNow(child.pid);
        await endOf(child);
        const { added, known } = await store.submit(batch, tasks);
        expect([added, known]).toEqual(known === 0 ? [tasks.length, 0] : [0, tasks.length]);
      }
    },
  );

  test.skipIf(isShort)('a frozen worker does no harm: what it hands in late does not count', async () => {
    await store.submit(stormBatch(), stormTasks(4, 1));
    const frozen = worker({ slots: 2 });
    await running(2);
    process.kill(frozen.pid ?? 0, 'SIGSTOP');
    const healthy = worker();
    await endOf(healthy);
    process.kill(frozen.pid ?? 0, 'SIGCONT');
    expect(await endOf(frozen)).toBe(0);
    expect((await store.status('storm'))?.counts).toMatchObject({ done: 4, failed: 0 });
    await expectEachOnce(4);
  });

  test('however many ask, never more run at once than may', async () => {
    const count = Math.max(20, runs(500).numRuns);
    await store.submit(stormBatch({ atOnce: 5 }), stormTasks(count, 0.05));
    const workers = [worker({ slots: 2 }), worker({ slots: 2 }), worker({ slots: 2 }), worker({ slots: 2 })];
    for (const one of workers) expect(await endOf(one)).toBe(0);
    expect(await mostAtOnce(count)).toBeLessThanOrEqual(5);
    await expectEachOnce(count);
  });

  test.skipIf(isShort)('a batch never costs more than it may', async () => {
    const dollars = (at: number) => 0.01 + (createHash('md5').update(String(at)).digest()[0] ?? 0) / 6_400;
    await store.submit(stormBatch({ each: 50_000, all: 300_000, atOnce: 4 }), stormTasks(40, 0.05, dollars));
    expect(await endOf(worker())).toBe(0);
    const status = await store.status('storm');
    expect(status?.spent).toBeLessThanOrEqual(300_000);
    expect(status?.waits).toMatchObject([{ kind: 'money' }]);
    const begun = (await readFile(join(project.dir, 'begun'), 'utf8')).trim().split('\n');
    const paid = begun.map((name) => Math.round(Number(dollars(Number(name.split('-')[1])).toFixed(4)) * 1e6));
    expect(status?.spent).toBe(paid.reduce((sum, one) => sum + one, 0));
  });

  test.skipIf(isShort)('two workers share one repository without getting into each other’s way', async () => {
    const count = Math.max(6, runs(20).numRuns);
    const repo = await addRepo(project, 'one', { 'a.txt': 'alpha\n' });
    const commit = (await project.git('-C', repo, 'rev-parse', 'HEAD')).trim();
    const tasks = stormTasks(count, 0.05).map((task) => ({
      ...task,
      spec: { ...task.spec, place: { url: repo, commit, folder: '' } },
    }));
    await store.submit(stormBatch(), tasks);
    const workers = [worker(), worker()];
    for (const one of workers) expect(await endOf(one)).toBe(0);
    expect(await store.tasks('storm', ['failed'])).toEqual([]);
    const mirrors = join(project.dir, 'fleet', 'mirrors');
    const [mirror = ''] = (
      await project.git('-C', project.dir, 'ls-files', '-o', '--directory', 'fleet/mirrors').catch(() => '')
    ).split('\n');
    const folder =
      mirror === '' ? `${mirrors}/${createHash('sha256').update(repo).digest('hex').slice(0, 24)}.git` : mirror;
    expect(await project.git('--git-dir', folder, 'worktree', 'list')).not.toContain('task-');
    expect(await project.git('--git-dir', folder, 'fsck', '--no-dangling')).not.toMatch(/error|missing|corrupt/);
    for (const { key } of tasks) expect(String(await store.file('storm', key, 'patch'))).not.toBe('');
  });

  test.skipIf(kind === 'SQLite')('a database that is restarted in the middle costs nothing but time', async () => {
    const count = Math.max(16, runs(100).numRuns);
    await store.submit(stormBatch(), stormTasks(count, 0.3));
    const workers = [worker({ leaseMs: 10_000 }), worker({ leaseMs: 10_000 })];
    await running(4);
    await postgres?.crashAndRestart();
    for (const one of workers) expect(await endOf(one)).toBe(0);
    await store.close();
    store = await openStore(place);
    const status = await store.status('storm');
    expect(status?.counts).toMatchObject({ done: count });
    expect(status?.spent).toBe(count * 1_000);
  });

  test.skipIf(kind === 'SQLite' || !isWholeRun)(
    'who freezes inside of a transaction holds up the others for ten seconds at most',
    async () => {
      await store.submit(stormBatch(), stormTasks(2, 0.1));
      const frozen = startStorm(project, { role: 'freeze', url: place.kind === 'postgres' ? place.url : '' });
      await hears(frozen, 'frozen');
      const began = performance.now();
      expect(await endOf(worker())).toBe(0);
      expect(performance.now() - began).toBeLessThan(12_000);
      killNow(frozen.pid ?? 0);
    },
  );

  async function running(count: number): Promise<void> {
    while (((await store.status('storm'))?.counts.running ?? 0) < count) await wait(20);
  }

  async function expectEachOnce(count: number): Promise<void> {
    const outcomes = await Promise.all(stormTasks(count, 0).map(({ key }) => store.attempts('storm', key)));
    expect(outcomes.filter((attempts) => attempts.filter(({ outcome }) => outcome === 'done').length !== 1)).toEqual(
      [],
    );
  }

  async function mostAtOnce(count: number): Promise<number> {
    const attempts = (await Promise.all(stormTasks(count, 0).map(({ key }) => store.attempts('storm', key)))).flat();
    const moments = attempts.flatMap(({ startedMs, endedMs = Number.POSITIVE_INFINITY }) => [
      { at: startedMs, step: 1 },
      { at: endedMs, step: -1 },
    ]);
    // Of what ends and begins within one millisecond the end came first.
    moments.sort((a, b) => a.at - b.at || a.step - b.step);
    let now = 0;
    return Math.max(
      ...moments.map(({ step }) => {
        now += step;
        return now;
      }),
    );
  }
});
