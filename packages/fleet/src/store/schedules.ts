import { z } from 'zod';
import type { BatchScheduleView, DueBatchSchedule, NewBatch, NewBatchSchedule, NewBatchTask } from './batch.ts';
import type { SqlDatabase, SqlRow, SqlTransaction } from './database.ts';
import {
  acceptNull,
  newBatchSchema,
  newTaskSchema,
  numberColumnSchema,
  parsedJson,
  rowNumberSchema,
  textColumnSchema,
} from './schema.ts';
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
  return rows.flatMap((row) => parseDueSchedule(row) ?? []);
}

/** Submits a due run exactly once, and skips the times that have passed meanwhile. */
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

const UNREADABLE_BATCH: NewBatch = {
  id: '',
  name: '(damaged)',
  priority: 0,
  collect: { as: 'patches', name: 'ouro/unreadable' },
  limits: { each: 0, all: 0, attempts: 1, atOnce: 1 },
};

const scheduleRow = z.object({
  id: textColumnSchema,
  every_ms: rowNumberSchema,
  next_ms: rowNumberSchema,
  batch: parsedJson.pipe(newBatchSchema.catch(UNREADABLE_BATCH)),
  task_count: rowNumberSchema,
  last_batch: acceptNull(textColumnSchema),
  problem: acceptNull(textColumnSchema),
});

/** Parses a row of `fleet_schedules` for display. */
function parseFleetScheduleRow(row: SqlRow): BatchScheduleView {
  const { id, batch, every_ms: everyMs, next_ms: nextMs, task_count: taskCount, ...rest } = scheduleRow.parse(row);
  const problem = batch === UNREADABLE_BATCH ? 'its record is damaged; delete it and store it again' : rest.problem;
  return { id, everyMs, batch, taskCount, nextMs, lastBatch: rest.last_batch, problem };
}

const dueSchedule = z.object({
  version: numberColumnSchema,
  every_ms: numberColumnSchema,
  next_ms: numberColumnSchema,
  batch: parsedJson.pipe(newBatchSchema),
  tasks: parsedJson.pipe(z.array(newTaskSchema)),
});

/** Parses a row of `fleet_schedules` with its tasks; `undefined` if it is damaged. */
function parseDueSchedule(row: SqlRow): DueBatchSchedule | undefined {
  const due = dueSchedule.safeParse(row).data;
  if (due === undefined) return undefined;
  const { version, tasks } = due;
  const { id, everyMs, batch, nextMs: dueMs } = parseFleetScheduleRow(row);
  return { id, everyMs, batch, dueMs, version, tasks };
}
