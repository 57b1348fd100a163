import type { Order, TaskState } from '../../contracts/fleet.ts';
import type { JobQueue } from './job-queue.ts';
import { readAttempt, readBatch, readTask, type TaskRow } from './rows.ts';
import { closeLost, releaseSummary } from './settle.ts';
import type { Sql, Transaction } from './sql.ts';
import { queueOf } from './submit.ts';

type Parts = { readonly sql: Sql; readonly queue: JobQueue };

/** What people do to a batch, in one transaction. Answers how many tasks it concerned. */
export function giveOrder({ sql, queue }: Parts, batch: string, order: Order): Promise<number> {
  return sql.transaction(async (tx) => {
    const [found] = await tx.all(`SELECT * FROM fleet_batches WHERE id = ?${sql.forUpdate}`, batch);
    if (found === undefined) throw new Error(`There is no batch ${batch}. "ouro batch" lists those there are.`);
    const { limits } = readBatch(found);
    switch (order.order) {
      case 'pause':
        return setState(tx, batch, 'paused');
      case 'resume':
        return resume(queue, tx, batch);
      case 'cancel':
        return cancel(queue, tx, batch, order.keys);
      case 'retry':
        return retry(queue, tx, batch, order.keys);
      default:
        await tx.all('UPDATE fleet_batches SET limit_all = ? WHERE id = ?', limits.all + order.more, batch);
        return 0;
    }
  });
}

async function setState(tx: Transaction, batch: string, state: 'open' | 'paused' | 'cancelled'): Promise<number> {
  await tx.all('UPDATE fleet_batches SET state = ? WHERE id = ?', state, batch);
  return 0;
}

/** Goes on after a pause or a cancel; what rested for want of quota or a key is tried again, too. */
async function resume(queue: JobQueue, tx: Transaction, batch: string): Promise<number> {
  await setState(tx, batch, 'open');
  await tx.all(
    'UPDATE fleet_lanes SET until_ms = 0 WHERE name IN (SELECT lane FROM fleet_tasks WHERE batch = ?)',
    batch,
  );
  return again(queue, tx, batch, await tasksIn(tx, batch, ['cancelled']));
}

async function cancel(queue: JobQueue, tx: Transaction, batch: string, keys?: readonly string[]): Promise<number> {
  if (keys === undefined) await setState(tx, batch, 'cancelled');
  const tasks = (await tasksIn(tx, batch, ['waiting', 'running', 'held'])).filter((task) => isMeant(task, keys));
  for (const [lane, some] of Map.groupBy(tasks, (task) => task.lane))
    await queue.cancel(
      tx,
      queueOf(batch, lane),
      some.filter((task) => task.state !== 'held').map(({ job }) => job),
    );
  const now = await tx.now();
  for (const { task_key: key } of tasks)
    await tx.all(
      "UPDATE fleet_tasks SET state = 'cancelled', doing = NULL, ended_ms = ? WHERE batch = ? AND task_key = ?",
      ...[now, batch, key],
    );
  return tasks.length;
}

async function retry(queue: JobQueue, tx: Transaction, batch: string, keys?: readonly string[]): Promise<number> {
  const tasks = (await tasksIn(tx, batch, ['failed', 'cancelled'])).filter((task) => isMeant(task, keys));
  return again(queue, tx, batch, tasks);
}

/** Tasks begin again with all their attempts; a summary waits anew for what it sums up. */
async function again(queue: JobQueue, tx: Transaction, batch: string, tasks: readonly TaskRow[]): Promise<number> {
  const work = tasks.filter(({ kind }) => kind === 'work');
  await dropAttempts(tx, batch, tasks);
  for (const { task_key: key, kind } of tasks)
    await tx.all(
      `UPDATE fleet_tasks SET state = ?, tries = 0, reason = NULL, ended_ms = NULL WHERE batch = ? AND task_key = ?`,
      ...[kind === 'work' ? 'waiting' : 'held', batch, key],
    );
  if (work.length > 0)
    await tx.all(
      "UPDATE fleet_tasks SET state = 'held', tries = 0 WHERE batch = ? AND kind = 'summary' AND state IN ('done', 'failed')",
      batch,
    );
  for (const [lane, some] of Map.groupBy(work, (task) => task.lane))
    await queue.add(
      tx,
      queueOf(batch, lane),
      some.map(({ job, priority, seq }) => ({ id: job, priority, seq })),
    );
  await releaseSummary({ queue }, tx, batch);
  return tasks.length;
}

/** Whoever still holds one of the tasks, and has not heard yet that it was cancelled, holds it no more. */
async function dropAttempts(tx: Transaction, batch: string, tasks: readonly TaskRow[]): Promise<void> {
  const open = await tx.all('SELECT * FROM fleet_attempts WHERE batch = ? AND ended_ms IS NULL', batch);
  const keys = new Set(tasks.map((task) => task.task_key));
  for (const attempt of open.map(readAttempt)) if (keys.has(attempt.task_key)) await closeLost(tx, attempt);
}

async function tasksIn(tx: Transaction, batch: string, states: readonly TaskState[]): Promise<readonly TaskRow[]> {
  const rows = await tx.all('SELECT * FROM fleet_tasks WHERE batch = ? ORDER BY seq', batch);
  return rows.map(readTask).filter(({ state }) => states.includes(state));
}

const isMeant = ({ task_key: key }: TaskRow, keys: readonly string[] | undefined): boolean =>
  keys === undefined || keys.includes(key);
