import type { BatchLimits, Micros } from '../../contracts/fleet.ts';
import type { Transaction } from './sql.ts';

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
  const [row] = await tx.all(
    `SELECT min(CASE WHEN spent > ? THEN 0 ELSE ? - spent END) AS least FROM
       (SELECT coalesce(sum(a.cost), 0) AS spent FROM fleet_tasks t
        LEFT JOIN fleet_attempts a ON a.batch = t.batch AND a.task_key = t.task_key
        WHERE t.batch = ? AND t.state = 'waiting' GROUP BY t.task_key) AS waiting`,
    ...[each, each, batch],
  );
  return Number(row?.least);
}
