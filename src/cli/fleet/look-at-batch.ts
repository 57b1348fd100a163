import type { AttemptView, BatchStatus, TaskView } from '../../contracts/fleet.ts';
import type { FleetStore } from '../../contracts/fleet-store.ts';
import { formatClock, formatDuration } from '../../lib/text/format.ts';
import { UsageError } from '../args/usage-error.ts';
import { batchTable, money, statusText, taskText } from './batch-lines.ts';
import { openFleet } from './open-fleet.ts';
import { type BatchWish, batchCode, EXIT } from './run-batch.ts';
import { watchBatch } from './watch-batch.ts';

/** Opens the queue for one look at it. */
export async function withStore(
  { io, flags }: Pick<BatchWish, 'io' | 'flags'>,
  look: (store: FleetStore) => Promise<number>,
): Promise<number> {
  const { store } = await openFleet(io, flags.queue);
  try {
    return await look(store);
  } finally {
    await store.close();
  }
}

/** `ouro batch [list]`. */
export const listBatches = (wish: BatchWish): Promise<number> =>
  withStore(wish, async (store) => {
    const batches = await store.batches();
    const { io, flags } = wish;
    if (flags.json === true) io.stdout.write(`${JSON.stringify(batches, null, 2)}\n`);
    else if (batches.length > 0) io.stdout.write(batchTable(batches, await store.now()));
    else io.stdout.write('No batches yet. Begin one with: ouro batch "<prompt>" --over <folders>\n');
    return EXIT.done;
  });

/** `ouro batch status [ID] [--watch] [--json]`; its exit code is that of the batch. */
export const showStatus = (wish: BatchWish): Promise<number> =>
  withStore(wish, async (store) => {
    const { words, flags, io, shutdown } = wish;
    const { id } = await theBatch(store, words[1]);
    if (flags.watch === true) {
      const over = new AbortController();
      shutdown.guardWork({ graceMs: 2_000, abort: () => over.abort() });
      const settled = untilSettled(store, id, over);
      await watchBatch(id, store, io, { json: flags.json === true, signal: over.signal });
      await settled;
    }
    const batch = await theBatch(store, id);
    const tasks = await store.tasks(id, flags.json === true ? [] : ['running', 'failed']);
    if (flags.json !== true)
      io.stdout.write(statusText(batch, tasks, await store.now(), io.stdout.isTty ? io.stdout.columns() : 1_000));
    else if (flags.watch !== true)
      io.stdout.write(`${JSON.stringify({ ...batch, tasks: tasks.map(shown) }, null, 2)}\n`);
    return batchCode(batch);
  });

async function untilSettled(store: FleetStore, id: string, over: AbortController): Promise<void> {
  while (!over.signal.aborted) {
    if (await store.isSettled(id)) over.abort();
    else await new Promise((resolve) => setTimeout(resolve, 500));
  }
}

const shown = ({ spec: _spec, ...task }: TaskView) => task;

/** A batch by its id, the beginning of it, or the newest when nothing is said. */
export async function theBatch(store: FleetStore, wanted: string | undefined): Promise<BatchStatus> {
  const batches = await store.batches();
  const exact = batches.find(({ id }) => id === wanted);
  if (exact !== undefined) return exact;
  const found = wanted === undefined ? batches.slice(0, 1) : batches.filter(({ id }) => id.startsWith(wanted));
  const [first] = found;
  if (first !== undefined && found.length === 1) return first;
  if (first === undefined)
    throw new UsageError(
      wanted === undefined
        ? 'There are no batches yet.'
        : `There is no batch ${wanted}. "ouro batch" lists those there are.`,
    );
  throw new UsageError(`Several batches begin with ${wanted}: ${found.map(({ id }) => id).join(', ')}.`);
}

/** A task by its key, the beginning of it, or its title. */
export async function theTask(store: FleetStore, batch: string, wanted: string | undefined): Promise<TaskView> {
  if (wanted === undefined) throw new UsageError('Say which task: its name, or the beginning of its key.');
  const tasks = await store.tasks(batch);
  const exact = tasks.filter(({ key, title }) => key === wanted || title === wanted);
  const found = exact.length > 0 ? exact : tasks.filter(({ key }) => key.startsWith(wanted));
  const [first] = found;
  if (first === undefined) throw new UsageError(`The batch ${batch} has no task ${wanted}.`);
  if (found.length > 1)
    throw new UsageError(`Several tasks are called ${wanted}: ${found.map(({ key }) => key).join(', ')}.`);
  return first;
}

/** `ouro batch show ID TASK`. */
export const showTask = (wish: BatchWish): Promise<number> =>
  withStore(wish, async (store) => {
    const { words, flags, io } = wish;
    const { id } = await theBatch(store, words[1]);
    const task = await theTask(store, id, words[2]);
    const attempts = await store.attempts(id, task.key);
    if (flags.json === true) io.stdout.write(`${JSON.stringify({ ...task, attempts }, null, 2)}\n`);
    else
      io.stdout.write(
        taskText(
          task,
          attempts.map((one) => ({ line: attemptLine(one) })),
        ),
      );
    return EXIT.done;
  });

function attemptLine({ machine, startedMs, endedMs, cost, outcome }: AttemptView): string {
  const took = endedMs === undefined ? '' : `  ${formatDuration(endedMs - startedMs)}`;
  return `${formatClock(new Date(startedMs).toISOString())}  ${machine}${took}  ${money(cost)}  ${outcome}`;
}
