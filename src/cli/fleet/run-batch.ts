import { readFile } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { basename, dirname, resolve } from 'node:path';
import type { BatchStatus, NewTask } from '../../contracts/fleet.ts';
import { fleetGit } from '../../fleet/git/fleet-git.ts';
import { type Expanded, expandFile, expandLines } from '../../fleet/tasks/expand.ts';
import { readTaskFile, TaskFileProblem, taskFileOf } from '../../fleet/tasks/task-file.ts';
import { readPolicy } from '../../fleet/worker/policy.ts';
import { signTask } from '../../fleet/worker/signatures.ts';
import type { WorkerEnd } from '../../fleet/worker/worker.ts';
import { formatCount } from '../../lib/text/format.ts';
import type { ValuesOf } from '../args/flag.ts';
import type { SUBCOMMANDS } from '../args/subcommands.ts';
import { UsageError } from '../args/usage-error.ts';
import { signalCode } from '../exit-code.ts';
import type { Io } from '../io.ts';
import type { Shutdown } from '../shutdown.ts';
import type { Person } from './ask.ts';
import { previewLines, statusText } from './batch-lines.ts';
import { type Fleet, openFleet } from './open-fleet.ts';
import { startWorker } from './start-worker.ts';
import { watchBatch } from './watch-batch.ts';

export type BatchFlags = ValuesOf<typeof SUBCOMMANDS.batch.flags>;
export type BatchWish = {
  readonly words: readonly string[];
  readonly flags: BatchFlags;
  readonly io: Io;
  readonly shutdown: Shutdown;
};

/** What a batch ended with, for scripts. */
export const EXIT = { done: 0, failed: 1, money: 3, waits: 4 } as const;

/** `ouro batch run <file>` and `ouro batch "<prompt>" --over …`: preview, submit, work, watch. */
export async function runBatch(wish: BatchWish): Promise<number> {
  const { flags, io } = wish;
  const fleet = flags.dryRun === true ? undefined : await openFleet(io, flags.queue);
  try {
    const reach = flags.queue === undefined && io.environment.keys.OURO_QUEUE === undefined ? 'this machine' : 'many';
    const { batch, tasks } = await expanded(wish, fleet?.reach ?? reach).catch((thrown: unknown) => {
      throw thrown instanceof TaskFileProblem ? new UsageError(thrown.message) : thrown;
    });
    if (flags.json !== true || flags.dryRun === true) showPreview({ batch, tasks }, wish);
    if (fleet === undefined) return EXIT.done;
    return await submitAndWork({ batch, tasks: await signed(batch.id, tasks, flags.sign) }, fleet, wish);
  } finally {
    await fleet?.store.close();
  }
}

function showPreview({ batch, tasks }: Expanded, { flags, io }: BatchWish): void {
  if (flags.json === true) {
    io.stdout.write(`${JSON.stringify({ batch, tasks }, null, 2)}\n`);
    return;
  }
  const lines = previewLines(batch, tasks, io.stdout.isTty ? io.stdout.columns() : 1_000);
  const shown = flags.dryRun === true ? lines : lines.slice(-1);
  for (const line of shown) (flags.dryRun === true ? io.stdout : io.stderr).write(`${line}\n`);
}

async function expanded({ words, flags, io }: BatchWish, reach: Fleet['reach']): Promise<Expanded> {
  const partsIn = (folder: string) => ({
    git: fleetGit(io.environment),
    folder,
    variables: io.environment.variables,
    note: (line: string) => io.stderr.write(`${line}\n`),
    reach,
  });
  const [verb, name] = words;
  if (verb !== 'run') return expandFile(fileOfFlags(words, flags), partsIn(io.cwd));
  if (name === undefined || words.length > 2) throw new UsageError('Say which file: ouro batch run fleet.yaml');
  const path = resolve(io.cwd, name);
  const source = await readFile(path, 'utf8').catch(() => {
    throw new UsageError(`There is no file ${name}. "ouro batch init <dir>" makes one to begin with.`);
  });
  const read = readTaskFile(source, basename(path));
  if ('file' in read) return expandFile(read.file, partsIn(dirname(path)));
  const { collect, limits, priority } = fileOfFlags(['lines'], { ...flags, over: ['.'] });
  const frame = { name: flags.name ?? basename(path, '.jsonl'), collect, limits, priority };
  return expandLines(read.lines, frame, partsIn(dirname(path)));
}

function fileOfFlags(words: readonly string[], flags: BatchFlags) {
  const { over, items, name, ref, model, mode, allowedTools, verify, each, all, minutes, attempts, atOnce } = flags;
  if (over.length === 0)
    throw new UsageError(
      'Say over what: ouro batch "<prompt>" --over <folders, files or addresses>. Or: ouro batch run <file>',
    );
  if (words.length === 0)
    throw new UsageError('There is no prompt. It stands first: ouro batch "<prompt>" --over <folders>');
  return taskFileOf({
    prompt: words.join(' '),
    over: { repos: [...over], ...given('items', items) },
    ...given('name', name),
    ...given('ref', ref),
    ...given('model', model),
    ...given('mode', mode),
    ...given('allowedTools', allowedTools === undefined ? undefined : [...allowedTools]),
    ...given('verify', verify === undefined ? undefined : { run: verify }),
    limits: {
      ...given('each', each),
      ...given('all', all),
      ...given('minutes', minutes),
      ...given('attempts', attempts),
      ...given('at_once', atOnce),
    },
  });
}

