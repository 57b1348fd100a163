import type { BatchScheduleView, DueBatchSchedule, NewBatchSchedule, NewBatchTask } from '../../contracts/fleet.ts';
import type { SqlDatabase, SqlTransaction } from './database.ts';
import { parseDueSchedule, parseFleetScheduleRow } from './schema.ts';
import { insertBatch } from './submit-batch.ts';

/** Stores a schedule. A replaced one keeps its next time, unless the new interval ends earlier. */
export async function saveSchedule(tx: SqlTransaction, { id, everyMs, batch, tasks }: NewBatchSchedule): Promise<void> {
  const now = await tx.now();
  await tx.query(
    `INSERT INTO fleet_schedules (id, version, every_ms, next_ms, batch, tasks, task_count) VALUES (?, 1, ?, ?, ?, ?, ?)
     ON CONFLICT (id) DO UPDATE SET version = fleet_schedules.version + 1, every_ms = excluded.every_ms,
       next_ms = CASE WHEN fleet_schedules.next_ms < excluded.next_ms + excluded.every_ms
         THEN fleet_schedules.next_ms ELSE excluded.next_ms + excluded.every_ms END,
       batch = excluded.batch, tasks = excluded.tasks, task_count = excluded.task_count, problem = NULL`,
    ...[id, everyMs, now, JSON.stringify(batch), JSON.stringify(tasks), tasks.length],
  );
}

/** Lists the schedules by id. */
export async function listSchedules(tx: SqlTransaction): Promise<readonly BatchScheduleView[]> {
  return (await tx.query('SELECT * FROM fleet_schedules ORDER BY id')).map(parseFleetScheduleRow);
}

/** Lists the schedules that are due. A run that has not ended delays the next one, so that runs do not pile up. */
export async function listDueSchedules(tx: SqlTransaction): Promise<readonly DueBatchSchedule[]> {
  const rows = await tx.query(
    `SELECT * FROM fleet_schedules s WHERE next_ms <= ? AND NOT EXISTS
       (SELECT 1 FROM fleet_tasks t WHERE t.batch = s.last_batch AND t.state IN ('waiting', 'running', 'held'))
     ORDER BY next_ms, id`,
    await tx.now(),
  );
  return rows.map(parseDueSchedule);
}

/**
 * Submits a run that is due. The update moves the schedule on only if nobody else has, so each time has one run; times
 * that have passed meanwhile are skipped.
 */
export function submitScheduledRun(
  sql: SqlDatabase,
  { id, version, dueMs, everyMs, batch }: DueBatchSchedule,
  tasks: readonly NewBatchTask[],
): Promise<string | undefined> {
  return sql.transaction(async (tx) => {
    const missed = Math.max(0, Math.floor(((await tx.now()) - dueMs) / everyMs));
    const run = `${id}-${formatTime(dueMs)}`;
    const moved = await tx.query(
      `UPDATE fleet_schedules SET next_ms = ?, last_batch = ?, problem = NULL
       WHERE id = ? AND version = ? AND next_ms = ? RETURNING id`,
      ...[dueMs + (missed + 1) * everyMs, run, id, version, dueMs],
    );
    if (moved.length === 0) return undefined;
    await insertBatch(tx, { ...batch, id: run, name: run }, tasks);
    return run;
  });
}

/** Formats a time for the id of a batch: `20260131-170500`. */
const formatTime = (ms: number): string =>
  new Date(ms).toISOString().slice(0, 19).replaceAll(/[-:]/g, '').replace('T', '-');

/** Records why a run was not submitted. */
export async function recordScheduleProblem(tx: SqlTransaction, id: string, problem: string): Promise<void> {
  await tx.query('UPDATE fleet_schedules SET problem = ? WHERE id = ?', problem, id);
}

/** Deletes a schedule. Returns whether there was one. */
export async function deleteSchedule(tx: SqlTransaction, id: string): Promise<boolean> {
  return (await tx.query('DELETE FROM fleet_schedules WHERE id = ? RETURNING id', id)).length > 0;
}
