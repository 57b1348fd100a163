import type { FleetStore } from '../../contracts/fleet-store.ts';
import { completeAttempt, isAttemptOpen, reclaimExpiredTasks, recordHeartbeat } from './attempts.ts';
import { applyBatchCommand, reuseResults } from './batch-commands.ts';
import { areTasksSettled, getBatchStatus, listAttemptViews, listBatches, listTaskViews } from './batch-status.ts';
import { claimTask } from './claim-task.ts';
import type { SqlDatabase } from './database.ts';
import { acknowledgeDeletion, deleteBatch, listDeletions } from './delete-batch.ts';
import { pauseLane } from './rate-limit-lanes.ts';
import {
  deleteSchedule,
  listDueSchedules,
  listSchedules,
  saveSchedule,
  setScheduleProblem,
  submitRun,
} from './schedules.ts';
import { addUnreportedCost } from './spending.ts';
import { submitBatch } from './submit-batch.ts';
import { initializeSchema } from './tables.ts';
import { compressFile, loadTaskFile, saveTaskFile } from './task-files.ts';
import { listBranches, replaceBatch, saveBranch, updateBatch } from './update-batch.ts';

/** The location of a store: a folder on this machine, or a Postgres for several machines. */
export type StoreLocation =
  | { readonly kind: 'here'; readonly folder: string }
  | { readonly kind: 'postgres'; readonly url: string };

/** Opens a store. Only the database driver in use is loaded. */
export async function openStore(location: StoreLocation): Promise<FleetStore> {
  if (location.kind === 'postgres') {
    const { openPostgres } = await import('./postgres.ts');
    return createStore(await openPostgres(location.url));
  }
  const { openSqliteStore } = await import('./sqlite.ts');
  return createStore(await openSqliteStore(location.folder));
}

/**
 * Creates a store in a database.
 *
 * @internal Exported for tests.
 */
export async function createStore(sql: SqlDatabase): Promise<FleetStore> {
  await initializeSchema(sql).catch(async (thrown: unknown) => {
    await sql.close();
    throw thrown;
  });
  return {
    submit: (batch, tasks) => submitBatch(sql, batch, tasks),
    updateBatch: (batch, changedTasks) => updateBatch(sql, batch, changedTasks),
    replaceBatch: (batch, replacement) => replaceBatch(sql, batch, replacement),
    saveBranch: (branch) => sql.transaction((tx) => saveBranch(tx, branch)),
    listBranches: (of) => sql.transaction((tx) => listBranches(tx, of)),
    reuseResults: (batch) => reuseResults(sql, batch),
    claim: (claimer) => claimTask(sql, claimer),
    sendHeartbeat: (claim, beat) => recordHeartbeat(sql, claim, beat),
    async completeAttempt(claim, ending, lastBeat, files = {}) {
      const { patch, transcript, unfinished } = files;
      const compressedFiles = {
        ...(patch === undefined ? {} : { patch: await compressFile(patch) }),
        ...(transcript === undefined ? {} : { transcript: await compressFile(transcript) }),
        ...(unfinished === undefined ? {} : { unfinished: await compressFile(unfinished) }),
      };
      return completeAttempt(sql, claim, ending, lastBeat, compressedFiles);
    },
    async storeFile(claim, kind, bytes) {
      const content = await compressFile(bytes);
      await sql.transaction(async (tx) => {
        if (await isAttemptOpen(sql, tx, claim)) await saveTaskFile(tx, claim, kind, content);
      });
    },
    readFile: (batch, key, kind) => sql.transaction((tx) => loadTaskFile(tx, batch, key, kind)),
    pauseLane: (lane, why) => sql.transaction((tx) => pauseLane(sql, tx, lane, why)),
    reclaimExpired: (worker) => reclaimExpiredTasks(sql, worker),
    setTotalCost: (task, total) => sql.transaction((tx) => addUnreportedCost(sql, tx, task, total)),
    applyCommand: (batch, order) => applyBatchCommand(sql, batch, order),
    deleteBatch: (batch, by) => deleteBatch(sql, batch, by),
    listDeletions: (of) => sql.transaction((tx) => listDeletions(tx, of)),
    acknowledgeDeletion: (deletion) => sql.transaction((tx) => acknowledgeDeletion(tx, deletion)),
    listBatches: () => sql.transaction(listBatches),
    getStatus: (batch) => sql.transaction((tx) => getBatchStatus(tx, batch)),
    listTasks: (batch, states) => sql.transaction((tx) => listTaskViews(tx, batch, states)),
    listAttempts: (batch, key) => sql.transaction((tx) => listAttemptViews(tx, batch, key)),
    isSettled: (batch) => sql.transaction((tx) => areTasksSettled(tx, batch)),
    saveSchedule: (schedule) => sql.transaction((tx) => saveSchedule(tx, schedule)),
    listSchedules: () => sql.transaction(listSchedules),
    listDueSchedules: () => sql.transaction(listDueSchedules),
    submitRun: (due, tasks) => submitRun(sql, due, tasks),
    setScheduleProblem: (id, problem) => sql.transaction((tx) => setScheduleProblem(tx, id, problem)),
    deleteSchedule: (id) => sql.transaction((tx) => deleteSchedule(tx, id)),
    getTime: () => sql.transaction((tx) => tx.now()),
    close: () => sql.close(),
  };
}
