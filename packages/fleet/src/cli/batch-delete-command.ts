import { createYesNoPrompter, type ProcessIo, UsageError } from '@ouro-cli/ouro/commands';
import type { BatchScheduleView, BatchStatus, PendingBatchDeletion } from '../store/batch.ts';
import type { FleetStore } from '../store/fleet-store.ts';
import { deletePendingBatchFiles } from '../worker/clean-up.ts';
import { BATCH_EXIT_CODES, type BatchCommandInput } from './batch-run-command.ts';
import { findBatch, findPendingDeletions } from './batch-show-commands.ts';
import { formatBatchCount, formatBatchTable, formatPendingDeletions } from './format-batch.ts';
import { type OpenedTaskQueue, openTaskQueue } from './open-task-queue.ts';
import { createFleetCleanUpDeps } from './run-worker-in-process.ts';

const DAY_MS = 86_400_000;

/** Runs `ouro batch delete ID… | --older-than DAYS`: lists the batches and deletes them with their results. */
export async function runBatchDeleteCommand(request: BatchCommandInput): Promise<number> {
  const { args, flags, io } = request;
  const fleet = await openTaskQueue(io, flags.queue);
  const { store } = fleet;
  try {
    const isJson = flags.json === true;
    const schedules = (await store.listSchedules()).filter(({ id }) => args.slice(1).includes(id));
    const names = args.slice(1).filter((name) => !schedules.some(({ id }) => id === name));
    if (schedules.length > 0) {
      if (names.length > 0) throw new UsageError('Delete schedules and batches one after the other.');
      return await deleteSchedules(schedules, store, request);
    }
    const deletions = (await Promise.all(names.map((name) => findPendingDeletions(store, name)))).flat();
    if (deletions.length > 0) {
      if (names.some((name) => !deletions.some(({ batch }) => batch === name)))
        throw new UsageError(
          'Some of these batches are deleted already. Name them alone to forget what is left of them.',
        );
      return await forgetDeletions(deletions, store, request);
    }
    const chosen = await selectBatches(store, names, flags.olderThan);
    if (isJson) io.stdout.write(`${JSON.stringify(chosen, null, 2)}\n`);
    else if (chosen.length > 0) io.stdout.write(formatBatchTable(chosen, await store.getTime()));
    if (flags.dryRun === true || chosen.length === 0) {
      if (!isJson) io.stdout.write(`Would delete ${formatBatchCount(chosen.length)}.\n`);
      return BATCH_EXIT_CODES.done;
    }
    const question = `Delete ${formatBatchCount(chosen.length)} with all patches and transcripts?`;
    if (!(await isConfirmed(question, request))) return BATCH_EXIT_CODES.done;
    return await deleteAll(chosen, fleet, { io, isJson });
  } finally {
    await store.close();
  }
}

async function isConfirmed(question: string, { flags, io }: BatchCommandInput): Promise<boolean> {
  if (flags.yes === true) return true;
  if (!io.stdin.isTty) throw new UsageError('Deletion needs confirmation, but stdin is not a terminal. Add --yes.');
  const prompter = createYesNoPrompter(io);
  try {
    return await prompter.confirm(question);
  } finally {
    await prompter.close();
  }
}

/** Forgets what deleted batches have left on machines that do not come back. */
async function forgetDeletions(
  deletions: readonly PendingBatchDeletion[],
  store: FleetStore,
  request: BatchCommandInput,
): Promise<number> {
  const { flags, io } = request;
  io.stdout.write(formatPendingDeletions(deletions, await store.getTime()));
  const machines = [...new Set(deletions.map(({ machine }) => machine))].join(', ');
  if (flags.dryRun === true || !(await isConfirmed(`Forget the files on ${machines}?`, request)))
    return BATCH_EXIT_CODES.done;
  for (const deletion of deletions) await store.acknowledgeDeletion(deletion);
  io.stdout.write(`Forgot the files on ${machines}.\n`);
  return BATCH_EXIT_CODES.done;
}

/** Deletes schedules. The batches of their runs stay, and a schedule is quickly stored again, so nobody is asked. */
async function deleteSchedules(
  schedules: readonly BatchScheduleView[],
  store: FleetStore,
  { flags, io }: BatchCommandInput,
): Promise<number> {
  if (flags.json === true) io.stdout.write(`${JSON.stringify(schedules, null, 2)}\n`);
  for (const { id } of schedules) {
    if (flags.dryRun !== true) await store.deleteSchedule(id);
    if (flags.json !== true)
      io.stdout.write(`${flags.dryRun === true ? 'Would delete' : 'Deleted'} the schedule ${id}, not its runs.\n`);
  }
  return BATCH_EXIT_CODES.done;
}

/** Selects the named batches, or the ended ones without activity for some days; only ended batches can be deleted. */
async function selectBatches(
  store: FleetStore,
  names: readonly string[],
  days: number | undefined,
): Promise<readonly BatchStatus[]> {
  if ((names.length === 0) === (days === undefined))
    throw new UsageError('Usage: ouro batch delete <id>… | --older-than <days>. "ouro batch" lists the batches.');
  if (days !== undefined) {
    const before = (await store.getTime()) - days * DAY_MS;
    return (await store.listBatches()).filter((batch) => hasEnded(batch) && batch.lastMs <= before);
  }
  const chosen = new Map<string, BatchStatus>();
  for (const name of names) {
    const batch = await findBatch(store, name);
    if (!hasEnded(batch))
      throw new UsageError(`Batch ${batch.id} has not ended. Stop it first: ouro batch cancel ${batch.id}`);
    chosen.set(batch.id, batch);
  }
  return [...chosen.values()];
}

const hasEnded = ({ counts }: BatchStatus): boolean => counts.waiting + counts.running + counts.held === 0;

type DeleteOptions = { readonly io: ProcessIo; readonly isJson: boolean };

/** Deletes batches from the queue and from this machine. Other machines delete their files as soon as a worker runs. */
async function deleteAll(
  chosen: readonly BatchStatus[],
  fleet: OpenedTaskQueue,
  { io, isJson }: DeleteOptions,
): Promise<number> {
  const { store } = fleet;
  const cleanUp = await createFleetCleanUpDeps(fleet, io);
  const deleted: string[] = [];
  for (const { id } of chosen) {
    if ((await store.deleteBatch(id, cleanUp)) === 'removed') deleted.push(id);
    else
      io.stderr.write(`Batch ${id} not deleted: a worker is still ending one of its tasks. Try again in a minute.\n`);
  }
  await deletePendingBatchFiles(cleanUp);
  if (!isJson) {
    const pending = (await store.listDeletions()).filter(({ batch }) => deleted.includes(batch));
    io.stdout.write(`Deleted ${formatBatchCount(deleted.length)}.\n`);
    io.stdout.write(formatPendingDeletions(pending, await store.getTime()));
  }
  return deleted.length === chosen.length ? BATCH_EXIT_CODES.done : BATCH_EXIT_CODES.failed;
}
