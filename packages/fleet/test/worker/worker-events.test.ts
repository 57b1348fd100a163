import { expect, test } from 'vitest';
import type { TaskAttemptEnd, TaskClaim } from '../../src/store/batch.ts';
import {
  addEventToWorkerTotals,
  createWorkerEventRecord,
  formatWorkerEvent,
  formatWorkerMetrics,
  NO_WORKER_TOTALS,
  type WorkerEvent,
} from '../../src/worker/worker-events.ts';
import { stormTasks } from '../support/fleet-storm.ts';

const [task] = stormTasks(1, 0);
if (task === undefined) throw new Error('There is no task.');
const claim: TaskClaim = {
  ...task,
  id: 'a1',
  batch: 'b1',
  key: 'app-1',
  title: 'app\nname',
  lane: 'anthropic',
  token: 1,
  signature: undefined,
  attempt: 2,
  budget: 5,
  earlierCost: 0,
  previousAttempt: undefined,
};
const finished = (ending: TaskAttemptEnd): WorkerEvent => ({
  kind: 'finished',
  claim,
  ending,
  cost: 250_000,
  durationMs: 1500.4,
});
const EVENTS: readonly WorkerEvent[] = [
  { kind: 'started', worker: 'w', slots: 3 },
  { kind: 'claimed', claim },
  { kind: 'claimed', claim },
  { kind: 'claimed', claim },
  finished({ kind: 'failed', reason: 'no luck', again: 'never' }),
  finished({ kind: 'back', reason: 'stopped', afterMs: 0 }),
  { kind: 'paused', lane: 'anthropic', pauseMs: 30_000, reason: 'outage', scope: 'all machines' },
  { kind: 'paused', lane: 'openai', pauseMs: 30_000, reason: 'no key', scope: 'this machine' },
  { kind: 'batch-paused', batch: 'b1', reason: 'There is no such model.' },
  { kind: 'submitted', schedule: 'nightly', batch: 'nightly-1' },
  { kind: 'error', code: 'queue-unavailable', message: 'The queue is away.' },
];

test('records have the task, its batch, cost and duration', () => {
  const fields = { batch: 'b1', task: 'app-1', title: 'app\nname', lane: 'anthropic', attempt: 2 };
  expect(EVENTS.slice(3).map(createWorkerEventRecord)).toEqual([
    { event: 'claimed', ...fields },
    { event: 'finished', ...fields, outcome: 'failed', costUsd: 0.25, durationMs: 1500, reason: 'no luck' },
    { event: 'finished', ...fields, outcome: 'returned', costUsd: 0.25, durationMs: 1500, reason: 'stopped' },
    { event: 'paused', lane: 'anthropic', pauseMs: 30_000, reason: 'outage', scope: 'all machines' },
    { event: 'paused', lane: 'openai', pauseMs: 30_000, reason: 'no key', scope: 'this machine' },
    { event: 'batch-paused', batch: 'b1', reason: 'There is no such model.' },
    { event: 'submitted', schedule: 'nightly', batch: 'nightly-1' },
    { event: 'error', code: 'queue-unavailable', message: 'The queue is away.' },
  ]);
});

test('the text log has events that the batch status does not show', () => {
  expect(EVENTS.map(formatWorkerEvent).filter((line) => line !== undefined)).toEqual([
    'openai is not available here, next try in 30 s: no key',
    'Paused batch b1: There is no such model. Then continue with: ouro batch resume b1',
    'Schedule nightly is due: submitted batch nightly-1.',
    'The queue is away.',
  ]);
});

test('metrics count the events, in the text format of Prometheus', () => {
  const totals = EVENTS.reduce(addEventToWorkerTotals, NO_WORKER_TOTALS);
  const samples = formatWorkerMetrics(totals)
    .split('\n')
    .filter((line) => !line.startsWith('#'));
  expect(samples).toEqual([
    'ouro_worker_slots 3',
    'ouro_worker_tasks_running 1',
    'ouro_worker_attempts_total{outcome="done"} 0',
    'ouro_worker_attempts_total{outcome="failed"} 1',
    'ouro_worker_attempts_total{outcome="returned"} 1',
    'ouro_worker_cost_dollars_total 0.5',
    'ouro_worker_attempt_seconds_total 3.001',
    'ouro_worker_lane_pauses_total 2',
    'ouro_worker_errors_total 1',
    'ouro_worker_queue_up 0',
    '',
  ]);
  expect(formatWorkerMetrics(totals)).toMatch(
    /^(?:# HELP (\w+) [^\n]+\n# TYPE \1 (?:gauge|counter)\n(?:\1(?:\{\w+="\w+"\})? [\d.]+\n)+)+$/,
  );
  expect(formatWorkerMetrics(addEventToWorkerTotals(totals, { kind: 'reconnected' }))).toContain(
    'ouro_worker_queue_up 1\n',
  );
});