function given<Key extends string, Value>(key: Key, value: Value | undefined): { readonly [K in Key]?: Value } {
  const none: { readonly [K in Key]?: Value } = {};
  return value === undefined ? none : { ...none, [key]: value };
}

async function signed(batch: string, tasks: readonly NewTask[], key: string | undefined): Promise<readonly NewTask[]> {
  if (key === undefined) return tasks;
  const done: NewTask[] = [];
  for (const task of tasks) done.push({ ...task, signature: await signTask(batch, task, key) });
  return done;
}

async function submitAndWork(expanded: Expanded, fleet: Fleet, wish: BatchWish): Promise<number> {
  if (!wish.io.stdin.isTty) return submitParts(expanded, fleet, wish);
  const { personAt } = await import('./ask.ts');
  const person = personAt(wish.io);
  try {
    return await submitParts(expanded, fleet, wish, person);
  } finally {
    await person.leave();
  }
}

/** The first that are to be tried, then the others: with a person there only as far as they say. */
async function submitParts(
  { batch, tasks }: Expanded,
  fleet: Fleet,
  wish: BatchWish,
  person?: Person,
): Promise<number> {
  const { flags, io } = wish;
  const first = flags.try === undefined ? tasks : tasks.filter(({ kind }) => kind === 'work').slice(0, flags.try);
  if (flags.yes !== true && (await person?.ask(`Begin with ${formatCount(first.length, 'task')}?`)) === false)
    return EXIT.done;
  await submitSome(batch, first, fleet, wish);
  if (flags.detach === true) {
    io.stdout.write(`${batch.id}\n`);
    return EXIT.done;
  }
  const code = await workOn(batch.id, fleet, wish);
  const left = tasks.length - first.length;
  if (left === 0 || code === 130 || code === 143) return code;
  if (person === undefined) {
    io.stderr.write(
      `${formatCount(left, 'task')} ${left === 1 ? 'is' : 'are'} left: the same command without --try goes on with them.\n`,
    );
    return code;
  }
  if (!(await person.ask(`Go on with the other ${left}?`))) return code;
  await submitSome(batch, tasks, fleet, wish);
  return workOn(batch.id, fleet, wish);
}

async function submitSome(
  batch: Expanded['batch'],
  tasks: readonly NewTask[],
  { store }: Fleet,
  { flags, io }: BatchWish,
): Promise<void> {
  const { known } = await store.submit(batch, tasks);
  const reused = flags.reuse === true ? await store.reuse(batch.id) : 0;
  if (flags.json === true) return;
  if (known > 0)
    io.stderr.write(`${formatCount(known, 'task')} of it ${known === 1 ? 'was' : 'were'} known already.\n`);
  if (reused > 0) io.stderr.write(`${formatCount(reused, 'task')} taken over from other batches.\n`);
}

/** Works on a batch in this process and watches it, until it has come to an end or has to wait. */
async function workOn(id: string, fleet: Fleet, { flags, io, shutdown }: BatchWish): Promise<number> {
  const ending = new AbortController();
  shutdown.guardWork({ graceMs: 15_000, abort: () => ending.abort() });
  const over = new AbortController();
  const watching = watchBatch(id, fleet.store, io, { json: flags.json === true, signal: over.signal });
  const ended = await startWorker(fleet, await readPolicy(io.environment.ouroHome), io, {
    slots: flags.jobs ?? defaultSlots(),
    until: 'empty',
    atRest: flags.wait === false ? 'ends' : 'waits',
    batch: id,
    signal: ending.signal,
    say: (line) => io.stderr.write(`${line}\n`),
  });
  over.abort();
  await watching;
  const status = await fleet.store.status(id);
  if (status === undefined) return EXIT.failed;
  if (flags.json !== true) await showEnd(status, fleet, io);
  return codeOf(ended, status, shutdown);
}

/** A task waits for its provider most of the time; what it runs besides wants a processor. */
export const defaultSlots = (): number => Math.max(2, Math.min(8, availableParallelism()));

async function showEnd(status: BatchStatus, { store }: Fleet, io: Io): Promise<void> {
  const tasks = await store.tasks(status.id, ['running', 'failed']);
  io.stdout.write(statusText(status, tasks, await store.now(), io.stdout.isTty ? io.stdout.columns() : 1_000));
  const { counts } = status;
  if (counts.done > 0) io.stdout.write(`Have the patches with: ouro batch collect ${status.id} --patches <dir>\n`);
  if (counts.failed > 0) io.stdout.write(`Try again with: ouro batch retry ${status.id} --failed\n`);
}

function codeOf(ended: WorkerEnd, status: BatchStatus, shutdown: Shutdown): number {
  if (ended.kind === 'stopped') return signalCode(shutdown.reason());
  if (ended.kind === 'waits') return ended.for === 'money' ? EXIT.money : EXIT.waits;
  if (ended.kind === 'left') return EXIT.waits;
  return batchCode(status);
}

/** 0 is said only when every task is done; one that is paused, or that nobody works on yet, is not. */
export function batchCode({ counts, waits }: BatchStatus): number {
  if (counts.waiting + counts.running + counts.held > 0)
    return waits.some(({ kind }) => kind === 'money') ? EXIT.money : EXIT.waits;
  return counts.failed + counts.cancelled > 0 ? EXIT.failed : EXIT.done;
}
