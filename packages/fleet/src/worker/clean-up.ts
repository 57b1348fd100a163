import { randomUUID } from 'node:crypto';
import { readFile, realpath, rm } from 'node:fs/promises';
import { join } from 'node:path';
import {
  acquireLock,
  type Environment,
  formatOneLine,
  getErrorMessage,
  ignoreMissingFile,
  runWithFileLock,
  writePrivateFile,
} from '@ouro-cli/ouro/commands';
import { getProjectDir } from '@ouro-cli/ouro/sessions';
import type { RepositoryMirrors } from '../git/repository-mirrors.ts';
import { isFolderInsideRepository, isSafeFolderName } from '../git/validate-checkout-spec.ts';
import type { BatchTaskView, TaskOfDeletedBatch } from '../store/batch.ts';
import { StoreUnavailable } from '../store/database.ts';
import type { FleetStore } from '../store/fleet-store.ts';
import { getTaskWorkFolder } from './prepare-task-attempt.ts';
import type { WorkerEvent } from './worker-events.ts';

/** The installation that cleans up, with its folders. */
export type FleetCleanUpDeps = {
  readonly store: FleetStore;
  readonly machine: string;
  readonly installation: string;
  readonly environment: Environment;
  /** Folder of the fleet files of this installation. */
  readonly fleetFolder: string;
  readonly workRoot: string;
  readonly mirrors: RepositoryMirrors;
};

/** Returns the id of this installation, stored beside its files because machine names change. */
export async function readInstallationId(fleetFolder: string): Promise<string> {
  const file = join(fleetFolder, 'installation');
  return runWithFileLock(file, async () => {
    const found = (await ignoreMissingFile(readFile(file, 'utf8')))?.trim();
    if (found !== undefined && found !== '') return found;
    const id = randomUUID();
    await writePrivateFile(file, `${id}\n`);
    return id;
  });
}

/** Deletes the files of deleted batches that are still on this machine. Returns the ids of the batches. */
export async function deletePendingBatchFiles(deps: FleetCleanUpDeps): Promise<readonly string[]> {
  const { store, fleetFolder, mirrors } = deps;
  if ((await store.listDeletions(deps)).length === 0) return [];
  const lock = await acquireLock(join(fleetFolder, 'deletions.lock'));
  // Another worker of this installation is at it.
  if (!lock.ok) return [];
  try {
    // Listed again: what another worker has deleted meanwhile may have been submitted again and be running.
    const deletions = await store.listDeletions(deps);
    const urls = new Set(deletions.flatMap(({ tasks }) => listRepositories(tasks)));
    for (const { batch, tasks } of deletions) await deleteBatchFiles(batch, tasks, deps);
    for (const { id } of await store.listBatches())
      for (const url of listRepositories(await store.listTasks(id))) urls.delete(url);
    for (const url of urls) await mirrors.deleteUnused(url);
    for (const deletion of deletions) await store.acknowledgeDeletion(deletion);
    return deletions.map(({ batch }) => batch);
  } finally {
    await lock.release();
  }
}

/** Deletes the working folders of a batch, and the sessions that ran in them. */
async function deleteBatchFiles(
  batch: string,
  tasks: readonly TaskOfDeletedBatch[],
  { environment, workRoot }: FleetCleanUpDeps,
): Promise<void> {
  // Rows of the queue may have been written by anyone with access to it.
  if (!isSafeFolderName(batch)) return;
  const realRoot = await realpath(workRoot).catch(() => workRoot);
  for (const { key, folder } of tasks.filter(
    (task) => isSafeFolderName(task.key) && isFolderInsideRepository(task.folder),
  )) {
    // Each task has a folder of its own, so all sessions of that project are sessions of the task.
    const project = getProjectDir(environment.ouroHome, join(getTaskWorkFolder(realRoot, batch, key), folder));
    await rm(project, { recursive: true, force: true });
  }
  await rm(join(workRoot, batch), { recursive: true, force: true });
}

const listRepositories = (tasks: readonly (TaskOfDeletedBatch | BatchTaskView)[]): readonly string[] =>
  tasks.flatMap((task) => ('spec' in task ? task.spec.place?.url : task.url) ?? []);

const DELETION_INTERVAL_MS = 5_000;
const PRUNE_INTERVAL_MS = 3_600_000;
const RETRY_MS = 60_000;

type CleanerDeps = {
  /** Deletes the files of deleted batches. Returns the ids of the batches. */
  readonly deleteFiles: () => Promise<readonly string[]>;
  /** Deletes the mirrors that are too old, or too many. */
  readonly pruneMirrors: () => Promise<void>;
  readonly onEvent: (event: WorkerEvent) => void;
};

/** Creates a cleaner, which deletes files at intervals, beside the tasks of its worker. */
export function createBatchFileCleaner({ deleteFiles, pruneMirrors, onEvent }: CleanerDeps) {
  let nextAt = 0;
  let pruneAt = 0;
  let cleaning: Promise<void> | undefined;

  async function clean(): Promise<void> {
    try {
      for (const batch of await deleteFiles()) onEvent({ kind: 'deleted', batch });
      nextAt = performance.now() + DELETION_INTERVAL_MS;
      if (performance.now() < pruneAt) return;
      pruneAt = performance.now() + PRUNE_INTERVAL_MS;
      await pruneMirrors();
    } catch (thrown) {
      nextAt = performance.now() + RETRY_MS;
      // Claims report that the store is unavailable. Other errors are those of the disk: the worker goes on.
      if (thrown instanceof StoreUnavailable) return;
      const message = `Cleaning up failed: ${formatOneLine(getErrorMessage(thrown))}`;
      onEvent({ kind: 'error', code: 'cleanup-failed', message });
    }
  }

  return {
    /** Starts to clean up, unless it has just done so. Large folders take a while, so nobody waits. */
    startWhenDue(): void {
      if (cleaning !== undefined || performance.now() < nextAt) return;
      cleaning = clean().finally(() => {
        cleaning = undefined;
      });
    },
    /** Waits until nothing is being deleted. */
    settle: async (): Promise<void> => cleaning,
  };
}
