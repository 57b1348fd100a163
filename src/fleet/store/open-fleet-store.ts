import type { FleetStore } from '../../contracts/fleet-store.ts';
import { completeTaskAttempt, lockOpenAttempt, reclaimExpiredTasks, recordHeartbeat } from './attempts.ts';
import { applyBatchCommand, reuseTaskResults } from './batch-commands.ts';
import { addUnreportedCost } from './batch-spending.ts';
import {
  areBatchTasksSettled,
  getBatchStatus,
  listBatches,
  listBatchTaskViews,
  listTaskAttemptViews,
} from './batch-status.ts';
import { claimTask } from './claim-task.ts';
import type { SqlDatabase } from './database.ts';
import { acknowledgeBatchDeletion, deleteBatch, listPendingDeletions } from './delete-batch.ts';
import { pauseRateLimitLane } from './rate-limit-lanes.ts';
import {
  deleteSchedule,
  listDueSchedules,
  listSchedules,
  recordScheduleProblem,
  saveSchedule,
  submitScheduledRun,
} from './schedules.ts';
import { submitBatch } from './submit-batch.ts';
import { initializeFleetSchema } from './tables.ts';
import { compressTaskArtifact, loadTaskArtifact, saveTaskArtifact } from './task-artifacts.ts';
import {
  listTaskBranches,
  replaceBatch,
  saveTaskBranch,
  updateBatchFromTaskFile,
} from './update-batch-from-task-file.ts';

/** The location of a store: a folder on this machine, or a Postgres for several machines. */
export type FleetStoreLocation =
  | { readonly kind: 'here'; readonly folder: string }
  | { readonly kind: 'postgres'; readonly url: string };

/** Opens a store. Only the database driver in use is loaded. */
export async function openFleetStore(location: FleetStoreLocation): Promise<FleetStore> {
  if (location.kind === 'postgres') {
    const { openPostgres } = await import('./postgres.ts');
    return createFleetStore(await openPostgres(location.url));
  }
  const { openSqliteStore } = await import('./sqlite.ts');
  return createFleetStore(await openSqliteStore(location.folder));
}

/**
 * Creates a store in a database.
 *
 * @internal Exported for tests.
 */
export async function createFleetStore(sql: SqlDatabase): Promise<FleetStore> {
  await initializeFleetSchema(sql).catch(async (thrown: unknown) => {
    await sql.close();
    throw thrown;
  });
  return {
    submit: (batch, tasks) => submitBatch(sql, batch, tasks),
    updateBatch: (batch, changedTasks) => updateBatchFromTaskFile(sql, batch, changedTasks),
    replaceBatch: (batch, replacement) => replaceBatch(sql, batch, replacement),
    saveBranch: (branch) => sql.transaction((tx) => saveTaskBranch(tx, branch)),
    listBranches: (of) => sql.transaction((tx) => listTaskBranches(tx, of)),
    reuseResults: (batch) => reuseTaskResults(sql, batch),
    claim: (claimer) => claimTask(sql, claimer),
    sendHeartbeat: (claim, beat) => recordHeartbeat(sql, claim, beat),
    async completeAttempt(claim, ending, lastBeat, files = {}) {
      const { patch, transcript, unfinished } = files;
      const compressedFiles = {
        ...(patch === undefined ? {} : { patch: await compressTaskArtifact(patch) }),
        ...(transcript === undefined ? {} : { transcript: await compressTaskArtifact(transcript) }),
        ...(unfinished === undefined ? {} : { unfinished: await compressTaskArtifact(unfinished) }),
      };
      return completeTaskAttempt(sql, claim, ending, lastBeat, compressedFiles);
    },
    async storeFile(claim, kind, bytes) {
      const content = await compressTaskArtifact(bytes);
      await sql.transaction(async (tx) => {
        if (await lockOpenAttempt(sql, tx, claim)) await saveTaskArtifact(tx, claim, kind, content);
      });
    },
    readFile: (batch, key, kind) => sql.transaction((tx) => loadTaskArtifact(tx, batch, key, kind)),
    pauseLane: (lane, why) => sql.transaction((tx) => pauseRateLimitLane(sql, tx, lane, why)),
    reclaimExpired: (worker) => reclaimExpiredTasks(sql, worker),
    setTotalCost: (task, total) => sql.transaction((tx) => addUnreportedCost(sql, tx, task, total)),
    applyCommand: (batch, order) => applyBatchCommand(sql, batch, order),
    deleteBatch: (batch, by) => deleteBatch(sql, batch, by),
    listDeletions: (of) => sql.transaction((tx) => listPendingDeletions(tx, of)),
    acknowledgeDeletion: (deletion) => sql.transaction((tx) => acknowledgeBatchDeletion(tx, deletion)),
    listBatches: () => sql.transaction(listBatches),
    getStatus: (batch) => sql.transaction((tx) => getBatchStatus(tx, batch)),
    listTasks: (batch, states) => sql.transaction((tx) => listBatchTaskViews(tx, batch, states)),
    listAttempts: (batch, key) => sql.transaction((tx) => listTaskAttemptViews(tx, batch, key)),
    isSettled: (batch) => sql.transaction((tx) => areBatchTasksSettled(tx, batch)),
    saveSchedule: (schedule) => sql.transaction((tx) => saveSchedule(tx, schedule)),
    listSchedules: () => sql.transaction(listSchedules),
    listDueSchedules: () => sql.transaction(listDueSchedules),
    submitRun: (due, tasks) => submitScheduledRun(sql, due, tasks),
    setScheduleProblem: (id, problem) => sql.transaction((tx) => recordScheduleProblem(tx, id, problem)),
    deleteSchedule: (id) => sql.transaction((tx) => deleteSchedule(tx, id)),
    getTime: () => sql.transaction((tx) => tx.now()),
    close: () => sql.close(),
  };
}
