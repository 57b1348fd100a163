import { splitWords } from '@ouro-cli/ouro/commands';
import type { NewBatch, NewBatchTask } from './batch.ts';
import { addRateLimitLane } from './claim-task.ts';
import { insertRowsIfAbsent, type SqlDatabase, type SqlTransaction } from './database.ts';

/** Submits a batch with its tasks in one transaction. Existing batches and tasks are unchanged. */
export const submitBatch = (
  sql: SqlDatabase,
  batch: NewBatch,
  tasks: readonly NewBatchTask[],
): Promise<{ readonly added: number; readonly known: number }> =>
  sql.transaction((tx) => insertBatch(tx, batch, tasks));

/** Inserts the rows of a batch and its tasks. */
export async function insertBatch(
  tx: SqlTransaction,
  batch: NewBatch,
  tasks: readonly NewBatchTask[],
): Promise<{ readonly added: number; readonly known: number }> {
  const { id, name, limits, priority, collect, version = 1 } = batch;
  const now = await tx.now();
  await insertRowsIfAbsent(
    tx,
    'fleet_batches',
    splitWords('id name state priority limit_each limit_all attempts at_once collect created_ms version submitted'),
    [
      [
        id,
        name,
        'open',
        priority,
        limits.each,
        limits.all,
        limits.attempts,
        limits.atOnce,
        JSON.stringify(collect),
        now,
        version,
        JSON.stringify({ limits, priority, collect }),
      ],
    ],
    'id',
  );
  for (const lane of new Set(tasks.map((task) => task.lane))) await addRateLimitLane(tx, lane);
  const rows = tasks.map((task, at) => [
    id,
    task.key,
    at,
    task.title,
    task.kind,
    task.lane,
    task.priority,
    JSON.stringify(task.spec),
    task.signature ?? null,
    task.kind === 'work' ? 'waiting' : 'held',
    0,
  ]);
  const added = await insertRowsIfAbsent(tx, 'fleet_tasks', TASK_COLUMNS, rows, 'task_key');
  return { added: added.length, known: tasks.length - added.length };
}

const TASK_COLUMNS = splitWords('batch task_key seq title kind lane priority spec signature state tries');
