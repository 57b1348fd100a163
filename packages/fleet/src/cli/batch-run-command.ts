import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { basename, dirname, join, resolve } from 'node:path';
import {
  type BatchFlags,
  formatCount,
  getSignalExitCode,
  type ProcessIo,
  type Shutdown,
  UsageError,
  type YesNoPrompter,
} from '@ouro-cli/ouro/commands';
import { createFleetGit } from '../git/fleet-git.ts';
import type { BatchStatus, NewBatchTask } from '../store/batch.ts';
import { type ExpandedBatch, expandTaskFile, expandTaskLines } from '../tasks/expand-tasks.ts';
import type { TaskTargetDeps } from '../tasks/find-task-targets.ts';
import { createTaskFileFromFlags, parseTaskFile, TaskFileError } from '../tasks/task-file.ts';
import { signBatchTask } from '../worker/task-signature.ts';
import type { WorkerEnd } from '../worker/worker.ts';
import { formatWorkerEvent } from '../worker/worker-events.ts';
import { readWorkerPolicy } from '../worker/worker-policy.ts';
import { formatBatchPreview, formatBatchStatus } from './format-batch.ts';
import { type OpenedTaskQueue, openTaskQueue } from './open-task-queue.ts';
import { runWorkerInProcess } from './run-worker-in-process.ts';
import { parseScheduleInterval, scheduleBatch } from './schedule-batch.ts';
import {
  applyTaskFileChange,
  findTaskFileChange,
  formatTaskFileChange,
  refuseUnconfirmedChange,
  type TaskFileDiff,
} from './task-file-diff.ts';
import { watchBatch } from './watch-batch.ts';

export type BatchCommandInput = {
  readonly args: readonly string[];
  readonly flags: BatchFlags;
  readonly io: ProcessIo;
  readonly shutdown: Shutdown;
};

export const BATCH_EXIT_CODES = { done: 0, failed: 1, money: 3, waits: 4 } as const;

/** Runs `ouro batch run <file>` and `ouro batch "<prompt>" --over …`: previews, submits, works on and watches a batch. */
export async function runBatchRunCommand(request: BatchCommandInput): Promise<number> {
  const { flags, io } = request;
  const everyMs = flags.every === undefined ? undefined : parseScheduleInterval(flags.every, flags);
  const isRemote = flags.queue !== undefined || io.environment.keys.OURO_QUEUE !== undefined;
  // A dry run must not create a queue.
  const isStored = existsSync(join(io.environment.ouroHome, 'fleet', 'fleet.db'));
  const fleet = flags.dryRun === true && (isRemote || !isStored) ? undefined : await openTaskQueue(io, flags.queue);
  try {
    const expanded = await expandRequest(request, fleet?.reach ?? (isRemote ? 'many' : 'this machine')).catch(
      (thrown: unknown) => {
        throw thrown instanceof TaskFileError ? new UsageError(thrown.message) : thrown;
      },
    );
    if (everyMs !== undefined) {
      if (flags.json !== true || flags.dryRun === true) showPreview(expanded, request);
      if (fleet !== undefined && flags.dryRun !== true)
        await scheduleBatch({ ...expanded, everyMs }, fleet.store, request);
      return BATCH_EXIT_CODES.done;
    }
    const change = await (fleet && findTaskFileChange(fleet.store, expanded, expanded));
    const stored = change === undefined ? await fleet?.store.getStatus(expanded.batch.id) : undefined;
    // A budget that was raised by command stays in force.
    const limits = stored?.limits ?? expanded.batch.limits;
    if (flags.json !== true || flags.dryRun === true)
      showPreview({ ...expanded, batch: { ...expanded.batch, limits } }, request);
    if (change !== undefined && flags.json !== true) io.stderr.write(formatTaskFileChange(change));
    if (fleet === undefined || flags.dryRun === true) return BATCH_EXIT_CODES.done;
    if (change !== undefined && flags.yes !== true && !io.stdin.isTty) refuseUnconfirmedChange(change);
    const tasks = await signTasks(expanded.batch.id, expanded.tasks, flags.sign);
    return await submitAndWork({ batch: expanded.batch, tasks }, { ...fleet, change }, request);
  } finally {
    await fleet?.store.close();
  }
}

/** The open queue, and the change of the batch that has to be confirmed. */
type Submission = OpenedTaskQueue & { readonly change: TaskFileDiff | undefined };

function showPreview({ batch, tasks }: ExpandedBatch, { flags, io }: BatchCommandInput): void {
  if (flags.json === true) {
    io.stdout.write(`${JSON.stringify({ batch, tasks }, null, 2)}\n`);
    return;
  }
  const lines = formatBatchPreview(batch, tasks, io.stdout.isTty ? io.stdout.columns() : 1_000);
  const shown = flags.dryRun === true ? lines : lines.slice(-1);
  for (const line of shown) (flags.dryRun === true ? io.stdout : io.stderr).write(`${line}\n`);
}

