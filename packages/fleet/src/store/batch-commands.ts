import { closeLostAttempt, releaseSummaryTask } from './attempts.ts';
import type { BatchControlCommand, BatchTaskState } from './batch.ts';
import type { SqlDatabase, SqlTransaction } from './database.ts';
import { type FleetTaskRow, parseFleetAttemptRow, parseFleetBatchRow, parseFleetTaskRow } from './schema.ts';

/** Applies a command to a batch in one transaction. Returns the number of affected tasks. */
export function applyBatchControlCommand(sql: SqlDatabase, batch: string, order: BatchControlCommand): Promise<number> {
  return sql.transaction(async (tx) => {
    const [found] = await tx.query(`SELECT * FROM fleet_batches WHERE id = ?${sql.forUpdate}`, batch);
    if (found === undefined) throw new Error(`There is no batch ${batch}. List the batches with: ouro batch`);
    const { limits } = parseFleetBatchRow(found);
    switch (order.command) {
      case 'pause':
        await tx.query("UPDATE fleet_batches SET state = 'paused' WHERE id = ? AND state = 'open'", batch);
        return 0;
      case 'resume':
        return resumeBatch(tx, batch);
      case 'cancel':
        return cancelBatchTasks(tx, batch, order.keys);
      case 'retry':
        return retryTasks(tx, batch, order.keys);
      default:
        await tx.query('UPDATE fleet_batches SET limit_all = ? WHERE id = ?', limits.all + order.more, batch);
        return 0;
    }
  });
}

async function setState(tx: SqlTransaction, batch: string, state: 'open' | 'cancelled'): Promise<void> {
  await tx.query('UPDATE fleet_batches SET state = ? WHERE id = ?', state, batch);
}

/** Resumes a batch after a pause or a cancel, with its paused lanes and the tasks that wait for a retry. */
async function resumeBatch(tx: SqlTransaction, batch: string): Promise<number> {
  await setState(tx, batch, 'open');
  await tx.query(
    'UPDATE fleet_lanes SET until_ms = 0 WHERE name IN (SELECT lane FROM fleet_tasks WHERE batch = ?)',
    batch,
  );
  await tx.query("UPDATE fleet_tasks SET due_ms = 0 WHERE batch = ? AND state = 'waiting'", batch);
  return restartTasks(tx, batch, await listTasks(tx, batch, ['cancelled']));
}

/** Cancels the open tasks of a batch, or some of them. Returns their number. */
export async function cancelBatchTasks(tx: SqlTransaction, batch: string, keys?: readonly string[]): Promise<number> {
  if (keys === undefined) await setState(tx, batch, 'cancelled');
  const tasks = (await listTasks(tx, batch, ['waiting', 'running', 'held'])).filter((task) => isSelected(task, keys));
  const now = await tx.now();
  for (const { task_key: key } of tasks)
    await tx.query(
      "UPDATE fleet_tasks SET state = 'cancelled', doing = NULL, ended_ms = ? WHERE batch = ? AND task_key = ?",
      ...[now, batch, key],
    );
  return tasks.length;
}

async function retryTasks(tx: SqlTransaction, batch: string, keys?: readonly string[]): Promise<number> {
  const tasks = (await listTasks(tx, batch, ['failed', 'cancelled'])).filter((task) => isSelected(task, keys));
  return restartTasks(tx, batch, tasks);
}

/** Restarts tasks with all their attempts. The summary waits for them again. */
async function restartTasks(tx: SqlTransaction, batch: string, tasks: readonly FleetTaskRow[]): Promise<number> {
  const work = tasks.filter(({ kind }) => kind === 'work');
  await closeOpenAttempts(tx, batch, tasks);
  for (const { task_key: key, kind } of tasks)
    await tx.query(
      `UPDATE fleet_tasks SET state = ?, tries = 0, reason = NULL, ended_ms = NULL, due_ms = 0 WHERE batch = ? AND task_key = ?`,
      ...[kind === 'work' ? 'waiting' : 'held', batch, key],
    );
  if (work.length > 0)
    await tx.query(
      "UPDATE fleet_tasks SET state = 'held', tries = 0 WHERE batch = ? AND kind = 'summary' AND state IN ('done', 'failed')",
      batch,
    );
  await releaseSummaryTask(tx, batch);
  return tasks.length;
}

/** Closes running attempts of the tasks, whose workers may not know yet that the task was cancelled. */
async function closeOpenAttempts(tx: SqlTransaction, batch: string, tasks: readonly FleetTaskRow[]): Promise<void> {
  const open = await tx.query('SELECT * FROM fleet_attempts WHERE batch = ? AND ended_ms IS NULL', batch);
  const keys = new Set(tasks.map((task) => task.task_key));
  for (const attempt of open.map(parseFleetAttemptRow))
    if (keys.has(attempt.task_key)) await closeLostAttempt(tx, attempt);
}

async function listTasks(
  tx: SqlTransaction,
  batch: string,
  states: readonly BatchTaskState[],
): Promise<readonly FleetTaskRow[]> {
  const rows = await tx.query('SELECT * FROM fleet_tasks WHERE batch = ? ORDER BY seq', batch);
  return rows.map(parseFleetTaskRow).filter(({ state }) => states.includes(state));
}

const isSelected = ({ task_key: key }: FleetTaskRow, keys: readonly string[] | undefined): boolean =>
  keys === undefined || keys.includes(key);

/** Copies the results of identical tasks that are done in other batches. Returns their number. */
export function reuseTaskResults(sql: SqlDatabase, batch: string): Promise<number> {
  return sql.transaction(async (tx) => {
    await tx.query(`SELECT id FROM fleet_batches WHERE id = ?${sql.forUpdate}`, batch);
    const waiting = await tx.query(
      "SELECT * FROM fleet_tasks WHERE batch = ? AND state = 'waiting' AND kind = 'work' ORDER BY seq",
      batch,
    );
    let reused = 0;
    for (const task of waiting.map(parseFleetTaskRow)) if (await copyResult(tx, batch, task)) reused += 1;
    if (reused > 0) await releaseSummaryTask(tx, batch);
    return reused;
  });
}

async function copyResult(tx: SqlTransaction, batch: string, task: FleetTaskRow): Promise<boolean> {
  const { task_key: key } = task;
  const [row] = await tx.query(
    "SELECT * FROM fleet_tasks WHERE task_key = ? AND batch <> ? AND state = 'done' ORDER BY ended_ms DESC LIMIT 1",
    ...[key, batch],
  );
  if (row === undefined) return false;
  const done = parseFleetTaskRow(row);
  await tx.query(
    `UPDATE fleet_tasks SET state = 'done', result = ?, session = ?, machine = ?, reason = ?, ended_ms = ?
     WHERE batch = ? AND task_key = ?`,
    ...[done.result ?? null, done.session ?? null, done.machine ?? null, `taken over from ${String(row.batch)}`],
    ...[await tx.now(), batch, key],
  );
  await tx.query(
    `INSERT INTO fleet_files (batch, task_key, kind, content)
     SELECT ?, task_key, kind, content FROM fleet_files WHERE batch = ? AND task_key = ?
     ON CONFLICT (batch, task_key, kind) DO NOTHING`,
    ...[batch, String(row.batch), key],
  );
  return true;
}
