import type {
  BatchScheduleView,
  BatchTaskBranch,
  DueBatchSchedule,
  NewBatch,
  NewBatchSchedule,
  NewBatchTask,
} from '../../contracts/fleet.ts';
import type { FleetStore } from '../../contracts/fleet-store.ts';
import {
  completeTaskAttempt,
  compressTaskArtifact,
  loadTaskArtifact,
  lockOpenAttempt,
  reclaimExpiredTasks,
  recordHeartbeat,
  saveTaskArtifact,
} from './attempts.ts';
import { applyBatchCommand, cancelBatchTasks, reuseTaskResults } from './batch-commands.ts';
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

import { parseDueSchedule, parseFleetBatchRow, parseFleetBranchRow, parseFleetScheduleRow } from './schema.ts';
import { insertBatch, submitBatch } from './submit-batch.ts';
import { initializeFleetSchema } from './tables.ts';

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
  return rows.map(parseFleetBranchRow);
}

/** Stores a schedule. A replaced one keeps its next time, unless the new interval ends earlier. */
async function saveSchedule(tx: SqlTransaction, { id, everyMs, batch, tasks }: NewBatchSchedule): Promise<void> {
  const now = await tx.now();
  await tx.query(
    `INSERT INTO fleet_schedules (id, version, every_ms, next_ms, batch, tasks, task_count) VALUES (?, 1, ?, ?, ?, ?, ?)
     ON CONFLICT (id) DO UPDATE SET version = fleet_schedules.version + 1, every_ms = excluded.every_ms,
       next_ms = CASE WHEN fleet_schedules.next_ms < excluded.next_ms + excluded.every_ms
         THEN fleet_schedules.next_ms ELSE excluded.next_ms + excluded.every_ms END,
       batch = excluded.batch, tasks = excluded.tasks, task_count = excluded.task_count, problem = NULL`,
    ...[id, everyMs, now, JSON.stringify(batch), JSON.stringify(tasks), tasks.length],
  );
}

/** Lists the schedules by id. */
async function listSchedules(tx: SqlTransaction): Promise<readonly BatchScheduleView[]> {
  return (await tx.query('SELECT * FROM fleet_schedules ORDER BY id')).map(parseFleetScheduleRow);
}

/** Lists the schedules that are due. A run that has not ended delays the next one, so that runs do not pile up. */
async function listDueSchedules(tx: SqlTransaction): Promise<readonly DueBatchSchedule[]> {
  const rows = await tx.query(
    `SELECT * FROM fleet_schedules s WHERE next_ms <= ? AND NOT EXISTS
       (SELECT 1 FROM fleet_tasks t WHERE t.batch = s.last_batch AND t.state IN ('waiting', 'running', 'held'))
     ORDER BY next_ms, id`,
    await tx.now(),
  );
  return rows.map(parseDueSchedule);
}

/** Submits a due run exactly once, and skips the times that have passed meanwhile. */
function submitScheduledRun(
  sql: SqlDatabase,
  { id, version, dueMs, everyMs, batch }: DueBatchSchedule,
  tasks: readonly NewBatchTask[],
): Promise<string | undefined> {
  return sql.transaction(async (tx) => {
    const missed = Math.max(0, Math.floor(((await tx.now()) - dueMs) / everyMs));
    const run = `${id}-${formatTime(dueMs)}`;
    const moved = await tx.query(
      `UPDATE fleet_schedules SET next_ms = ?, last_batch = ?, problem = NULL
       WHERE id = ? AND version = ? AND next_ms = ? RETURNING id`,
      ...[dueMs + (missed + 1) * everyMs, run, id, version, dueMs],
    );
    if (moved.length === 0) return undefined;
    await insertBatch(tx, { ...batch, id: run, name: run }, tasks);
    return run;
  });
}

/** Formats a time for the id of a batch: `20260131-170500`. */
const formatTime = (ms: number): string =>
  new Date(ms).toISOString().slice(0, 19).replaceAll(/[-:]/g, '').replace('T', '-');

/** Records why a run was not submitted. */
async function recordScheduleProblem(tx: SqlTransaction, id: string, problem: string): Promise<void> {
  await tx.query('UPDATE fleet_schedules SET problem = ? WHERE id = ?', problem, id);
}

/** Deletes a schedule. Returns whether there was one. */
async function deleteSchedule(tx: SqlTransaction, id: string): Promise<boolean> {
  return (await tx.query('DELETE FROM fleet_schedules WHERE id = ? RETURNING id', id)).length > 0;
}
