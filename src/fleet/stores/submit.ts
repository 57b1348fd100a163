import { createHash } from 'node:crypto';
import type { NewBatch, NewTask } from '../../contracts/fleet.ts';
import type { JobQueue } from './job-queue.ts';
import { addLane } from './lanes.ts';
import { insertNew } from './schema.ts';
import type { Sql } from './sql.ts';

/** The queue of a batch's tasks in one lane: engines take letters, digits and a few signs. */
export function queueOf(batch: string, lane: string): string {
  return `ouro-${hashOf(`${batch}\n${lane}`).slice(0, 32)}`;
}

/** One transaction: all of a batch is there, or nothing of it. What is there already stays as it is. */
export async function submitBatch(
  sql: Sql,
  queue: JobQueue,
  batch: NewBatch,
  tasks: readonly NewTask[],
): Promise<{ readonly added: number; readonly known: number }> {
  for (const lane of new Set(tasks.map((task) => task.lane))) await queue.open(queueOf(batch.id, lane));
  return sql.transaction(async (tx) => {
    const { id, name, limits, priority, collect } = batch;
    const now = await tx.now();
    await insertNew(
      tx,
      'fleet_batches',
      ['id', 'name', 'state', 'priority', 'limit_each', 'limit_all', 'attempts', 'at_once', 'collect', 'created_ms'],
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
        ],
      ],
      'id',
    );
    for (const lane of new Set(tasks.map((task) => task.lane))) await addLane(tx, lane);
    const rows = tasks.map((task, at) => [
      id,
      task.key,
      jobOf(id, task.key),
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
    const seqOf = new Map(tasks.map(({ key }, at) => [key, at]));
    const added = new Set(await insertNew(tx, 'fleet_tasks', TASK_COLUMNS, rows, 'task_key'));
    const fresh = tasks.filter(({ key, kind }) => added.has(key) && kind === 'work');
    for (const [lane, some] of Map.groupBy(fresh, (task) => task.lane))
      await queue.add(
        tx,
        queueOf(id, lane),
        some.map(({ key, priority: first }) => ({ id: jobOf(id, key), priority: first, seq: seqOf.get(key) ?? 0 })),
      );
    return { added: added.size, known: tasks.length - added.size };
  });
}

const TASK_COLUMNS = [
  'batch',
  'task_key',
  'job',
  'seq',
  'title',
  'kind',
  'lane',
  'priority',
  'spec',
  'signature',
  'state',
  'tries',
];

/** The same task is the same job: an engine that knows it already adds nothing. In the form of a UUID. */
function jobOf(batch: string, key: string): string {
  const hex = hashOf(`${batch}\n${key}`);
  return [hex.slice(0, 8), hex.slice(8, 12), `8${hex.slice(13, 16)}`, `8${hex.slice(17, 20)}`, hex.slice(20, 32)].join(
    '-',
  );
}

const hashOf = (text: string): string => createHash('sha256').update(text).digest('hex');
