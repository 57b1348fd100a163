import type { Beat, Claim, Ending, FileKind, LostTask, TaskState } from '../../contracts/fleet.ts';
import { keepFile } from './files.ts';
import { type JobQueue, LONGEST_PAUSE_MS } from './job-queue.ts';
import { type AttemptRow, readAttempt, readBatch, readTask, type TaskRow } from './rows.ts';
import type { Sql, Transaction } from './sql.ts';
import { queueOf } from './submit.ts';

type Files = Readonly<Partial<Record<FileKind, Uint8Array>>>;
type Parts = { readonly sql: Sql; readonly queue: JobQueue };

/** Settles an attempt, or adds the money of one that does not count any more. */
export function settleAttempt(
  parts: Parts,
  claim: Claim,
  ending: Ending,
  last: Beat,
  files: Files = {},
): Promise<'kept' | 'late'> {
  return parts.sql.transaction(async (tx) => {
    const locked = await lockedTask(parts.sql, tx, claim.batch, claim.key);
    const attempt = await attemptOf(tx, claim.id);
    await tx.all(
      'UPDATE fleet_attempts SET cost = CASE WHEN cost > ? THEN cost ELSE ? END, session = coalesce(?, session) WHERE id = ?',
      ...[last.cost, last.cost, last.session ?? null, claim.id],
    );
    // Handed in again, as nobody knew whether it had arrived.
    if (attempt?.ended_ms !== undefined && attempt.outcome !== LOST_OUTCOME) return 'kept';
    if (locked === undefined || attempt === undefined || attempt.ended_ms !== undefined) return 'late';
    const state = nextState(ending, locked.task, locked.attempts);
    await closeAttempt(tx, claim.id, ending.kind === 'done' ? 'done' : ending.reason);
    for (const kind of FILE_KINDS) {
      const bytes = files[kind];
      if (bytes !== undefined) await keepFile(tx, claim, kind, bytes);
    }
    await rememberSession(tx, claim, last.session);
    if (locked.task.state === 'cancelled') return 'kept';
    const held = { id: locked.task.job, token: claim.token };
    const name = queueOf(claim.batch, claim.lane);
    const afterMs = ending.kind === 'back' ? ending.afterMs : pauseAfter(claim.attempt);
    const isOurs =
      state === 'waiting' ? await parts.queue.back(tx, name, held, afterMs) : await parts.queue.done(tx, name, held);
    if (!isOurs) throw new Error(`The queue and the batch ${claim.batch} differ about who works on ${claim.key}.`);
    await moveTask(tx, claim, { state, tries: triesAfter(ending, locked.task), ending });
    await releaseSummary(parts, tx, claim.batch);
    return 'kept';
  });
}

const FILE_KINDS: readonly FileKind[] = ['patch', 'transcript', 'unfinished'];
const FIRST_PAUSE_MS = 1_000;

/** A task that failed is tried again after a second, then after twice as long each time. */
const pauseAfter = (attempt: number): number => Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** (attempt - 1));

function nextState(ending: Ending, task: TaskRow, attempts: number): TaskState {
  if (ending.kind === 'done') return 'done';
  if (ending.kind === 'back') return 'waiting';
  return ending.again === 'never' || task.tries + 1 >= attempts ? 'failed' : 'waiting';
}

const triesAfter = (ending: Ending, { tries }: TaskRow): number => (ending.kind === 'back' ? tries : tries + 1);

/** The batch is locked first, always: whoever settles or claims in it waits for the other. */
async function lockedTask(
  sql: Sql,
  tx: Transaction,
  batch: string,
  key: string,
): Promise<{ readonly task: TaskRow; readonly attempts: number } | undefined> {
  const [found] = await tx.all(`SELECT * FROM fleet_batches WHERE id = ?${sql.forUpdate}`, batch);
  const [row] = await tx.all('SELECT * FROM fleet_tasks WHERE batch = ? AND task_key = ?', batch, key);
  if (found === undefined || row === undefined) return undefined;
  return { task: readTask(row), attempts: readBatch(found).limits.attempts };
}

async function attemptOf(tx: Transaction, id: string): Promise<AttemptRow | undefined> {
  const [row] = await tx.all('SELECT * FROM fleet_attempts WHERE id = ?', id);
  return row === undefined ? undefined : readAttempt(row);
}

/** Does the attempt still count? Who settles it waits until this transaction is over. */
export async function isStillHeld(sql: Sql, tx: Transaction, { id }: Pick<Claim, 'id'>): Promise<boolean> {
  const open = await tx.all(`SELECT id FROM fleet_attempts WHERE id = ? AND ended_ms IS NULL${sql.forUpdate}`, id);
  return open.length === 1;
}

async function closeAttempt(tx: Transaction, id: string, outcome: string): Promise<void> {
  await tx.all('UPDATE fleet_attempts SET ended_ms = ?, outcome = ? WHERE id = ?', await tx.now(), outcome, id);
}

/** From now on the attempt does not count, whoever holds it; the next one goes on in its session. */
export async function closeLost(tx: Transaction, { id, batch, task_key: key, session }: AttemptRow): Promise<void> {
  await closeAttempt(tx, id, LOST_OUTCOME);
  await rememberSession(tx, { batch, key }, session);
}

type TaskName = Pick<Claim, 'batch' | 'key'>;

