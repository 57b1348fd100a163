import {
  formatClock,
  formatDuration,
  formatOneLine,
  getErrorMessage,
  sanitize,
  UsageError,
} from '@ouro-cli/ouro/commands';
import { openForge } from '../git/open-forge.ts';
import type {
  BatchStatus,
  BatchTaskBranch,
  BatchTaskView,
  PendingBatchDeletion,
  TaskAttemptView,
} from '../store/batch.ts';
import type { FleetStore } from '../store/fleet-store.ts';
import { BATCH_EXIT_CODES, type BatchCommandInput, getBatchExitCode } from './batch-run-command.ts';
import {
  formatBatchSchedule,
  formatBatchStatus,
  formatBatchTable,
  formatBatchTask,
  formatMicroDollars,
  formatPendingDeletions,
  formatPullRequests,
  formatTaskProgress,
} from './format-batch.ts';
import { openTaskQueue } from './open-task-queue.ts';
import { watchBatch } from './watch-batch.ts';

/** Opens the queue, runs an action on its store and closes it. */
export async function runWithFleetStore(
  { io, flags }: Pick<BatchCommandInput, 'io' | 'flags'>,
  run: (store: FleetStore) => Promise<number>,
): Promise<number> {
  const { store } = await openTaskQueue(io, flags.queue);
  try {
    return await run(store);
  } finally {
    await store.close();
  }
}

/** Runs `ouro batch list`. */
export const runBatchListCommand = (request: BatchCommandInput): Promise<number> =>
  runWithFleetStore(request, async (store) => {
    const { io, flags } = request;
    const batches = await store.listBatches();
    if (flags.json === true) {
      io.stdout.write(`${JSON.stringify(batches, null, 2)}\n`);
      return BATCH_EXIT_CODES.done;
    }
    const schedules = await store.listSchedules();
    if (batches.length > 0) io.stdout.write(formatBatchTable(batches, await store.getTime()));
    else if (schedules.length === 0)
      io.stdout.write('No batches yet. Start one with: ouro batch "<prompt>" --over <folders>\n');
    for (const schedule of schedules) io.stdout.write(formatBatchSchedule(schedule, await store.getTime()));
    io.stdout.write(formatPendingDeletions(await store.listDeletions(), await store.getTime()));
    return BATCH_EXIT_CODES.done;
  });

/** Runs `ouro batch status [ID] [--watch]`; the exit code is that of the batch. The ID may be that of a schedule. */
export const runBatchStatusCommand = (request: BatchCommandInput): Promise<number> =>
  runWithFleetStore(request, async (store) => {
    const { args, flags, io, shutdown } = request;
    const schedule = (await store.listSchedules()).find((known) => known.id === args[1]);
    if (schedule !== undefined) {
      const text = formatBatchSchedule(schedule, await store.getTime());
      io.stdout.write(flags.json === true ? `${JSON.stringify(schedule, null, 2)}\n` : text);
      return BATCH_EXIT_CODES.done;
    }
    const deletions = await findPendingDeletions(store, args[1]);
    if (deletions.length > 0) {
      const json = { id: args[1], deleted: true, pending: deletions.map(omitTasks) };
      const text = formatPendingDeletions(deletions, await store.getTime());
      io.stdout.write(flags.json === true ? `${JSON.stringify(json, null, 2)}\n` : text);
      return BATCH_EXIT_CODES.done;
    }
    const { id } = await findBatch(store, args[1]);
    if (flags.watch === true) {
      const watchEnd = new AbortController();
      shutdown.attachWork({ graceMs: 2_000, abort: () => watchEnd.abort() });
      const settled = abortWhenSettled(store, id, watchEnd);
      await watchBatch(id, store, io, { json: flags.json === true, signal: watchEnd.signal });
      await settled;
    }
    const batch = await findBatch(store, id);
    const branches =
      flags.prs === true ? await updateRequests(store, batch, io) : await store.listBranches({ batch: id });
    const tasks = await store.listTasks(id, flags.json === true ? [] : ['running', 'failed']);
    if (flags.json !== true) {
      io.stdout.write(
        formatBatchStatus(batch, tasks, await store.getTime(), io.stdout.isTty ? io.stdout.columns() : 1_000),
      );
      io.stdout.write(formatPullRequests(branches));
    } else if (flags.watch !== true)
      io.stdout.write(`${JSON.stringify({ ...batch, tasks: tasks.map(omitSpec), branches }, null, 2)}\n`);
    return getBatchExitCode(batch);
  });

/** Looks up the pull requests of a batch, and stores their state. */
async function updateRequests(
  store: FleetStore,
  { id, collect }: BatchStatus,
  { environment, stderr }: BatchCommandInput['io'],
): Promise<readonly BatchTaskBranch[]> {
  for (const branch of await store.listBranches({ batch: id })) {
    if (branch.request === undefined) continue;
    try {
      const forge = openForge(branch.request.url, collect.forge, environment.variables);
      await store.saveBranch({ ...branch, request: await forge.look(branch.url, branch.request.url) });
    } catch (thrown) {
      stderr.write(`${branch.request.url}: ${formatOneLine(getErrorMessage(thrown))}\n`);
    }
  }
  return store.listBranches({ batch: id });
}

async function abortWhenSettled(store: FleetStore, id: string, watchEnd: AbortController): Promise<void> {
  while (!watchEnd.signal.aborted) {
    if (await store.isSettled(id)) watchEnd.abort();
    else await new Promise((resolve) => setTimeout(resolve, 500));
  }
}

const omitSpec = ({ spec: _spec, ...task }: BatchTaskView) => task;

