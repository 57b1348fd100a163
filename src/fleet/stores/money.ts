import type { BatchLimits, LostTask, Micros } from '../../contracts/fleet.ts';
import type { Sql, Transaction } from './sql.ts';

/** What a batch has spent, and what its running attempts may still spend. */
export type Ledger = { readonly spent: Micros; readonly reserved: Micros; readonly open: number };

/**
 * An attempt counts with what it cost so far; while it runs, what is left of its budget is reserved. One that is late
 * or lost still counts: it was paid for.
 */
export async function ledgerOf(tx: Transaction, batch: string): Promise<Ledger> {
  const [row] = await tx.all(
    `SELECT coalesce(sum(cost), 0) AS spent,
       coalesce(sum(CASE WHEN ended_ms IS NULL AND reserved > cost THEN reserved - cost ELSE 0 END), 0) AS reserved,
       coalesce(sum(CASE WHEN ended_ms IS NULL THEN 1 ELSE 0 END), 0) AS open
     FROM fleet_attempts WHERE batch = ?`,
    batch,
  );
  return { spent: Number(row?.spent), reserved: Number(row?.reserved), open: Number(row?.open) };
}

/** What one task has cost in all its attempts. */
export async function spentOn(tx: Transaction, batch: string, key: string): Promise<Micros> {
  const [row] = await tx.all(
    'SELECT coalesce(sum(cost), 0) AS spent FROM fleet_attempts WHERE batch = ? AND task_key = ?',
    batch,
    key,
  );
  return Number(row?.spent);
}

/** What the cheapest of the tasks that wait may still cost: one that has had an attempt needs only what that left. */
export async function leastNeeded(tx: Transaction, batch: string, { each }: BatchLimits): Promise<Micros> {
  // Inside of a function the state leads to no index: the tasks are found by their keys, not among all that wait.
  const [row] = await tx.all(
    `SELECT max(begun.spent) AS most FROM
       (SELECT task_key, sum(cost) AS spent FROM fleet_attempts WHERE batch = ? GROUP BY task_key) AS begun
     WHERE EXISTS (SELECT 1 FROM fleet_tasks t
       WHERE t.batch = ? AND t.task_key = begun.task_key AND coalesce(t.state, '') = 'waiting')`,
    ...[batch, batch],
  );
  return Math.max(0, each - Number(row?.most ?? 0));
}

/** Books what nobody could tell of any more with the last attempt. While another one runs, that one books it itself. */
export async function chargeTask(
  sql: Sql,
  tx: Transaction,
  { batch, key }: Pick<LostTask, 'batch' | 'key'>,
  total: Micros,
): Promise<void> {
  await tx.all(`SELECT id FROM fleet_batches WHERE id = ?${sql.forUpdate}`, batch);
  const [last] = await tx.all(
    'SELECT id, ended_ms FROM fleet_attempts WHERE batch = ? AND task_key = ? ORDER BY started_ms DESC, token DESC LIMIT 1',
    ...[batch, key],
  );
  const missing = total - (await spentOn(tx, batch, key));
  if (last === undefined || last.ended_ms === null || missing <= 0) return;
  await tx.all('UPDATE fleet_attempts SET cost = cost + ? WHERE id = ?', missing, String(last.id));
}