async function rememberSession(tx: Transaction, { batch, key }: TaskName, session: string | undefined): Promise<void> {
  if (session === undefined) return;
  await tx.all('UPDATE fleet_tasks SET session = ? WHERE batch = ? AND task_key = ?', session, batch, key);
}

type Move = { readonly state: TaskState; readonly tries: number; readonly ending: Ending };

async function moveTask(tx: Transaction, { batch, key }: TaskName, move: Move): Promise<void> {
  const { state, tries, ending } = move;
  const isOver = state === 'done' || state === 'failed';
  await tx.all(
    `UPDATE fleet_tasks SET state = ?, tries = ?, reason = ?, result = ?, doing = NULL, ended_ms = ?
     WHERE batch = ? AND task_key = ?`,
    state,
    tries,
    ending.kind === 'done' ? null : ending.reason,
    ending.kind === 'done' ? JSON.stringify(ending.result) : null,
    isOver ? await tx.now() : null,
    batch,
    key,
  );
}

/** When the last of a batch's work is settled its summary may begin: in the same transaction, so exactly once. */
export async function releaseSummary({ queue }: Pick<Parts, 'queue'>, tx: Transaction, batch: string): Promise<void> {
  const [open] = await tx.all(
    "SELECT count(*) AS open FROM fleet_tasks WHERE batch = ? AND kind = 'work' AND state NOT IN ('done', 'failed')",
    batch,
  );
  if (Number(open?.open) > 0) return;
  const held = await tx.all(
    "UPDATE fleet_tasks SET state = 'waiting' WHERE batch = ? AND kind = 'summary' AND state = 'held' RETURNING *",
    batch,
  );
  for (const { job, lane, priority, seq } of held.map(readTask))
    await queue.add(tx, queueOf(batch, lane), [{ id: job, priority, seq }]);
}

/**
 * Takes back what has not been heard of for its lease: the attempt counts, with the money it had told of. Each is a
 * transaction of its own and looks again, as the worker may have been heard of meanwhile.
 */
export async function sweepLost({ sql, queue }: Parts): Promise<readonly LostTask[]> {
  const silent = await sql.transaction(async (tx) => {
    const now = await tx.now();
    // Beats of the future: the clock was set back. Leases begin anew, or nobody would miss who is gone.
    await tx.all('UPDATE fleet_attempts SET beat_ms = ? WHERE ended_ms IS NULL AND beat_ms > ?', now, now);
    return silentAttempts(tx, now);
  });
  const taken = await Promise.all(
    silent.map(({ id, batch, task_key: key, machine, session }) =>
      sql.transaction(async (tx): Promise<readonly LostTask[]> => {
        const locked = await lockedTask(sql, tx, batch, key);
        const [attempt] = await silentAttempts(tx, await tx.now(), id);
        if (locked === undefined || attempt === undefined) return [];
        const lost = [{ batch, key, machine, session }];
        await closeLost(tx, attempt);
        if (locked.task.state === 'cancelled') return lost;
        const ending: Ending = { kind: 'failed', reason: LOST, again: 'if attempts are left' };
        const state = nextState(ending, locked.task, locked.attempts);
        const held = { id: locked.task.job, token: attempt.token };
        const name = queueOf(batch, attempt.lane);
        if (state === 'waiting') await queue.back(tx, name, held, 0);
        else await queue.done(tx, name, held);
        await moveTask(tx, { batch, key }, { state, tries: triesAfter(ending, locked.task), ending });
        await releaseSummary({ queue }, tx, batch);
        return lost;
      }),
    ),
  );
  return taken.flat();
}

const LOST_OUTCOME = 'lost';
const LOST = 'its worker was not heard of any more';

async function silentAttempts(tx: Transaction, now: number, id?: string): Promise<readonly AttemptRow[]> {
  const rows = await tx.all(
    'SELECT * FROM fleet_attempts WHERE ended_ms IS NULL AND beat_ms + lease_ms < ? AND id = coalesce(?, id)',
    now,
    id ?? null,
  );
  return rows.map(readAttempt);
}

/** Takes note of an attempt that runs, and says whether it is still wanted. */
export function beatAttempt({ sql, queue }: Parts, claim: Claim, beat: Beat): Promise<'go on' | 'stop' | 'lost'> {
  return sql.transaction(async (tx) => {
    const attempt = await attemptOf(tx, claim.id);
    await tx.all(
      `UPDATE fleet_attempts SET beat_ms = CASE WHEN ended_ms IS NULL THEN ? ELSE beat_ms END,
        cost = CASE WHEN cost > ? THEN cost ELSE ? END, session = coalesce(?, session) WHERE id = ?`,
      ...[await tx.now(), beat.cost, beat.cost, beat.session ?? null, claim.id],
    );
    if (attempt === undefined || attempt.ended_ms !== undefined) return 'lost';
    const [row] = await tx.all('SELECT * FROM fleet_tasks WHERE batch = ? AND task_key = ?', claim.batch, claim.key);
    if (row === undefined || readTask(row).state === 'cancelled') return 'stop';
    await tx.all(
      'UPDATE fleet_tasks SET doing = ? WHERE batch = ? AND task_key = ?',
      beat.doing ?? null,
      claim.batch,
      claim.key,
    );
    const held = { id: readTask(row).job, token: claim.token };
    return (await queue.touch(tx, queueOf(claim.batch, claim.lane), held)) ? 'go on' : 'lost';
  });
}
