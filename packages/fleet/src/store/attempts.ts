import { promisify } from 'node:util';
import { zstdCompress, zstdDecompress } from 'node:zlib';
import type {
  AttemptHeartbeat,
  BatchTaskState,
  LostBatchTask,
  TaskArtifactKind,
  TaskAttemptEnd,
  TaskClaim,
} from './batch.ts';
import { MAX_CLAIM_DELAY_MS, type SqlDatabase, type SqlTransaction } from './database.ts';
import {
  type FleetAttemptRow,
  type FleetTaskRow,
  parseFleetAttemptRow,
  parseFleetBatchRow,
  parseFleetFileRow,
  parseFleetTaskRow,
} from './schema.ts';

type Files = Readonly<Partial<Record<TaskArtifactKind, Uint8Array>>>;

/** Completes an attempt. Of an attempt that was replaced only the cost is added. */
export function completeTaskAttempt(
  sql: SqlDatabase,
  claim: TaskClaim,
  ending: TaskAttemptEnd,
  lastBeat: AttemptHeartbeat,
  files: Files = {},
): Promise<'kept' | 'late'> {
  return sql.transaction(async (tx) => {
    const locked = await lockTask(sql, tx, claim.batch, claim.key);
    const attempt = await findAttempt(tx, claim.id);
    await tx.query(
      'UPDATE fleet_attempts SET cost = CASE WHEN cost > ? THEN cost ELSE ? END, session = coalesce(?, session) WHERE id = ?',
      ...[lastBeat.cost, lastBeat.cost, lastBeat.session ?? null, claim.id],
    );
    // A repeated call: the worker did not get the first reply.
    if (attempt?.ended_ms !== undefined && attempt.outcome !== LOST_OUTCOME) return 'kept';
    if (locked === undefined || attempt === undefined || attempt.ended_ms !== undefined) return 'late';
    const state = getNextState(ending, locked.task, locked.attempts);
    await closeAttempt(tx, claim.id, ending.kind === 'done' ? 'done' : ending.reason);
    for (const kind of FILE_KINDS) {
      const bytes = files[kind];
      if (bytes !== undefined) await saveTaskArtifact(tx, claim, kind, bytes);
    }
    await storeSession(tx, claim, lastBeat.session);
    if (locked.task.state === 'cancelled') return 'kept';
    const pauseMs = ending.kind === 'back' ? ending.afterMs : getRetryPause(claim.attempt);
    await updateTask(tx, claim, { state, tries: countTries(ending, locked.task), ending, pauseMs });
    await releaseSummaryTask(tx, claim.batch);
    return 'kept';
  });
}

const FILE_KINDS: readonly TaskArtifactKind[] = ['patch', 'transcript', 'unfinished'];
const FIRST_PAUSE_MS = 1_000;

/** Returns the pause before a retry, doubling from one second. */
const getRetryPause = (attempt: number): number => Math.min(MAX_CLAIM_DELAY_MS, FIRST_PAUSE_MS * 2 ** (attempt - 1));

function getNextState(ending: TaskAttemptEnd, task: FleetTaskRow, attempts: number): BatchTaskState {
  if (ending.kind === 'done') return 'done';
  if (ending.kind === 'back') return 'waiting';
  return ending.again === 'never' || task.tries + 1 >= attempts ? 'failed' : 'waiting';
}

const countTries = (ending: TaskAttemptEnd, { tries }: FleetTaskRow): number =>
  ending.kind === 'back' ? tries : tries + 1;

/** Locks the batch of a task, always before other rows, so that completing and claiming cannot deadlock. */
async function lockTask(
  sql: SqlDatabase,
  tx: SqlTransaction,
  batch: string,
  key: string,
): Promise<{ readonly task: FleetTaskRow; readonly attempts: number } | undefined> {
  const [batchRow] = await tx.query(`SELECT * FROM fleet_batches WHERE id = ?${sql.forUpdate}`, batch);
  const [taskRow] = await tx.query('SELECT * FROM fleet_tasks WHERE batch = ? AND task_key = ?', batch, key);
  if (batchRow === undefined || taskRow === undefined) return undefined;
  return { task: parseFleetTaskRow(taskRow), attempts: parseFleetBatchRow(batchRow).limits.attempts };
}

