import { formatMoney } from '@ouro-cli/ouro/commands';
import type {
  BatchLimits,
  BatchStatus,
  BatchTaskCounts,
  BatchTaskState,
  BatchTaskView,
  BatchTaskWaitReason,
  LostBatchTask,
  MicroDollars,
  TaskAttemptView,
} from './batch.ts';
import { createSqlPlaceholders, type SqlDatabase, type SqlTransaction } from './database.ts';
import {
  createBatchTaskView,
  createTaskAttemptView,
  type FleetBatchRow,
  parseFleetAttemptRow,
  parseFleetBatchRow,
  parseFleetLaneRow,
  parseFleetTaskRow,
} from './schema.ts';

/** Lists all batches with their status, newest first. */
export async function listBatches(tx: SqlTransaction): Promise<readonly BatchStatus[]> {
  const rows = (await tx.query('SELECT * FROM fleet_batches ORDER BY created_ms DESC, id')).map(parseFleetBatchRow);
  const statuses: BatchStatus[] = [];
  for (const row of rows) statuses.push(await computeStatus(tx, row));
  return statuses;
}

export async function getBatchStatus(tx: SqlTransaction, id: string): Promise<BatchStatus | undefined> {
  const [row] = await tx.query('SELECT * FROM fleet_batches WHERE id = ?', id);
  return row === undefined ? undefined : computeStatus(tx, parseFleetBatchRow(row));
}

async function computeStatus(tx: SqlTransaction, batch: FleetBatchRow): Promise<BatchStatus> {
  const counts = await countTasks(tx, batch.id);
  const { spent, reserved, runningAttempts } = await computeBatchSpending(tx, batch.id);
  const median = await medianCost(tx, batch.id);
  const [last] = await tx.query(
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
    waits:
      counts.waiting === 0 || batch.state === 'cancelled'
        ? []
        : batch.state === 'paused'
          ? await listReturnReasons(tx, batch.id)
          : await findWaitReasons(tx, batch, { spent, reserved, runningAttempts }),
  };
}

async function countTasks(tx: SqlTransaction, batch: string): Promise<BatchTaskCounts> {
  const rows = await tx.query('SELECT state, count(*) AS tasks FROM fleet_tasks WHERE batch = ? GROUP BY state', batch);
  const count = (state: BatchTaskState) => Number(rows.find((row) => row.state === state)?.tasks ?? 0);
  return {
    held: count('held'),
    waiting: count('waiting'),
    running: count('running'),
    done: count('done'),
    // Damaged states, too, so that a batch with one never counts as done.
    failed: rows.reduce((sum, row) => sum + (isFailedState(row.state) ? Number(row.tasks) : 0), 0),
    cancelled: count('cancelled'),
  };
}

const NOT_FAILED: readonly unknown[] = ['held', 'waiting', 'running', 'done', 'cancelled'];
const isFailedState = (state: unknown): boolean => !NOT_FAILED.includes(state);

/** Returns the median cost of the finished tasks. */
async function medianCost(tx: SqlTransaction, batch: string): Promise<number | undefined> {
  const rows = await tx.query(
    `SELECT sum(a.cost) AS cost FROM fleet_attempts a JOIN fleet_tasks t ON t.batch = a.batch AND t.task_key = a.task_key
     WHERE a.batch = ? AND t.state = 'done' GROUP BY a.task_key ORDER BY sum(a.cost)`,
    batch,
  );
  const middle = rows[Math.floor(rows.length / 2)];
  return middle === undefined ? undefined : Number(middle.cost);
}

async function findWaitReasons(
  tx: SqlTransaction,
  { id, limits }: FleetBatchRow,
  { spent, reserved }: BatchSpending,
): Promise<readonly BatchTaskWaitReason[]> {
  const isBudgetUsedUp = spent + reserved + (await findLowestTaskBudget(tx, id, limits)) > limits.all;
  const budgetReasons: readonly BatchTaskWaitReason[] = isBudgetUsedUp
    ? [
        {
          kind: 'money',
          words: `the rest of the budget of ${formatMoney(limits.all / 1e6)} may not cover the next task`,
        },
      ]
    : [];
  const now = await tx.now();
  const lanes = await tx.query(
    `SELECT * FROM fleet_lanes WHERE until_ms > ?
     AND name IN (SELECT DISTINCT lane FROM fleet_tasks WHERE batch = ? AND state = 'waiting')`,
    ...[now, id],
  );
  return [
    ...budgetReasons,
    ...lanes
      .map(parseFleetLaneRow)
      .map(({ name, until_ms: untilMs, words }) => ({ kind: 'lane' as const, lane: name, untilMs, words })),
    ...(await listReturnReasons(tx, id)),
  ];
}

const MAX_RETURN_REASONS = 5;

/** Lists what machines have returned waiting tasks for, the most frequent first. */
async function listReturnReasons(tx: SqlTransaction, batch: string): Promise<readonly BatchTaskWaitReason[]> {
  const rows = await tx.query(
    `SELECT reason, count(*) AS tasks FROM fleet_tasks WHERE batch = ? AND state = 'waiting' AND reason IS NOT NULL
     GROUP BY reason ORDER BY count(*) DESC, reason LIMIT ${MAX_RETURN_REASONS}`,
    batch,
  );
  return rows.map(({ reason, tasks }) => ({ kind: 'returned', tasks: Number(tasks), words: String(reason) }));
}

