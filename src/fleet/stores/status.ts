import type { AttemptView, BatchStatus, Counts, TaskState, TaskView, Waiting } from '../../contracts/fleet.ts';
import { formatMoney } from '../../lib/text/format.ts';
import { type Ledger, leastNeeded, ledgerOf } from './money.ts';
import { attemptView, type BatchRow, readAttempt, readBatch, readLane, readTask, taskView } from './rows.ts';
import { places, type Transaction } from './sql.ts';

export async function allBatches(tx: Transaction): Promise<readonly BatchStatus[]> {
  const rows = (await tx.all('SELECT * FROM fleet_batches ORDER BY created_ms DESC, id')).map(readBatch);
  const found: BatchStatus[] = [];
  for (const row of rows) found.push(await statusOf(tx, row));
  return found;
}

export async function oneBatch(tx: Transaction, id: string): Promise<BatchStatus | undefined> {
  const [row] = await tx.all('SELECT * FROM fleet_batches WHERE id = ?', id);
  return row === undefined ? undefined : statusOf(tx, readBatch(row));
}

async function statusOf(tx: Transaction, batch: BatchRow): Promise<BatchStatus> {
  const counts = await countsOf(tx, batch.id);
  const { spent, reserved, open } = await ledgerOf(tx, batch.id);
  const median = await medianCost(tx, batch.id);
  const [last] = await tx.all(
    'SELECT max(coalesce(ended_ms, beat_ms)) AS last FROM fleet_attempts WHERE batch = ?',
    batch.id,
  );
  return {
    ...batch,
    counts,
    lastMs: Math.max(batch.createdMs, Number(last?.last ?? 0)),
    spent,
    reserved,
    expected: median === undefined ? undefined : median * (counts.waiting + counts.running + counts.held),
    waits: counts.waiting === 0 || batch.state !== 'open' ? [] : await waitsOf(tx, batch, { spent, reserved, open }),
  };
}

async function countsOf(tx: Transaction, batch: string): Promise<Counts> {
  const rows = await tx.all('SELECT state, count(*) AS tasks FROM fleet_tasks WHERE batch = ? GROUP BY state', batch);
  const of = (state: TaskState) => Number(rows.find((row) => row.state === state)?.tasks ?? 0);
  return {
    held: of('held'),
    waiting: of('waiting'),
    running: of('running'),
    done: of('done'),
    failed: of('failed'),
    cancelled: of('cancelled'),
  };
}

/** What the middle one of the tasks that are done has cost. */
async function medianCost(tx: Transaction, batch: string): Promise<number | undefined> {
  const rows = await tx.all(
    `SELECT sum(a.cost) AS cost FROM fleet_attempts a JOIN fleet_tasks t ON t.batch = a.batch AND t.task_key = a.task_key
     WHERE a.batch = ? AND t.state = 'done' GROUP BY a.task_key ORDER BY sum(a.cost)`,
    batch,
  );
  const middle = rows[Math.floor(rows.length / 2)];
  return middle === undefined ? undefined : Number(middle.cost);
}

async function waitsOf(
  tx: Transaction,
  { id, limits }: BatchRow,
  { spent, reserved }: Ledger,
): Promise<readonly Waiting[]> {
  const isDear = spent + reserved + (await leastNeeded(tx, id, limits)) > limits.all;
  const money: readonly Waiting[] = isDear
    ? [{ kind: 'money', words: `the next task may cost more than is left of ${formatMoney(limits.all / 1e6)}` }]
    : [];
  const now = await tx.now();
  const lanes = await tx.all(
    `SELECT * FROM fleet_lanes WHERE until_ms > ?
     AND name IN (SELECT DISTINCT lane FROM fleet_tasks WHERE batch = ? AND state = 'waiting')`,
    ...[now, id],
  );
  return [
    ...money,
    ...lanes
      .map(readLane)
      .map(({ name, until_ms: untilMs, words }) => ({ kind: 'lane' as const, lane: name, untilMs, words })),
  ];
}

export async function tasksOf(
  tx: Transaction,
  batch: string,
  states?: readonly TaskState[],
): Promise<readonly TaskView[]> {
  const some = states === undefined || states.length === 0 ? '' : ` AND t.state IN (${places(states.length)})`;
  const rows = await tx.all(
    `SELECT t.*, coalesce(a.cost, 0) AS cost FROM fleet_tasks t
     LEFT JOIN (SELECT task_key, sum(cost) AS cost FROM fleet_attempts WHERE batch = ? GROUP BY task_key) a
       ON a.task_key = t.task_key
     WHERE t.batch = ?${some} ORDER BY t.seq, t.task_key`,
    ...[batch, batch, ...(states ?? [])],
  );
  return rows.map((row) => taskView(readTask({ ...row, cost: Number(row.cost) })));
}

export async function attemptsOf(tx: Transaction, batch: string, key: string): Promise<readonly AttemptView[]> {
  const rows = await tx.all(
    'SELECT * FROM fleet_attempts WHERE batch = ? AND task_key = ? ORDER BY started_ms, token',
    ...[batch, key],
  );
  return rows.map((row) => attemptView(readAttempt(row)));
}

export async function isAllSettled(tx: Transaction, batch?: string): Promise<boolean> {
  const [row] = await tx.all(
    `SELECT count(*) AS open FROM fleet_tasks t JOIN fleet_batches b ON b.id = t.batch
     WHERE t.state IN ('waiting', 'running', 'held') AND b.state = 'open' AND b.id = coalesce(?, b.id)`,
    batch ?? null,
  );
  return Number(row?.open) === 0;
}
