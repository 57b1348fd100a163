import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { afterAll, afterEach, beforeEach, describe, expect, test } from 'vitest';
import { runHere } from '../../../../test/support/run-here.ts';
import { startOuro } from '../../../../test/support/run-ouro.ts';
import { isWholeRun } from '../../../../test/support/runs.ts';
import type { TempProject } from '../../../../test/support/temp-project.ts';
import type { FleetStore } from '../../src/store/fleet-store.ts';
import { openFleetStore } from '../../src/store/open-fleet-store.ts';
import { projectWithRepos, TESTED_STORES, testQueue, writePolicy } from '../support/fleet.ts';
import { stormBatch, stormTasks } from '../support/fleet-storm.ts';

/** Times and sizes are measured where nothing else is: in whole runs, and leniently, as other tests run beside them. */
const PATIENCE = 6;
const CLOCK_TICKS = 100;

describe.skipIf(!isWholeRun).each(TESTED_STORES)('the size of a fleet on %s', (kind) => {
  const queue = testQueue(kind);
  let project: TempProject;
  let env: Readonly<Record<string, string>> = {};
  let store: FleetStore;

  beforeEach(async () => {
    env = await queue.begin();
    project = await projectWithRepos([]);
    await writePolicy(project);
    const { OURO_QUEUE: url } = env;
    const folder = join(project.ouroHome, 'fleet');
    store = await openFleetStore(url === undefined ? { kind: 'here', folder } : { kind: 'postgres', url });
  });
  afterEach(async () => {
    await store.close();
    await project.remove();
  });
  afterAll(() => queue.close());

  test('five thousand tasks are submitted, claimed and listed without delay', async () => {
    const tasks = stormTasks(5_000, 0.1);
    const submitMs = await timed(() => store.submit(stormBatch({ atOnce: 1_000 }), tasks));
    const claimMs: number[] = [];
    for (let at = 0; at < 200; at += 1)
      claimMs.push(await timed(() => store.claim({ worker: 'w', machine: 'here', leaseMs: 600_000 })));
    const statusMs: number[] = [];
    for (let at = 0; at < 5; at += 1) statusMs.push(await timed(() => store.getStatus('storm')));
    const screenMs = await timed(() => store.listTasks('storm', ['running', 'failed', 'done']));
    const p95 = claimMs.toSorted((a, b) => a - b)[190] ?? 0;
    const measured = { submitMs, p95, statusMs: Math.min(...statusMs), screenMs };
    process.stderr.write(`\n${kind}: ${JSON.stringify(measured)}\n`);
    expect(submitMs).toBeLessThan(2_000 * PATIENCE);
    expect(p95).toBeLessThan(100 * PATIENCE);
    expect(Math.min(...statusMs)).toBeLessThan(200 * PATIENCE);
    expect(screenMs).toBeLessThan(200 * PATIENCE);
    expect((await runHere(project, ['batch', 'status', 'storm'], undefined, { env })).stdout).toContain(
      '0 of 5000 done',
    );
  });

  test('an idle worker uses almost no CPU', async () => {
    const worker = startOuro(project, ['worker', '-j', '4'], undefined, { env });
    const pid = await settledPid(worker.child.pid ?? 0);
    const [before, transactionsBefore] = [ticksOf(pid), await transactions()];
    await wait(5_000);
    const cpuShare = (ticksOf(pid) - before) / CLOCK_TICKS / 5;
    const perSecond = ((await transactions()) - transactionsBefore) / 5;
    const megabytes = Number(/^RssAnon:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1_000;
    process.stderr.write(`\n${kind}: ${JSON.stringify({ cpuShare, perSecond, megabytes })}\n`);
    worker.child.kill('SIGTERM');
    expect((await worker.ended).code).toBe(143);
    expect(cpuShare).toBeLessThan(0.01 * PATIENCE);
    expect(perSecond).toBeLessThanOrEqual(4);
    expect(megabytes).toBeLessThan(60);
  });

  async function timed(work: () => Promise<unknown>): Promise<number> {
    const began = performance.now();
    await work();
    return performance.now() - began;
  }

  const ticksOf = (pid: number): number => {
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
    return Number(fields[11]) + Number(fields[12]);
  };

  /** Its number does not change when the launcher becomes the program; it has started when it sleeps. */
  async function settledPid(pid: number): Promise<number> {
    for (let last = -1; ; ) {
      await wait(1_000);
      const now = ticksOf(pid);
      if (now - last <= 3) return pid;
      last = now;
    }
  }

  async function transactions(): Promise<number> {
    const { OURO_QUEUE: url } = env;
    if (url === undefined) return 0;
    const text = 'SELECT xact_commit + xact_rollback FROM pg_stat_database WHERE datname = current_database()';
    return Number(
      await queue
        .server()
        .query(url, `SELECT pg_stat_clear_snapshot(); ${text}`)
        .then((said) => said.trim()),
    );
  }
});
