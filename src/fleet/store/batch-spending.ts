import type { BatchLimits, LostBatchTask, MicroDollars } from '../../contracts/fleet.ts';
import type { SqlDatabase, SqlTransaction } from './database.ts';

/** The spending of a batch: paid so far, reserved for running attempts, and the number of running attempts. */
export type BatchSpending = {
  readonly spent: MicroDollars;
  readonly reserved: MicroDollars;
  readonly runningAttempts: number;
};

/**
 * Sums up the spending of a batch. The unspent budget of a running attempt is reserved. Late and lost attempts count,
 * because they were paid for.
 */
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
export async function findLowestTaskBudget(
  tx: SqlTransaction,
  batch: string,
  { each }: BatchLimits,
): Promise<MicroDollars> {
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