async function findAttempt(tx: SqlTransaction, id: string, forUpdate = ''): Promise<FleetAttemptRow | undefined> {
  const [row] = await tx.query(`SELECT * FROM fleet_attempts WHERE id = ?${forUpdate}`, id);
  return row === undefined ? undefined : parseFleetAttemptRow(row);
}

/** Returns whether an attempt is still open, and locks it, so that completing it waits for this transaction. */
export async function lockOpenTaskAttempt(
  sql: SqlDatabase,
  tx: SqlTransaction,
  { id }: Pick<TaskClaim, 'id'>,
): Promise<boolean> {
  const open = await tx.query(`SELECT id FROM fleet_attempts WHERE id = ? AND ended_ms IS NULL${sql.forUpdate}`, id);
  return open.length === 1;
}

async function closeAttempt(tx: SqlTransaction, id: string, outcome: string): Promise<void> {
  await tx.query('UPDATE fleet_attempts SET ended_ms = ?, outcome = ? WHERE id = ?', await tx.now(), outcome, id);
}

/** Closes an attempt as lost. The next attempt continues its session. */
export async function closeLostAttempt(
  tx: SqlTransaction,
  { id, batch, task_key: key, session }: FleetAttemptRow,
): Promise<void> {
  await closeAttempt(tx, id, LOST_OUTCOME);
  await storeSession(tx, { batch, key }, session);
}

type TaskId = Pick<TaskClaim, 'batch' | 'key'>;

async function storeSession(tx: SqlTransaction, { batch, key }: TaskId, session: string | undefined): Promise<void> {
  if (session === undefined) return;
  await tx.query('UPDATE fleet_tasks SET session = ? WHERE batch = ? AND task_key = ?', session, batch, key);
}

type TaskUpdate = {
  readonly state: BatchTaskState;
  readonly tries: number;
  readonly ending: TaskAttemptEnd;
  readonly pauseMs: number;
};

async function updateTask(tx: SqlTransaction, { batch, key }: TaskId, update: TaskUpdate): Promise<void> {
  const { state, tries, ending, pauseMs } = update;
  const now = await tx.now();
  await tx.query(
    `UPDATE fleet_tasks SET state = ?, tries = ?, reason = ?, result = ?, doing = NULL, ended_ms = ?, due_ms = ?
     WHERE batch = ? AND task_key = ?`,
    state,
    tries,
    (ending.kind === 'done' ? ending.mark : ending.reason) ?? null,
    ending.kind === 'done' ? JSON.stringify(ending.result) : null,
    state === 'done' || state === 'failed' ? now : null,
    now + pauseMs,
    batch,
    key,
  );
}

/** Releases the summary of a batch once all its work has ended, in the same transaction and therefore exactly once. */
export async function releaseSummaryTask(tx: SqlTransaction, batch: string): Promise<void> {
  await tx.query(
    `UPDATE fleet_tasks SET state = 'waiting', due_ms = 0 WHERE batch = ? AND kind = 'summary' AND state = 'held'
     AND NOT EXISTS (SELECT 1 FROM fleet_tasks open
       WHERE open.batch = ? AND open.kind = 'work' AND open.state NOT IN ('done', 'failed'))`,
    batch,
    batch,
  );
}

/**
 * Takes back tasks whose lease has expired. The attempts count, with the cost reported so far. Each task has its own
 * transaction, which checks the lease again, because the worker may have sent a heartbeat meanwhile.
 */
