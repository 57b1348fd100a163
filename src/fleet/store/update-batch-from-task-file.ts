import type { BatchTaskBranch, NewBatch, NewBatchTask } from '../../contracts/fleet.ts';
import { cancelBatchTasks } from './batch-commands.ts';
import type { SqlDatabase, SqlTransaction } from './database.ts';
import { addRateLimitLane } from './rate-limit-lanes.ts';
import { parseFleetBatchRow, parseFleetBranchRow } from './schema.ts';

/** Applies an edited task file to its batch. A budget that was raised by command stays unless the file changed it. */
export function updateBatchFromTaskFile(
  sql: SqlDatabase,
  { id, limits, priority, collect }: NewBatch,
  changedTasks: readonly NewBatchTask[],
): Promise<void> {
  return sql.transaction(async (tx) => {
    const [row] = await tx.query(`SELECT * FROM fleet_batches WHERE id = ?${sql.forUpdate}`, id);
    if (row === undefined) throw new Error(`There is no batch ${id}. List the batches with: ouro batch`);
    const before = parseFleetBatchRow(row);
    const all = before.submitted.limits.all === limits.all ? before.limits.all : limits.all;
    await tx.query(
      `UPDATE fleet_batches SET limit_each = ?, limit_all = ?, attempts = ?, at_once = ?, priority = ?, collect = ?,
        submitted = ?, version = version + 1, replaced_by = NULL WHERE id = ?`,
      ...[limits.each, all, limits.attempts, limits.atOnce, priority, JSON.stringify(collect)],
      ...[JSON.stringify({ limits, priority, collect }), id],
    );
    for (const lane of new Set(changedTasks.map((task) => task.lane))) await addRateLimitLane(tx, lane);
    for (const { key, spec, signature, lane, priority: taskPriority } of changedTasks)
      await tx.query(
        `UPDATE fleet_tasks SET spec = ?, signature = ?, lane = ?, priority = ?
         WHERE batch = ? AND task_key = ? AND state <> 'done'`,
        ...[JSON.stringify(spec), signature ?? null, lane, taskPriority, id, key],
      );
  });
}

/** Cancels the open tasks of a batch and records the one that replaces it. */
export function replaceBatch(sql: SqlDatabase, batch: string, replacement: string): Promise<void> {
  return sql.transaction(async (tx) => {
    await tx.query(`SELECT id FROM fleet_batches WHERE id = ?${sql.forUpdate}`, batch);
    await cancelBatchTasks(tx, batch);
    await tx.query('UPDATE fleet_batches SET replaced_by = ? WHERE id = ?', replacement, batch);
  });
}

/** Stores what ouro knows about a branch. */
export async function saveTaskBranch(tx: SqlTransaction, record: BatchTaskBranch): Promise<void> {
  const { url, branch, commit, batch, key, request } = record;
  await tx.query(
    `INSERT INTO fleet_branches (url, branch, commit_id, batch, task_key, request) VALUES (?, ?, ?, ?, ?, ?)
     ON CONFLICT (url, branch) DO UPDATE SET commit_id = excluded.commit_id, batch = excluded.batch,
       task_key = excluded.task_key, request = coalesce(excluded.request, fleet_branches.request)`,
    ...[url, branch, commit, batch, key, request === undefined ? null : JSON.stringify(request)],
  );
}

/** Lists the branches of a repository, or those of a batch. */
export async function listTaskBranches(
  tx: SqlTransaction,
  of: { readonly url: string } | { readonly batch: string },
): Promise<readonly BatchTaskBranch[]> {
  const rows =
    'url' in of
      ? await tx.query('SELECT * FROM fleet_branches WHERE url = ? ORDER BY branch', of.url)
      : await tx.query('SELECT * FROM fleet_branches WHERE batch = ? ORDER BY url, branch', of.batch);
  return rows.map(parseFleetBranchRow);
}