/** Finds a batch by its id or the start of it; returns the newest without one. */
export async function findBatch(store: FleetStore, idOrPrefix: string | undefined): Promise<BatchStatus> {
  const batches = await store.listBatches();
  const exact = batches.find(({ id }) => id === idOrPrefix);
  if (exact !== undefined) return exact;
  const all = idOrPrefix === undefined ? batches.slice(0, 1) : batches.filter(({ id }) => id.startsWith(idOrPrefix));
  const current = all.filter(({ replacedBy }) => replacedBy === undefined);
  const matches = current.length === 0 ? all : current;
  const [first] = matches;
  if (first !== undefined && matches.length === 1) return first;
  if (first === undefined)
    throw new UsageError(
      idOrPrefix === undefined
        ? 'There are no batches yet.'
        : `Batch ${idOrPrefix} not found. "ouro batch" lists the batches.`,
    );
  throw new UsageError(`Several batches start with ${idOrPrefix}: ${matches.map(({ id }) => id).join(', ')}.`);
}

/** Finds what is left of a deleted batch; nothing if it was submitted again. */
export async function findPendingDeletions(
  store: FleetStore,
  id: string | undefined,
): Promise<readonly PendingBatchDeletion[]> {
  if (id === undefined || (await store.getStatus(id)) !== undefined) return [];
  return (await store.listDeletions()).filter(({ batch }) => batch === id);
}

const omitTasks = ({ tasks: _tasks, ...deletion }: PendingBatchDeletion) => deletion;

/** Finds a task by its key, the start of it, or its title. */
export async function findBatchTask(
  store: FleetStore,
  batch: string,
  titleOrKey: string | undefined,
): Promise<BatchTaskView> {
  if (titleOrKey === undefined) throw new UsageError('Name a task: its title, or the start of its key.');
  const tasks = await store.listTasks(batch);
  const exact = tasks.filter(({ key, title }) => key === titleOrKey || title === titleOrKey);
  const matches = exact.length > 0 ? exact : tasks.filter(({ key }) => key.startsWith(titleOrKey));
  const [first] = matches;
  if (first === undefined) throw new UsageError(`Batch ${batch} has no task ${titleOrKey}.`);
  if (matches.length > 1)
    throw new UsageError(`Several tasks match ${titleOrKey}: ${matches.map(({ key }) => key).join(', ')}.`);
  return first;
}

/** Runs `ouro batch show ID TASK`. */
export const runBatchShowCommand = (request: BatchCommandInput): Promise<number> =>
  runWithFleetStore(request, async (store) => {
    const { args, flags, io } = request;
    const { id } = await findBatch(store, args[1]);
    const task = await findBatchTask(store, id, args[2]);
    const attempts = await store.listAttempts(id, task.key);
    if (flags.json === true) io.stdout.write(`${JSON.stringify({ ...task, attempts }, null, 2)}\n`);
    else
      io.stdout.write(
        formatBatchTask(
          task,
          attempts.map((attempt) => ({ line: formatAttempt(attempt) })),
        ),
      );
    return BATCH_EXIT_CODES.done;
  });

function formatAttempt({ machine, startedMs, endedMs, cost, outcome }: TaskAttemptView): string {
  const duration = endedMs === undefined ? '' : `  ${formatDuration(endedMs - startedMs)}`;
  return `${formatClock(new Date(startedMs).toISOString())}  ${machine}${duration}  ${formatMicroDollars(cost)}  ${outcome}`;
}

const POLL_MS = 500;

/** Runs `ouro batch logs ID TASK [-f]`: prints the transcript of a task; with `-f` its status until it ends. */
export const runBatchLogsCommand = (request: BatchCommandInput): Promise<number> =>
  runWithFleetStore(request, async (store) => {
    const { args, flags, io, shutdown } = request;
    const { id } = await findBatch(store, args[1]);
    const { key } = await findBatchTask(store, id, args[2]);
    let isFollowing = flags.follow === true;
    shutdown.attachWork({ graceMs: 2_000, abort: () => (isFollowing = false) });
    let lastStatus = '';
    for (
      let task = await findBatchTask(store, id, key);
      isFollowing && isOpen(task);
      task = await findBatchTask(store, id, key)
    ) {
      const status = `${task.state}  ${task.doing ?? ''}`;
      if (status !== lastStatus)
        io.stdout.write(`${sanitize(`${task.state}  ${formatTaskProgress(task, await store.getTime())}`, 'line')}\n`);
      lastStatus = status;
      await new Promise((resolve) => setTimeout(resolve, POLL_MS));
    }
    return printTranscript(store, id, await findBatchTask(store, id, key), request);
  });

const isOpen = ({ state }: BatchTaskView): boolean => state === 'waiting' || state === 'running' || state === 'held';

async function printTranscript(
  store: FleetStore,
  id: string,
  { key, title }: BatchTaskView,
  { flags, io }: BatchCommandInput,
): Promise<number> {
  const bytes = await store.readFile(id, key, 'transcript');
  if (bytes === undefined) {
    io.stderr.write('The task has not uploaded a transcript yet. Use -f to follow its status.\n');
    return BATCH_EXIT_CODES.failed;
  }
  const text = Buffer.from(bytes).toString('utf8');
  if (flags.json === true) {
    io.stdout.write(text);
    return BATCH_EXIT_CODES.done;
  }
  const { renderSessionAsMarkdown } = await import('@ouro-cli/ouro/transcripts');
  io.stdout.write(sanitize(renderSessionAsMarkdown(text, title), 'output'));
  return BATCH_EXIT_CODES.done;
}