export async function reclaimExpiredTasks(sql: SqlDatabase, worker?: string): Promise<readonly LostBatchTask[]> {
  const expired = await sql.transaction(async (tx) => {
    const now = await tx.now();
    // Heartbeats from the future: the clock was set back. Their leases restart, otherwise they would not expire.
    await tx.query('UPDATE fleet_attempts SET beat_ms = ? WHERE ended_ms IS NULL AND beat_ms > ?', now, now);
    return (await listExpiredAttempts(tx, now)).filter((attempt) => attempt.worker !== worker);
  });
  const lostTasks = await Promise.all(
    expired.map(({ id, batch, task_key: key, machine, session }) =>
      sql.transaction(async (tx): Promise<readonly LostBatchTask[]> => {
        const locked = await lockTask(sql, tx, batch, key);
        const [attempt] = await listExpiredAttempts(tx, await tx.now(), { id, lock: sql.forUpdate });
        if (locked === undefined || attempt === undefined) return [];
        const lost = [{ batch, key, machine, session }];
        await closeLostAttempt(tx, attempt);
        if (locked.task.state === 'cancelled') return lost;
        const ending: TaskAttemptEnd = { kind: 'failed', reason: LOST_REASON, again: 'if-attempts-left' };
        const state = getNextState(ending, locked.task, locked.attempts);
        await updateTask(tx, { batch, key }, { state, tries: countTries(ending, locked.task), ending, pauseMs: 0 });
        await releaseSummaryTask(tx, batch);
        return lost;
      }),
    ),
  );
  return lostTasks.flat();
}

const LOST_OUTCOME = 'lost';
const LOST_REASON = 'its worker stopped responding';

async function listExpiredAttempts(
  tx: SqlTransaction,
  now: number,
  { id, lock = '' }: { readonly id?: string; readonly lock?: string } = {},
): Promise<readonly FleetAttemptRow[]> {
  const rows = await tx.query(
    `SELECT * FROM fleet_attempts WHERE ended_ms IS NULL AND beat_ms + lease_ms < ? AND id = coalesce(?, id)${lock}`,
    now,
    id ?? null,
  );
  return rows.map(parseFleetAttemptRow);
}

/** Records the heartbeat of an attempt. Returns whether the attempt is to go on. */
export function recordHeartbeat(
  sql: SqlDatabase,
  claim: TaskClaim,
  beat: AttemptHeartbeat,
): Promise<'continue' | 'stop' | 'lost'> {
  return sql.transaction(async (tx) => {
    const attempt = await findAttempt(tx, claim.id, sql.forUpdate);
    await tx.query(
      `UPDATE fleet_attempts SET beat_ms = CASE WHEN ended_ms IS NULL THEN ? ELSE beat_ms END,
        cost = CASE WHEN cost > ? THEN cost ELSE ? END, session = coalesce(?, session) WHERE id = ?`,
      ...[await tx.now(), beat.cost, beat.cost, beat.session ?? null, claim.id],
    );
    if (attempt === undefined || attempt.ended_ms !== undefined) return 'lost';
    const [row] = await tx.query('SELECT * FROM fleet_tasks WHERE batch = ? AND task_key = ?', claim.batch, claim.key);
    if (row === undefined || parseFleetTaskRow(row).state === 'cancelled') return 'stop';
    await tx.query(
      'UPDATE fleet_tasks SET doing = ? WHERE batch = ? AND task_key = ?',
      beat.doing ?? null,
      claim.batch,
      claim.key,
    );
    return 'continue';
  });
}

/** Compresses a file for the store: patches and transcripts shrink to a tenth. */
export const compressTaskArtifact = promisify<Uint8Array, Uint8Array>(zstdCompress);
const decompressFile = promisify<Uint8Array, Uint8Array>(zstdDecompress);

/** Stores a compressed file of a task, replacing an earlier one of the same kind. */
export async function saveTaskArtifact(
  tx: SqlTransaction,
  { batch, key }: Pick<TaskClaim, 'batch' | 'key'>,
  kind: TaskArtifactKind,
  bytes: Uint8Array,
): Promise<void> {
  await tx.query(
    `INSERT INTO fleet_files (batch, task_key, kind, content) VALUES (?, ?, ?, ?)
     ON CONFLICT (batch, task_key, kind) DO UPDATE SET content = excluded.content`,
    ...[batch, key, kind, bytes],
  );
}

/** Reads a file of a task and decompresses it. A damaged one is a missing one. */
export async function loadTaskArtifact(
  tx: SqlTransaction,
  batch: string,
  key: string,
  kind: TaskArtifactKind,
): Promise<Uint8Array | undefined> {
  const [row] = await tx.query(
    'SELECT content FROM fleet_files WHERE batch = ? AND task_key = ? AND kind = ?',
    ...[batch, key, kind],
  );
  const bytes = row === undefined ? undefined : parseFleetFileRow(row);
  return bytes === undefined ? undefined : decompressFile(bytes).catch(() => undefined);
}
