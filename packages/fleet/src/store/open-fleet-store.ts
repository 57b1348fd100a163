import {
  completeTaskAttempt,
  compressTaskArtifact,
  loadTaskArtifact,
  lockOpenTaskAttempt,
  reclaimExpiredTasks,
  recordHeartbeat,
  saveTaskArtifact,
} from './attempts.ts';
import type { BatchTaskBranch, NewBatch, NewBatchTask } from './batch.ts';
import { applyBatchControlCommand, cancelBatchTasks, reuseTaskResults } from './batch-commands.ts';
import {
  addUnreportedCost,
  areBatchTasksSettled,
  getBatchStatus,
  listBatches,
  listBatchTaskViews,
  listTaskAttemptViews,
} from './batch-status.ts';
import { addRateLimitLane, claimTask, pauseRateLimitLane } from './claim-task.ts';
import type { SqlDatabase, SqlTransaction } from './database.ts';
import { acknowledgeBatchDeletion, deleteBatch, listPendingDeletions } from './delete-batch.ts';
import type { FleetStore } from './fleet-store.ts';
import { initializeFleetSchema } from './initialize-schema.ts';
import {
  deleteSchedule,
  listDueSchedules,
  listSchedules,
  recordScheduleProblem,
  saveSchedule,
  submitScheduledRun,
} from './schedules.ts';
import { parseFleetBatchRow, parseFleetBranchRow } from './schema.ts';
import { submitBatch } from './submit-batch.ts';

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

/** Creates a store in a database. @internal Exported for tests. */
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
        if (await lockOpenTaskAttempt(sql, tx, claim)) await saveTaskArtifact(tx, claim, kind, content);
      });
    },
    readFile: (batch, key, kind) => sql.transaction((tx) => loadTaskArtifact(tx, batch, key, kind)),
    pauseLane: (lane, why) => sql.transaction((tx) => pauseRateLimitLane(sql, tx, lane, why)),
    reclaimExpired: (worker) => reclaimExpiredTasks(sql, worker),
    setTotalCost: (task, total) => sql.transaction((tx) => addUnreportedCost(sql, tx, task, total)),
    applyCommand: (batch, order) => applyBatchControlCommand(sql, batch, order),
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

/** Applies an edited task file to its batch. A budget that was raised by command stays unless the file changed it. */
function updateBatchFromTaskFile(
  sql: SqlDatabase,
  { id, limits, priority, collect }: NewBatch,
  changedTasks: readonly NewBatchTask[],
): Promise<void> {
  return sql.transaction(async (tx) => {
    const [row] = await tx.query(`SELECT * FROM fleet_batches WHERE id = ?${sql.forUpdate}`, id);
    if (row === undefined) throw new Error(`There is no batch ${id}. List the batches with: ouro batch`);
    const before = parseFleetBatchRow(row);
    const all = before.submitted.limits.all === limits.all ? before.limits.all : limits.all;
    await tx.query(
      `UPDATE fleet_batches SET limit_each = ?, limit_all = ?, attempts = ?, at_once = ?, priority = ?, collect = ?,
        submitted = ?, version = version + 1, replaced_by = NULL WHERE id = ?`,
      ...[limits.each, all, limits.attempts, limits.atOnce, priority, JSON.stringify(collect)],
      ...[JSON.stringify({ limits, priority, collect }), id],
    );
    for (const lane of new Set(changedTasks.map((task) => task.lane))) await addRateLimitLane(tx, lane);
    for (const { key, spec, signature, lane, priority: taskPriority } of changedTasks)
      await tx.query(
        `UPDATE fleet_tasks SET spec = ?, signature = ?, lane = ?, priority = ?
         WHERE batch = ? AND task_key = ? AND state <> 'done'`,
        ...[JSON.stringify(spec), signature ?? null, lane, taskPriority, id, key],
      );
  });
}

/** Cancels the open tasks of a batch and records the one that replaces it. */
function replaceBatch(sql: SqlDatabase, batch: string, replacement: string): Promise<void> {
  return sql.transaction(async (tx) => {
    await tx.query(`SELECT id FROM fleet_batches WHERE id = ?${sql.forUpdate}`, batch);
    await cancelBatchTasks(tx, batch);
    await tx.query('UPDATE fleet_batches SET replaced_by = ? WHERE id = ?', replacement, batch);
  });
}

/** Stores what ouro knows about a branch. */
async function saveTaskBranch(tx: SqlTransaction, record: BatchTaskBranch): Promise<void> {
  const { url, branch, commit, batch, key, request } = record;
  await tx.query(
    `INSERT INTO fleet_branches (url, branch, commit_id, batch, task_key, request) VALUES (?, ?, ?, ?, ?, ?)
     ON CONFLICT (url, branch) DO UPDATE SET commit_id = excluded.commit_id, batch = excluded.batch,
       task_key = excluded.task_key, request = coalesce(excluded.request, fleet_branches.request)`,
    ...[url, branch, commit, batch, key, request === undefined ? null : JSON.stringify(request)],
  );
}

/** Lists the branches of a repository, or those of a batch. */
async function listTaskBranches(
  tx: SqlTransaction,
  of: { readonly url: string } | { readonly batch: string },
): Promise<readonly BatchTaskBranch[]> {
  const rows =
    'url' in of
      ? await tx.query('SELECT * FROM fleet_branches WHERE url = ? ORDER BY branch', of.url)
      : await tx.query('SELECT * FROM fleet_branches WHERE batch = ? ORDER BY url, branch', of.batch);
  return rows.flatMap((row) => parseFleetBranchRow(row) ?? []);
}
