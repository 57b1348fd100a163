import { formatCount, formatMoney, formatOneLine, sortKeys, UsageError } from '@ouro-cli/ouro/commands';
import type { BatchSettings, BatchStatus, BatchTaskSpec, BatchTaskView, NewBatchTask } from '../store/batch.ts';
import type { FleetStore } from '../store/fleet-store.ts';
import type { ExpandedBatch } from '../tasks/expand-tasks.ts';

/** The difference between a task file and the version of its batch that is in force. */
export type TaskFileDiff = {
  /** `edits`: limits or variables, in the same batch. `replaces`: prompts, models, targets or commits, in a new batch. */
  readonly kind: 'edits' | 'replaces';
  readonly before: BatchStatus;
  readonly differences: readonly BatchDifference[];
};

/**
 * Finds what a task file changes. Prompts, models and commits belong to the identity of a task, so their change makes
 * another batch. It replaces the earlier one if the file names its batch; a name made from the prompt says nothing. A
 * batch that has ended is not replaced by the same tasks at later commits: it is only run once more.
 */
export async function findTaskFileChange(
  store: FleetStore,
  { batch, tasks }: ExpandedBatch,
  { isNamed }: { readonly isNamed: boolean },
): Promise<TaskFileDiff | undefined> {
  const stored = await store.getStatus(batch.id);
  if (stored !== undefined && stored.replacedBy === undefined) {
    const storedTasks = await store.listTasks(batch.id);
    const differences = [...compareBatchSettings(stored.submitted, batch), ...compareBatchTasks(storedTasks, tasks)];
    return differences.length === 0 ? undefined : { kind: 'edits', before: stored, differences };
  }
  if (!isNamed) return undefined;
  const before = (await store.listBatches()).find(
    ({ id, name, replacedBy }) => name === batch.name && id !== batch.id && replacedBy === undefined,
  );
  if (before === undefined) return undefined;
  const storedTasks = await store.listTasks(before.id);
  const differences = [
    ...compareBatchSettings(before.submitted, batch),
    ...compareWithStoredTargets(storedTasks, tasks),
    ...compareBatchTasks(storedTasks, tasks),
  ];
  const isLaterRun = stored === undefined && countOpenTasks(before) === 0 && differences.every(isCommit);
  return isLaterRun ? undefined : { kind: 'replaces', before, differences };
}

const countOpenTasks = ({ counts }: BatchStatus): number => counts.waiting + counts.running + counts.held;
const isCommit = ({ field }: BatchDifference): boolean => field === 'commit';

/** Formats a change for confirmation. */
export function formatTaskFileChange({ kind, before, differences }: TaskFileDiff): string {
  const open = countOpenTasks(before);
  const { done } = before.counts;
  const reuse = done > 0 ? `; --reuse takes over results of tasks that are the same` : '';
  const effect =
    kind === 'edits'
      ? 'they apply to all tasks that are not done; running ones finish with what they started with'
      : open > 0
        ? `a new batch replaces it, and its ${formatCount(open, 'open task')} ${open === 1 ? 'is' : 'are'} cancelled${reuse}`
        : `a new batch replaces it${reuse}`;
  return `Changes to batch ${before.id}, version ${before.version} (${effect}):\n${formatBatchDifferences(differences)}`;
}

/** Throws for a change that nobody can confirm. */
export function refuseUnconfirmedChange(change: TaskFileDiff): never {
  throw new UsageError(
    `${formatTaskFileChange(change)}Nothing was started: a changed task file needs confirmation. Add --yes to apply it.`,
  );
}

/** Applies a confirmed change, before its tasks are submitted. Returns the batch to submit, with its version. */
export async function applyTaskFileChange(
  store: FleetStore,
  { batch, tasks }: ExpandedBatch,
  { kind, before }: TaskFileDiff,
): Promise<ExpandedBatch['batch']> {
  if (kind === 'edits') {
    await store.updateBatch(batch, selectChangedTasks(await store.listTasks(batch.id), tasks));
    return batch;
  }
  await store.replaceBatch(before.id, batch.id);
  if ((await store.getStatus(batch.id)) !== undefined) await revive(store, batch, tasks);
  return { ...batch, version: before.version + 1 };
}

/** Continues a batch that was replaced, because its task file was changed back. */
async function revive(store: FleetStore, batch: ExpandedBatch['batch'], tasks: readonly NewBatchTask[]): Promise<void> {
  await store.updateBatch(batch, selectChangedTasks(await store.listTasks(batch.id), tasks));
  await store.applyCommand(batch.id, { command: 'resume' });
}

/** A difference between a task file and the stored version of its batch. */
type BatchDifference = {
  readonly field: string;
  readonly before: string;
  readonly after: string;
  /** Number of tasks it applies to; absent for fields of the whole batch. */
  readonly tasks?: number;
};

/** The fields of a task that a person may edit. */
const TASK_FIELDS: readonly (keyof BatchTaskSpec)[] = [
  ...(['prompt', 'model', 'mode', 'allowedTools', 'disallowedTools', 'env', 'secrets', 'verify', 'schema'] as const),
  ...(['minutes', 'turns'] as const),
];

/**
 * Compares the limits and the other settings of a batch with those that its task file had when it was applied last.
 * @internal Exported for tests.
 */