/** A batch with its tasks; `isNamed` if the task file or a flag names it. */
type NamedBatch = ExpandedBatch & { readonly isNamed: boolean };

async function expandRequest(
  { args, flags, io }: BatchCommandInput,
  reach: OpenedTaskQueue['reach'],
): Promise<NamedBatch> {
  const createExpandOptions = (folder: string): TaskTargetDeps => ({
    git: createFleetGit(io.environment),
    folder,
    variables: io.environment.variables,
    warn: (line) => io.stderr.write(`${line}\n`),
    reach,
  });
  const [action, name] = args;
  if (action !== 'run') {
    const expanded = await expandTaskFile(createTaskFile(args, flags), createExpandOptions(io.cwd));
    return { ...expanded, isNamed: flags.name !== undefined };
  }
  if (name === undefined || args.length > 2) throw new UsageError('Usage: ouro batch run <file>');
  const path = resolve(io.cwd, name);
  const source = await readFile(path, 'utf8').catch(() => {
    throw new UsageError(`File ${name} not found. "ouro batch init <dir>" creates a sample.`);
  });
  const parsed = parseTaskFile(source, basename(path));
  if ('file' in parsed) {
    const expanded = await expandTaskFile(parsed.file, createExpandOptions(dirname(path)));
    return { ...expanded, isNamed: parsed.file.name !== undefined };
  }
  if (flags.every !== undefined && parsed.lines.some(({ ref }) => ref !== undefined))
    throw new UsageError(
      'A schedule has one ref for all tasks, but lines of the file name their own. Use a task file.',
    );
  // A .jsonl file holds tasks only; the settings of the batch come from flags.
  const { collect, limits, priority } = createTaskFile(['lines'], { ...flags, over: ['.'] });
  const frame = { name: flags.name ?? basename(path, '.jsonl'), collect, limits, priority };
  const expanded = await expandTaskLines(parsed.lines, frame, createExpandOptions(dirname(path)));
  return { ...expanded, isNamed: flags.name !== undefined };
}

function createTaskFile(promptArgs: readonly string[], flags: BatchFlags) {
  const { over, items, name, ref, model, mode, allowedTools, verify, each, all, minutes, attempts, atOnce } = flags;
  if (over.length === 0)
    throw new UsageError('Usage: ouro batch "<prompt>" --over <folders, files or addresses>, or ouro batch run <file>');
  if (promptArgs.length === 0)
    throw new UsageError('No prompt given. The prompt comes first: ouro batch "<prompt>" --over <folders>');
  return createTaskFileFromFlags({
    prompt: promptArgs.join(' '),
    over: { repos: [...over], ...setIfDefined('items', items) },
    ...setIfDefined('name', name),
    ...setIfDefined('ref', ref),
    ...setIfDefined('model', model),
    ...setIfDefined('mode', mode),
    ...setIfDefined('allowedTools', allowedTools === undefined ? undefined : [...allowedTools]),
    ...setIfDefined('verify', verify === undefined ? undefined : { run: verify }),
    limits: {
      ...setIfDefined('each', each),
      ...setIfDefined('all', all),
      ...setIfDefined('minutes', minutes),
      ...setIfDefined('attempts', attempts),
      ...setIfDefined('at_once', atOnce),
    },
  });
}

function setIfDefined<Key extends string, Value>(key: Key, value: Value | undefined): { readonly [K in Key]?: Value } {
  const none: { readonly [K in Key]?: Value } = {};
  return value === undefined ? none : { ...none, [key]: value };
}

async function signTasks(
  batch: string,
  tasks: readonly NewBatchTask[],
  key: string | undefined,
): Promise<readonly NewBatchTask[]> {
  if (key === undefined) return tasks;
  const signedTasks: NewBatchTask[] = [];
  for (const task of tasks) signedTasks.push({ ...task, signature: await signBatchTask(batch, task, key) });
  return signedTasks;
}

async function submitAndWork(batch: ExpandedBatch, fleet: Submission, request: BatchCommandInput): Promise<number> {
  if (!request.io.stdin.isTty) return submitParts(batch, fleet, request);
  const { createYesNoPrompter } = await import('@ouro-cli/ouro/commands');
  const prompter = createYesNoPrompter(request.io);
  try {
    return await submitParts(batch, fleet, request, prompter);
  } finally {
    await prompter.close();
  }
}

