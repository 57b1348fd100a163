import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { readdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { afterAll, afterEach, beforeEach, describe, expect, test } from 'vitest';
import { killNow } from '../../../../test/support/processes.ts';
import { runHere } from '../../../../test/support/run-here.ts';
import { isWholeRun, runs } from '../../../../test/support/runs.ts';
import { createTempProject, type TempProject } from '../../../../test/support/temp-project.ts';
import type { TaskAttemptView } from '../../src/store/batch.ts';
import type { FleetStore } from '../../src/store/fleet-store.ts';
import { type FleetStoreLocation, openFleetStore } from '../../src/store/open-fleet-store.ts';
import { addRepo, TESTED_STORES, testQueue } from '../support/fleet.ts';
import type { StormRole } from '../support/fleet-process.ts';
import { fakeOuro, startStorm, stormBatch, stormTasks, waitForExit, waitForOutput } from '../support/fleet-storm.ts';

const LEASE_MS = 1_500;

/** A storm takes a minute where nothing else runs, and what it takes where much does. */
const PATIENCE = { timeout: 300_000 };

describe.skipIf(!isWholeRun).each(TESTED_STORES)('a storm over %s', PATIENCE, (kind) => {
  const onServer = test.skipIf(kind === 'SQLite');
  const queue = testQueue(kind);
  let project: TempProject;
  let env: Readonly<Record<string, string>>;
  let place: FleetStoreLocation;
  let store: FleetStore;
  let program: string;

  beforeEach(async () => {
    project = await createTempProject();
    env = await queue.begin();
    const { OURO_QUEUE: url } = env;
    place = url === undefined ? { kind: 'here', folder: join(project.ouroHome, 'fleet') } : { kind: 'postgres', url };
    store = await openFleetStore(place);
    program = await fakeOuro(project);
  });
  afterEach(async () => {
    await store.close();
    await project.remove();
  });
  afterAll(() => queue.close());

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

  test.each(Array.from({ length: runs(10).numRuns }, (_, at) => at))(
    'killed workers and submitters lose nothing, and nothing counts twice (%i)',
    async () => {
      const count = Math.max(12, runs(200).numRuns);
      const tasks = stormTasks(count, 0.2);
      const submitter = startStorm(project, { role: 'submit', place, batch: stormBatch(), count, seconds: 0.2 });
      await waitForOutput(submitter, 'ready');
      await wait(Math.random() * 40);
      killNow(submitter.pid ?? 0);
      await store.submit(stormBatch(), tasks);
      let workers = [worker(), worker(), worker()];
      while (!(await store.isSettled('storm'))) {
        await wait(2_000);
        const victim = workers[Math.floor(Math.random() * 3)];
        if (victim?.pid !== undefined) killNow(victim.pid);
        workers = workers.map((one) => (one === victim || one.exitCode !== null ? worker() : one));
      }
      expect((await store.getStatus('storm'))?.counts).toMatchObject({ done: count, failed: 0 });
      const all = await attemptsOfEach(count);
      expectEachOnce(all);
      // A task whose worker was killed begins again within its lease and eight seconds where nothing else runs.
      const pauses = all.flatMap((attempts) =>
        attempts.slice(1).map(({ startedMs }, at) => startedMs - (attempts[at]?.startedMs ?? 0)),
      );
      expect(Math.max(0, ...pauses)).toBeLessThan(LEASE_MS + 3 * 8_000);
      for (const one of workers) if (one.pid !== undefined) killNow(one.pid);
    },
  );

  test('a killed submit is stored completely or not at all, and a second one completes it', async () => {
    const tasks = stormTasks(5_000, 0.1);
    for (let at = 0; at < runs(20).numRuns; at += 1) {
      const batch = { ...stormBatch(), id: `storm-${at}` };
      const child = startStorm(project, { role: 'submit', place, batch, count: tasks.length, seconds: 0.1 });
      await waitForOutput(child, 'ready');
      await wait(Math.random() * 60);
      if (child.pid !== undefined) killNow(child.pid);
      await waitForExit(child);
      const { added, known } = await store.submit(batch, tasks);
      expect([added, known]).toEqual(known === 0 ? [tasks.length, 0] : [0, tasks.length]);
    }
  });

  test('two simultaneous submits of the same batch create one batch', async () => {
    const tasks = stormTasks(500, 0.1);
    const other = await openFleetStore(place);
    const made = await Promise.all([store, other, store, other].map((one) => one.submit(stormBatch(), tasks)));
    expect(made.map(({ added }) => added).toSorted((a, b) => a - b)).toEqual([0, 0, 0, 500]);
    await other.close();
    expect(await store.getStatus('storm')).toMatchObject({ counts: { waiting: 500 } });
  });

  test('a worker frozen for two leases does no harm: its late results do not count', async () => {
    const count = Math.max(12, runs(200).numRuns);
    const long = stormTasks(4, 5);
    await store.submit(stormBatch(), [...long, ...stormTasks(count, 0.2).slice(4)]);
    const frozen = worker();
    await running(4);
    process.kill(frozen.pid ?? 0, 'SIGSTOP');
    const healthy = [worker(), worker()];
    await wait(2 * LEASE_MS);
    const held = async () => (await attemptsOfEach(long.length)).map(([attempt]) => attempt?.outcome);
    while ((await held()).some((outcome) => outcome !== 'lost')) await wait(20);
    process.kill(frozen.pid ?? 0, 'SIGCONT');
    for (const one of [frozen, ...healthy]) expect(await waitForExit(one)).toBe(0);
    expect((await store.getStatus('storm'))?.counts).toMatchObject({ done: count, failed: 0 });
    const all = await attemptsOfEach(count);
    expectEachOnce(all);
    const first = all.slice(0, long.length).map(([attempt]) => attempt);
    expect(first).toMatchObject(long.map(() => ({ worker: `w${frozen.pid}`, outcome: 'lost' })));
  });

  test.each([
    { limited: 'lane', count: runs(500).numRuns },
    { limited: 'batch', count: runs(100).numRuns },
  ])('never more tasks run at once than allowed in a $limited', async ({ limited, count }) => {
    const sinceMs = await store.getTime();
    if (limited === 'lane') await limitLaneTo(5);
    await store.submit(stormBatch({ atOnce: limited === 'lane' ? 100 : 5 }), stormTasks(count, 0.05));
    const workers = [worker({ slots: 2 }), worker({ slots: 2 }), worker({ slots: 2 }), worker({ slots: 2 })];
    for (const one of workers) expect(await waitForExit(one)).toBe(0);
    const all = await attemptsOfEach(count);
    // Each quiet minute adds one to the limit of a lane.
    const minutes = limited === 'lane' ? Math.floor(((await store.getTime()) - sinceMs) / 60_000) : 0;
    expect(mostAtOnce(all.flat())).toBeLessThanOrEqual(5 + minutes);
    expectEachOnce(all);
  });

  /** As after a reply that asked for fewer requests while twice as many ran. */
  async function limitLaneTo(limit: number): Promise<void> {
    await store.submit({ ...stormBatch(), id: 'before' }, stormTasks(2 * limit, 0));
    const claims = [];
    while (claims.length < 2 * limit) claims.push(await store.claim({ worker: 'w', machine: 'here', leaseMs: 60_000 }));
    await store.pauseLane('anthropic', { kind: 'limit', untilMs: 0, words: 'too many requests' });
    const stopped = { kind: 'failed', reason: 'stopped', again: 'never' } as const;
    for (const claim of claims) if (claim !== undefined) await store.completeAttempt(claim, stopped, { cost: 0 });
  }

  test('a batch never costs more than allowed', async () => {
    const dollars = (at: number) => 0.01 + (createHash('md5').update(String(at)).digest()[0] ?? 0) / 6_400;
    await store.submit(stormBatch({ each: 50_000, all: 300_000, atOnce: 4 }), stormTasks(40, 0.05, dollars));
    expect(await waitForExit(worker())).toBe(0);
    const status = await store.getStatus('storm');
    expect(status?.spent).toBeLessThanOrEqual(300_000);
    expect(status?.waits).toMatchObject([{ kind: 'money' }]);
    const paid = (await linesOf('begun')).map((name) =>
      Math.round(Number(dollars(Number(name.split('-')[1])).toFixed(4)) * 1e6),
    );
    expect(status?.spent).toBe(paid.reduce((sum, one) => sum + one, 0));
  });

  test('an exhausted quota costs a few requests and no attempt, and all tasks finish when it is back', async () => {
    const count = runs(300).numRuns;
    await store.submit(stormBatch({ atOnce: 8, attempts: 1 }), stormTasks(count, 0.02));
    const workers = [worker(), worker()];
    while ((await linesOf('begun')).length < count / 3) await wait(10);
    await project.write('gone', '');
    while (((await store.getStatus('storm'))?.waits.length ?? 0) === 0) await wait(20);
    while (((await store.getStatus('storm'))?.counts.running ?? 0) > 0) await wait(20);
    expect((await linesOf('refused')).length).toBeLessThanOrEqual(8);
    const { counts, waits } = (await store.getStatus('storm')) ?? {};
    expect(counts).toMatchObject({ failed: 0 });
    // Tasks that were refused are returned to the queue and wait for the lane, too.
    expect(waits?.[0]).toMatchObject({ kind: 'lane' });
    expect(new Set(waits?.map(({ words }) => words))).toEqual(new Set(['the credit is used up (402)']));
    await rm(join(project.dir, 'gone'));
    await store.applyCommand('storm', { command: 'resume' });
    for (const one of workers) expect(await waitForExit(one)).toBe(0);
    expect(await store.getStatus('storm')).toMatchObject({ counts: { done: count, failed: 0 }, spent: count * 1_000 });
  });

  test('"done" is reported when every task is done; failed ones are named, with their exit code', async () => {
    const count = Math.max(12, runs(200).numRuns);
    const bad = [1, 5, 9];
    const tasks = stormTasks(count, 0.01, undefined, (at) => bad.includes(at));
    await store.submit(stormBatch({ attempts: 1, atOnce: 8 }), tasks);
    expect(await waitForExit(worker({ slots: 8 }))).toBe(0);
    const { code, stdout } = await runHere(project, ['batch', 'status', 'storm'], undefined, { env });
    expect(code).toBe(1);
    expect(stdout).toContain(`storm: 3 failed\n  ${count - 3} of ${count} done, 3 failed\n`);
    expect(stdout.match(/failed {2}task-\d+ {2}it is beyond me/g)).toHaveLength(3);
  });

  test('two workers share one repository without conflicts', async () => {
    const count = runs(20).numRuns;
    const repo = await addRepo(project, 'one', { 'a.txt': 'alpha\n' });
    const commit = (await project.git('-C', repo, 'rev-parse', 'HEAD')).trim();
    const tasks = stormTasks(count, 0.05).map((task) => ({
      ...task,
      spec: { ...task.spec, place: { url: repo, commit, folder: '' } },
    }));
    await store.submit(stormBatch(), tasks);
    const workers = [worker(), worker()];
    for (const one of workers) expect(await waitForExit(one)).toBe(0);
    expect(await store.listTasks('storm', ['failed'])).toEqual([]);
    const name = `${createHash('sha256').update(repo).digest('hex').slice(0, 24)}.git`;
    const mirror = join(project.dir, 'fleet', 'work', '.mirrors', name);
    expect(await readdir(join(mirror, 'clones'))).toEqual([]);
    expect(await readdir(join(project.dir, 'fleet', 'work', 'storm'))).toEqual([]);
    expect(await project.git('--git-dir', mirror, 'fsck', '--no-dangling')).not.toMatch(/error|missing|corrupt/);
    for (const { key } of tasks) expect(String(await store.readFile('storm', key, 'patch'))).not.toBe('');
  });

  onServer('a database that is restarted in the middle costs nothing but time', async () => {
    const count = Math.max(12, runs(200).numRuns);
    await store.submit(stormBatch(), stormTasks(count, 0.2));
    const workers = [worker({ leaseMs: 2_500 }), worker({ leaseMs: 2_500 })];
    // More than one of them takes: both are at work, and none still looks for its queue.
    await running(5);
    await queue.server().crashAndRestart();
    await expectAllDone(workers, count);
  });

  onServer(
    'a database that is away for longer than the lease makes nobody lost: what runs is ended, and goes on',
    async () => {
      await store.submit(stormBatch(), stormTasks(8, 2));
      const workers = [worker(), worker()];
      while ((await linesOf('begun')).length < 8) await wait(10);
      await queue.server().crashAndRestart(2 * LEASE_MS);
      await expectAllDone(workers, 8);
      const outcomes = (await attemptsOfEach(8)).flat().map(({ outcome }) => outcome);
      expect(outcomes).not.toContain('lost');
      expect(outcomes).toContain('the queue was unavailable for more than 1.5 s');
    },
  );

  onServer('who freezes inside of the transaction of a claim holds up the others for ten seconds at most', async () => {
    await store.submit(stormBatch(), stormTasks(2, 0.1));
    const { OURO_QUEUE: url = '' } = env;
    const frozen = startStorm(project, { role: 'freeze', url });
    await waitForOutput(frozen, 'frozen');
    const frozenAt = await store.getTime();
    expect(await waitForExit(worker())).toBe(0);
    const started = (await attemptsOfEach(2)).flat().map(({ startedMs }) => startedMs);
    expect(Math.min(...started) - frozenAt).toBeLessThan(10_000);
    killNow(frozen.pid ?? 0);
  });

  /** Everything is done, and what was begun is paid for: once for each time it was begun. */
  async function expectAllDone(workers: readonly ReturnType<typeof worker>[], count: number): Promise<void> {
    for (const one of workers) expect(await waitForExit(one)).toBe(0);
    await store.close();
    store = await openFleetStore(place);
    const begun = (await linesOf('begun')).length;
    expect(await store.getStatus('storm')).toMatchObject({ counts: { done: count, failed: 0 }, spent: begun * 1_000 });
  }

  async function linesOf(name: string): Promise<readonly string[]> {
    const file = join(project.dir, name);
    return existsSync(file) ? (await readFile(file, 'utf8')).trim().split('\n') : [];
  }

  async function running(count: number): Promise<void> {
    while (((await store.getStatus('storm'))?.counts.running ?? 0) < count) await wait(20);
  }

  const attemptsOfEach = (count: number): Promise<readonly (readonly TaskAttemptView[])[]> =>
    Promise.all(stormTasks(count, 0).map(({ key }) => store.listAttempts('storm', key)));
});

function expectEachOnce(all: readonly (readonly TaskAttemptView[])[]): void {
  const isOnce = (attempts: readonly TaskAttemptView[]) =>
    attempts.filter(({ outcome }) => outcome === 'done').length === 1;
  expect(all.filter((attempts) => !isOnce(attempts))).toEqual([]);
}

function mostAtOnce(attempts: readonly TaskAttemptView[]): number {
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
