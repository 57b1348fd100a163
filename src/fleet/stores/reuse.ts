import type { JobQueue } from './job-queue.ts';
import { readTask, type TaskRow } from './rows.ts';
import { releaseSummary } from './settle.ts';
import type { Sql, Transaction } from './sql.ts';
import { queueOf } from './submit.ts';

/**
 * Takes over what the same task came to in another batch: what waits and is done elsewhere need not be paid for again.
 * Answers how many.
 */
export function reuseResults(sql: Sql, queue: JobQueue, batch: string): Promise<number> {
  return sql.transaction(async (tx) => {
    await tx.all(`SELECT id FROM fleet_batches WHERE id = ?${sql.forUpdate}`, batch);
    const waiting = await tx.all(
      "SELECT * FROM fleet_tasks WHERE batch = ? AND state = 'waiting' AND kind = 'work' ORDER BY seq",
      batch,
    );
    let taken = 0;
    for (const task of waiting.map(readTask)) if (await takeOver(tx, queue, batch, task)) taken += 1;
    if (taken > 0) await releaseSummary({ queue }, tx, batch);
    return taken;
  });
}

async function takeOver(tx: Transaction, queue: JobQueue, batch: string, task: TaskRow): Promise<boolean> {
  const { task_key: key, job, lane } = task;
  const [row] = await tx.all(
    "SELECT * FROM fleet_tasks WHERE task_key = ? AND batch <> ? AND state = 'done' ORDER BY ended_ms DESC LIMIT 1",
    ...[key, batch],
  );
  if (row === undefined) return false;
  const done = readTask(row);
  await queue.cancel(tx, queueOf(batch, lane), [job]);
  await tx.all(
    `UPDATE fleet_tasks SET state = 'done', result = ?, session = ?, machine = ?, reason = ?, ended_ms = ?
     WHERE batch = ? AND task_key = ?`,
    ...[done.result ?? null, done.session ?? null, done.machine ?? null, `taken over from ${String(row.batch)}`],
    ...[await tx.now(), batch, key],
  );
  await tx.all(
    `INSERT INTO fleet_files (batch, task_key, kind, content)
     SELECT ?, task_key, kind, content FROM fleet_files WHERE batch = ? AND task_key = ?
     ON CONFLICT (batch, task_key, kind) DO NOTHING`,
    ...[batch, String(row.batch), key],
  );
  return true;
}