/** Lists the tasks of a batch, optionally only those in certain states. */
export async function listBatchTaskViews(
  tx: SqlTransaction,
  batch: string,
  states?: readonly BatchTaskState[],
): Promise<readonly BatchTaskView[]> {
  const stateFilter =
    states === undefined || states.length === 0 ? '' : ` AND t.state IN (${createSqlPlaceholders(states.length)})`;
  const rows = await tx.query(
    `SELECT t.*, coalesce(a.cost, 0) AS cost FROM fleet_tasks t
     LEFT JOIN (SELECT task_key, sum(cost) AS cost FROM fleet_attempts WHERE batch = ? GROUP BY task_key) a
       ON a.task_key = t.task_key
     WHERE t.batch = ?${stateFilter} ORDER BY t.seq, t.task_key`,
    ...[batch, batch, ...(states ?? [])],
  );
  return rows.map((row) => createBatchTaskView(parseFleetTaskRow({ ...row, cost: Number(row.cost) })));
}

/** Lists the attempts of a task, oldest first. */
export async function listTaskAttemptViews(
  tx: SqlTransaction,
  batch: string,
  key: string,
): Promise<readonly TaskAttemptView[]> {
  const rows = await tx.query(
    'SELECT * FROM fleet_attempts WHERE batch = ? AND task_key = ? ORDER BY started_ms, token',
    ...[batch, key],
  );
  return rows.map((row) => createTaskAttemptView(parseFleetAttemptRow(row)));
}

/** Returns whether no task is running or can still start, in a batch or in all. */
export async function areBatchTasksSettled(tx: SqlTransaction, batch?: string): Promise<boolean> {
  const [row] = await tx.query(
    `SELECT count(*) AS open FROM fleet_tasks t JOIN fleet_batches b ON b.id = t.batch
     WHERE t.state IN ('waiting', 'running', 'held') AND b.state = 'open' AND b.id = coalesce(?, b.id)`,
    batch ?? null,
  );
  return Number(row?.open) === 0;
}

/** The spending of a batch: paid so far, reserved for running attempts, and the number of running attempts. */
type BatchSpending = {
  readonly spent: MicroDollars;
  readonly reserved: MicroDollars;
  readonly runningAttempts: number;
};

/** Sums up a batch's spending: paid attempts, late and lost ones too, and budgets of running ones. */
export async function computeBatchSpending(tx: SqlTransaction, batch: string): Promise<BatchSpending> {
  const [row] = await tx.query(
    `SELECT coalesce(sum(cost), 0) AS spent,
       coalesce(sum(CASE WHEN ended_ms IS NULL AND reserved > cost THEN reserved - cost ELSE 0 END), 0) AS reserved,
       coalesce(sum(CASE WHEN ended_ms IS NULL THEN 1 ELSE 0 END), 0) AS open
     FROM fleet_attempts WHERE batch = ?`,
    batch,
  );
  return { spent: Number(row?.spent), reserved: Number(row?.reserved), runningAttempts: Number(row?.open) };
}

/** Returns the cost of all attempts of a task. */
async function computeTaskCost(tx: SqlTransaction, batch: string, key: string): Promise<MicroDollars> {
  const [row] = await tx.query(
    'SELECT coalesce(sum(cost), 0) AS spent FROM fleet_attempts WHERE batch = ? AND task_key = ?',
    batch,
    key,
  );
  return Number(row?.spent);
}

/** Returns the lowest budget a waiting task needs. A task with earlier attempts needs only the rest of its limit. */
async function findLowestTaskBudget(tx: SqlTransaction, batch: string, { each }: BatchLimits): Promise<MicroDollars> {
  // `coalesce` prevents the use of the state index: the tasks must be found by key, not among all waiting tasks.
  const [row] = await tx.query(
    `SELECT max(begun.spent) AS most FROM
       (SELECT task_key, sum(cost) AS spent FROM fleet_attempts WHERE batch = ? GROUP BY task_key) AS begun
     WHERE EXISTS (SELECT 1 FROM fleet_tasks t
       WHERE t.batch = ? AND t.task_key = begun.task_key AND coalesce(t.state, '') = 'waiting')`,
    ...[batch, batch],
  );
  return Math.max(0, each - Number(row?.most ?? 0));
}

/** Adds cost that a lost attempt could not report to the last attempt. A running attempt adds it itself. */
export async function addUnreportedCost(
  sql: SqlDatabase,
  tx: SqlTransaction,
  { batch, key }: Pick<LostBatchTask, 'batch' | 'key'>,
  total: MicroDollars,
): Promise<void> {
  await tx.query(`SELECT id FROM fleet_batches WHERE id = ?${sql.forUpdate}`, batch);
  const [last] = await tx.query(
    'SELECT id, ended_ms FROM fleet_attempts WHERE batch = ? AND task_key = ? ORDER BY started_ms DESC, token DESC LIMIT 1',
    ...[batch, key],
  );
  const missing = total - (await computeTaskCost(tx, batch, key));
  if (last === undefined || last.ended_ms === null || missing <= 0) return;
  await tx.query('UPDATE fleet_attempts SET cost = cost + ? WHERE id = ?', missing, String(last.id));
}
