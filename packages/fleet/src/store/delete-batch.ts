import type { ClaimingWorker, PendingBatchDeletion, TaskOfDeletedBatch } from './batch.ts';
import { insertRowsIfAbsent, type SqlDatabase, type SqlTransaction } from './database.ts';
import { type FleetTaskRow, parseFleetDeletionRow, parseFleetTaskRow } from './schema.ts';

/** The installation that asks, by its id and the name of its machine. */
type Installation = Pick<ClaimingWorker, 'machine' | 'installation'>;

/** A machine without a worker for a quarter of a year, such as a container, does not come back. */
const MAX_AGE_MS = 90 * 86_400_000;

const TABLES = ['fleet_files', 'fleet_attempts', 'fleet_tasks'];

/** Deletes a batch: its tasks, attempts and files. Refused while an attempt is running. */
export async function deleteBatch(sql: SqlDatabase, batch: string, by: Installation): Promise<'removed' | 'in-use'> {
  return sql.transaction(async (tx) => {
    await tx.query(`SELECT id FROM fleet_batches WHERE id = ?${sql.forUpdate}`, batch);
    const [open] = await tx.query(
      'SELECT count(*) AS held FROM fleet_attempts WHERE batch = ? AND ended_ms IS NULL',
      batch,
    );
    if (Number(open?.held) > 0) return 'in-use';
    await addDeletions(tx, batch, by);
    for (const table of TABLES) await tx.query(`DELETE FROM ${table} WHERE batch = ?`, batch);
    await tx.query('DELETE FROM fleet_batches WHERE id = ?', batch);
    return 'removed';
  });
}

/** Adds what each installation has to delete: the tasks that it worked on; for the one that asks all of them. */
async function addDeletions(tx: SqlTransaction, batch: string, by: Installation): Promise<void> {
  const tasks = (await tx.query('SELECT * FROM fleet_tasks WHERE batch = ? ORDER BY seq', batch)).map(
    parseFleetTaskRow,
  );
  const attempts = await tx.query(
    `SELECT DISTINCT ${INSTALLATION} AS installation, machine, task_key FROM fleet_attempts WHERE batch = ?`,
    batch,
  );
  const now = await tx.now();
  await tx.query('DELETE FROM fleet_deletions WHERE created_ms < ?', now - MAX_AGE_MS);
  const found = new Map<string, { readonly machine: string; readonly keys: Set<string> }>();
  for (const { installation, machine, task_key: key } of attempts) {
    const entry = found.get(String(installation)) ?? { machine: String(machine), keys: new Set() };
    entry.keys.add(String(key));
    found.set(String(installation), entry);
  }
  found.set(by.installation ?? by.machine, { machine: by.machine, keys: new Set(tasks.map((task) => task.task_key)) });
  const rows = [...found].map(([installation, { machine, keys }]) => {
    const deletedTasks = tasks.filter((task) => keys.has(task.task_key)).map(createDeletedTask);
    return [batch, installation, machine, now, JSON.stringify(deletedTasks)];
  });
  const columns = ['batch', 'installation', 'machine', 'created_ms', 'tasks'];
  // An installation whose deletion is still pending has claimed nothing since, so there is nothing to add to it.
  await insertRowsIfAbsent(tx, 'fleet_deletions', columns, rows, 'installation');
}

/** Attempts of workers before version 4 have no installation. */
const INSTALLATION = 'coalesce(installation, machine)';

const createDeletedTask = ({ task_key: key, spec: { place } }: FleetTaskRow): TaskOfDeletedBatch => ({
  key,
  folder: place?.folder ?? '',
  ...(place === undefined ? {} : { url: place.url }),
});

/** Lists the pending deletions, oldest first. */
export async function listPendingDeletions(
  tx: SqlTransaction,
  of?: Installation,
): Promise<readonly PendingBatchDeletion[]> {
  const order = 'ORDER BY created_ms, batch, machine';
  const rows =
    of === undefined
      ? await tx.query(`SELECT * FROM fleet_deletions ${order}`)
      : await tx.query(
          `SELECT * FROM fleet_deletions WHERE installation IN (?, ?) ${order}`,
          ...[of.installation ?? of.machine, of.machine],
        );
  return rows.flatMap((row) => parseFleetDeletionRow(row) ?? []);
}

/** Ends a pending deletion. */
export async function acknowledgeBatchDeletion(
  tx: SqlTransaction,
  { batch, installation }: Pick<PendingBatchDeletion, 'batch' | 'installation'>,
): Promise<void> {
  await tx.query('DELETE FROM fleet_deletions WHERE batch = ? AND installation = ?', batch, installation);
}
