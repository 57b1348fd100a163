import { UsageError } from '../../cli/args/usage-error.ts';
import type { BatchStatus, NewBatchTask } from '../../contracts/fleet.ts';
import type { FleetStore } from '../../contracts/fleet-store.ts';
import {
  type BatchDifference,
  compareBatchSettings,
  compareBatchTasks,
  formatBatchDifferences,
  selectChangedTasks,
} from '../tasks/compare-batch.ts';
import type { ExpandedBatch } from '../tasks/expand-tasks.ts';

/** The difference between a task file and the version of its batch that is in force. */
export type TaskFileDiff = {
  /** `edits`: limits or variables, in the same batch. `replaces`: prompts or models, in a new batch of the same name. */
  readonly kind: 'edits' | 'replaces';
  readonly before: BatchStatus;
  readonly differences: readonly BatchDifference[];
};

/**
 * Finds what a task file changes. Prompts and models belong to the identity of a task, so their change makes another
 * batch. It replaces the earlier one if the file names its batch; a name made from the prompt says nothing.
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
  const differences = compareBatchTasks(await store.listTasks(before.id), tasks);
  return differences.length === 0 ? undefined : { kind: 'replaces', before, differences };
}

/** Formats a change for confirmation. */
export function formatTaskFileChange({ kind, before, differences }: TaskFileDiff): string {
  const open = before.counts.waiting + before.counts.running + before.counts.held;
  const effect =
    kind === 'edits'
      ? 'they apply to all tasks that have not ended; running ones finish with what they started with'
      : open > 0
        ? `a new batch replaces it, and its ${open} open tasks are cancelled`
        : 'a new batch replaces it';
  return `Changes to batch ${before.id}, version ${before.version} (${effect}):\n${formatBatchDifferences(differences)}`;
}

/** Throws for a change that nobody can confirm. */
export function requireChangeConfirmation(change: TaskFileDiff): never {
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