/** Runs the first tasks (`--try`), then the others, asking for confirmation on a terminal. */
async function submitParts(
  expanded: ExpandedBatch,
  fleet: Submission,
  request: BatchCommandInput,
  prompter?: YesNoPrompter,
): Promise<number> {
  const { flags, io } = request;
  const { tasks } = expanded;
  const first = flags.try === undefined ? tasks : tasks.filter(({ kind }) => kind === 'work').slice(0, flags.try);
  if (
    flags.yes !== true &&
    (await prompter?.confirm(
      `${fleet.change === undefined ? 'Start' : 'Apply these changes and start'} ${formatCount(first.length, 'task')}?`,
    )) === false
  )
    return BATCH_EXIT_CODES.done;
  const batch =
    fleet.change === undefined ? expanded.batch : await applyTaskFileChange(fleet.store, expanded, fleet.change);
  await submitSome(batch, first, fleet, request);
  if (flags.detach === true) {
    io.stdout.write(`${batch.id}\n`);
    return BATCH_EXIT_CODES.done;
  }
  const code = await workOn(batch.id, fleet, request);
  const left = tasks.length - first.length;
  if (left === 0 || code === 130 || code === 143) return code;
  if (prompter === undefined) {
    io.stderr.write(`${formatCount(left, 'task')} not started. Run the same command without --try to continue.\n`);
    return code;
  }
  if (!(await prompter.confirm(`Start the other ${formatCount(left, 'task')}?`))) return code;
  await submitSome(batch, tasks, fleet, request);
  return workOn(batch.id, fleet, request);
}

async function submitSome(
  batch: ExpandedBatch['batch'],
  tasks: readonly NewBatchTask[],
  { store }: OpenedTaskQueue,
  { flags, io }: BatchCommandInput,
): Promise<void> {
  const { known } = await store.submit(batch, tasks);
  const reused = flags.reuse === true ? await store.reuseResults(batch.id) : 0;
  if (flags.json === true) return;
  if (known > 0) io.stderr.write(`Skipped ${formatCount(known, 'task')} already in the batch.\n`);
  if (reused > 0) io.stderr.write(`Reused ${formatCount(reused, 'result')} from other batches.\n`);
}

/** Works on a batch in this process and watches it, until it has ended or must wait. */
async function workOn(id: string, fleet: OpenedTaskQueue, { flags, io, shutdown }: BatchCommandInput): Promise<number> {
  const abortController = new AbortController();
  shutdown.attachWork({ graceMs: 15_000, abort: () => abortController.abort() });
  const watchEnd = new AbortController();
  const watching = watchBatch(id, fleet.store, io, { json: flags.json === true, signal: watchEnd.signal });
  const ended = await runWorkerInProcess(fleet, await readWorkerPolicy(io.environment.ouroHome), io, {
    slots: flags.jobs ?? getDefaultTaskSlots(),
    until: 'empty',
    whenPaused: flags.wait === false ? 'ends' : 'waits',
    batch: id,
    signal: abortController.signal,
    onEvent(event) {
      const line = formatWorkerEvent(event);
      if (line !== undefined) io.stderr.write(`${line}\n`);
    },
  });
  watchEnd.abort();
  await watching;
  const status = await fleet.store.getStatus(id);
  if (status === undefined) return BATCH_EXIT_CODES.failed;
  if (flags.json !== true) await showEnd(status, fleet, io);
  return getExitCode(ended, status, shutdown);
}

/** Returns the default number of parallel tasks. Tasks mostly wait for the provider, but their commands need CPUs. */
export const getDefaultTaskSlots = (): number => Math.max(2, Math.min(8, availableParallelism()));

async function showEnd(status: BatchStatus, { store }: OpenedTaskQueue, io: ProcessIo): Promise<void> {
  const tasks = await store.listTasks(status.id, ['running', 'failed']);
  io.stdout.write(
    formatBatchStatus(status, tasks, await store.getTime(), io.stdout.isTty ? io.stdout.columns() : 1_000),
  );
  const { counts } = status;
  if (counts.done > 0) io.stdout.write(`Collect the patches with: ouro batch collect ${status.id} --patches <dir>\n`);
  if (counts.failed > 0) io.stdout.write(`Retry failed tasks with: ouro batch retry ${status.id} --failed\n`);
}

function getExitCode(ended: WorkerEnd, status: BatchStatus, shutdown: Shutdown): number {
  if (ended.kind === 'stopped') return getSignalExitCode(shutdown.reason());
  if (ended.kind === 'waits') return ended.for === 'money' ? BATCH_EXIT_CODES.money : BATCH_EXIT_CODES.waits;
  if (ended.kind === 'left') return BATCH_EXIT_CODES.waits;
  return getBatchExitCode(status);
}

/** Returns the exit code of a batch; 0 only when every task is done. */
export function getBatchExitCode({ counts, waits }: BatchStatus): number {
  if (counts.waiting + counts.running + counts.held > 0)
    return waits.some(({ kind }) => kind === 'money') ? BATCH_EXIT_CODES.money : BATCH_EXIT_CODES.waits;
  return counts.failed + counts.cancelled > 0 ? BATCH_EXIT_CODES.failed : BATCH_EXIT_CODES.done;
}