export function compareBatchSettings(submitted: BatchSettings, batch: BatchSettings): readonly BatchDifference[] {
  const { limits: before } = submitted;
  const { limits: after } = batch;
  const fields: readonly (readonly [string, string, string])[] = [
    ['limits.each', formatMicros(before.each), formatMicros(after.each)],
    ['limits.all', formatMicros(before.all), formatMicros(after.all)],
    ['limits.attempts', String(before.attempts), String(after.attempts)],
    ['limits.at_once', String(before.atOnce), String(after.atOnce)],
    ['priority', String(submitted.priority), String(batch.priority)],
    ['collect', formatValue(submitted.collect), formatValue(batch.collect)],
  ];
  return fields.flatMap(([field, old, now]) => (old === now ? [] : [{ field, before: old, after: now }]));
}

/** Compares the tasks of a file with the stored ones. Finished tasks stay as they are. @internal Exported for tests. */
export function compareBatchTasks(
  storedTasks: readonly BatchTaskView[],
  tasks: readonly NewBatchTask[],
): readonly BatchDifference[] {
  const found = new Map<string, { readonly before: string; readonly after: string; tasks: number }>();
  for (const { task, stored } of matchTasks(storedTasks, tasks)) {
    if (stored.state === 'done' && stored.key === task.key) continue;
    for (const [field, before, after] of listTaskFields(stored, task)) {
      if (before === after) continue;
      const entry = found.get(field) ?? { before, after, tasks: 0 };
      entry.tasks += 1;
      found.set(field, entry);
    }
  }
  return [...found].map(([field, entry]) => ({ field, ...entry }));
}

/** Lists the fields of a task as the file has them; its lane stands for the account. */
function listTaskFields(stored: BatchTaskView, task: NewBatchTask): readonly (readonly [string, string, string])[] {
  const [before, after] = [stored.spec.place, task.spec.place];
  return [
    ['repository', formatValue(before && [before.url, before.folder]), formatValue(after && [after.url, after.folder])],
    ['commit', formatValue(before?.commit), formatValue(after?.commit)],
    ...TASK_FIELDS.map((field) => [field, formatValue(stored.spec[field]), formatValue(task.spec[field])] as const),
    // A model of another provider has another lane, too, and is shown itself.
    ...(stored.spec.model === task.spec.model ? [['account', stored.lane, task.lane] as const] : []),
    ['priority', String(stored.priority), String(task.priority)] as const,
  ];
}

/** Compares the targets of a file with the stored ones, by their titles. @internal Exported for tests. */
export function compareWithStoredTargets(
  storedTasks: readonly BatchTaskView[],
  tasks: readonly NewBatchTask[],
): readonly BatchDifference[] {
  const matches = matchTasks(storedTasks, tasks);
  const matched = new Set<object>(matches.flatMap(({ task, stored }) => [task, stored]));
  const removed = storedTasks.filter((task) => !matched.has(task));
  const added = tasks.filter((task) => !matched.has(task));
  if (added.length + removed.length === 0) return [];
  return [{ field: 'targets', before: formatTitles(removed), after: formatTitles(added) }];
}

type TaskMatch = { readonly task: NewBatchTask; readonly stored: BatchTaskView };

/**
 * Matches tasks with the stored ones by their key, else by their title, because a changed prompt gives a task another
 * key. Tasks of the same title are matched in their order.
 */
function matchTasks(storedTasks: readonly BatchTaskView[], tasks: readonly NewBatchTask[]): readonly TaskMatch[] {
  const byKey = new Map(storedTasks.map((stored) => [stored.key, stored]));
  const keys = new Set(tasks.map(({ key }) => key));
  const byTitle = Map.groupBy(
    storedTasks.filter(({ key }) => !keys.has(key)),
    ({ title }) => title,
  );
  return tasks.flatMap((task) => {
    const stored = byKey.get(task.key) ?? byTitle.get(task.title)?.shift();
    return stored === undefined ? [] : [{ task, stored }];
  });
}

/** Returns the tasks whose stored form differs from the file, to be stored as the new version. @internal */
export function selectChangedTasks(
  storedTasks: readonly BatchTaskView[],
  tasks: readonly NewBatchTask[],
): readonly NewBatchTask[] {
  const stored = new Map(storedTasks.map((task) => [task.key, task]));
  return tasks.filter((task) => {
    const before = stored.get(task.key);
    if (before === undefined || before.state === 'done') return false;
    return (
      before.lane !== task.lane ||
      before.priority !== task.priority ||
      TASK_FIELDS.some((field) => formatValue(before.spec[field]) !== formatValue(task.spec[field]))
    );
  });
}

const formatTitles = (tasks: readonly { readonly title: string }[]): string =>
  tasks.length === 0 ? formatValue(undefined) : tasks.map(({ title }) => title).join(', ');

/** Formats money to the last digit, so that two different limits never look the same. */
const formatMicros = (micros: number): string =>
  micros % 10_000 === 0 ? formatMoney(micros / 1e6) : `$${micros / 1e6}`;

const formatValue = (value: unknown): string =>
  value === undefined ? '(none)' : typeof value === 'string' ? value : JSON.stringify(sortKeys(value));

/** Formats the differences, one line each. */
function formatBatchDifferences(differences: readonly BatchDifference[]): string {
  return differences
    .map(({ field, before, after, tasks }) => {
      const scope = tasks === undefined ? '' : ` (${formatCount(tasks, 'task')})`;
      return `  ${field}${scope}\n    - ${formatOneLine(before)}\n    + ${formatOneLine(after)}\n`;
    })
    .join('');
}
