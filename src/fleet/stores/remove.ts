import type { JobQueue } from './job-queue.ts';
import type { Sql } from './sql.ts';
import { queueOf } from './submit.ts';

const TABLES = ['fleet_files', 'fleet_attempts', 'fleet_tasks'];

/** Forgets a batch: its tasks, money, results and files, then the queues they stood in. */
export async function removeBatch(
  { sql, queue }: { readonly sql: Sql; readonly queue: JobQueue },
  batch: string,
): Promise<'removed' | 'somebody works on it'> {
  const lanes = await sql.transaction(async (tx) => {
    await tx.all(`SELECT id FROM fleet_batches WHERE id = ?${sql.forUpdate}`, batch);
    const [open] = await tx.all(
      'SELECT count(*) AS held FROM fleet_attempts WHERE batch = ? AND ended_ms IS NULL',
      batch,
    );
    if (Number(open?.held) > 0) return undefined;
    const rows = await tx.all('SELECT DISTINCT lane FROM fleet_tasks WHERE batch = ?', batch);
    for (const table of TABLES) await tx.all(`DELETE FROM ${table} WHERE batch = ?`, batch);
    await tx.all('DELETE FROM fleet_batches WHERE id = ?', batch);
    return rows.map(({ lane }) => String(lane));
  });
  if (lanes === undefined) return 'somebody works on it';
  for (const lane of lanes) await queue.drop(queueOf(batch, lane));
  return 'removed';
}
