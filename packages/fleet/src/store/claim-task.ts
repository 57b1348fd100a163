import { randomUUID } from 'node:crypto';
import type { BatchLimits, ClaimingWorker, MicroDollars, TaskClaim } from './batch.ts';
import { computeBatchSpending } from './batch-status.ts';
import { createSqlPlaceholders, MAX_CLAIM_DELAY_MS, type SqlDatabase, type SqlTransaction } from './database.ts';
import type { LanePause } from './fleet-store.ts';
import {
  type FleetLaneRow,
  type FleetTaskRow,
  parseFleetBatchRow,
  parseFleetLaneRow,
  parseFleetTaskRow,
} from './schema.ts';

type Candidate = { readonly batch: string; readonly lane: string };

/** Claims the next task that can start. Each candidate has its own transaction, so that only one batch is locked. */
export async function claimTask(sql: SqlDatabase, claimer: ClaimingWorker): Promise<TaskClaim | undefined> {
  const candidates = await sql.transaction((tx) => listCandidates(tx, claimer));
  for (const candidate of candidates) {
    const claim = await sql.transaction((tx) => claimFrom(sql, tx, candidate, claimer));
    if (claim !== undefined) return claim;
  }
  return undefined;
}

/**
 * Lists the lanes of open batches with waiting tasks: by priority, then the batch that runs least, then the oldest. A
 * batch that was deleted and submitted again waits until this installation has deleted its old folders.
 */
async function listCandidates(
  tx: SqlTransaction,
  { batch: batchId, exceptLanes = [], machine, installation = machine }: ClaimingWorker,
): Promise<readonly Candidate[]> {
  const except = exceptLanes.length === 0 ? '' : `AND l.name NOT IN (${createSqlPlaceholders(exceptLanes.length)})`;
  const now = await tx.now();
  const rows = await tx.query(
    `SELECT b.id AS batch, l.name AS lane FROM fleet_batches b CROSS JOIN fleet_lanes l
     LEFT JOIN (SELECT batch, count(*) AS running FROM fleet_attempts WHERE ended_ms IS NULL GROUP BY batch) o
       ON o.batch = b.id
     WHERE b.state = 'open' AND l.until_ms <= ? AND b.id = coalesce(?, b.id) ${except}
     AND EXISTS (SELECT 1 FROM fleet_tasks t WHERE t.batch = b.id AND t.state = 'waiting' AND t.lane = l.name
       AND ${IS_DUE})
     AND NOT EXISTS (SELECT 1 FROM fleet_deletions d WHERE d.batch = b.id AND d.installation IN (?, ?))
     ORDER BY b.priority DESC,
       coalesce(o.running, 0), b.created_ms, b.id, l.name`,
    ...[now, batchId ?? null, ...exceptLanes, now, now + MAX_CLAIM_DELAY_MS, installation, machine],
  );
  return rows.map(({ batch, lane }) => ({ batch: String(batch), lane: String(lane) }));
}

/** A delay longer than the maximum was set before the clock was set back. */
const IS_DUE = '(t.due_ms <= ? OR t.due_ms > ?)';

async function claimFrom(
  sql: SqlDatabase,
  tx: SqlTransaction,
  { batch: id, lane }: Candidate,
  { worker, machine, installation, leaseMs }: ClaimingWorker,
): Promise<TaskClaim | undefined> {
  const [row] = await tx.query(`SELECT * FROM fleet_batches WHERE id = ?${sql.forUpdate}`, id);
  if (row === undefined) return undefined;
  const { state, limits } = parseFleetBatchRow(row);
  const { spent, reserved, runningAttempts } = await computeBatchSpending(tx, id);
  const canStart = state === 'open' && runningAttempts < limits.atOnce && spent + reserved <= limits.all;
  if (!canStart || !(await hasRateLimitLaneCapacity(sql, tx, lane))) return undefined;
  const now = await tx.now();
  const next = await findAffordable(tx, { batch: id, lane, limits, left: limits.all - spent - reserved, now });
  if (next === undefined) return undefined;
  const { task, earlierCost } = next;
  const budget = Math.max(0, limits.each - earlierCost);
  const token = task.token + 1;
  const claim: TaskClaim = {
    id: randomUUID(),
    batch: id,
    key: task.task_key,
    token,
    lane,
    title: task.title,
    spec: task.spec,
    signature: task.signature,
    kind: task.kind,
    attempt: task.tries + 1,
    budget,
    earlierCost,
    previousAttempt:
      task.session === undefined || task.machine === undefined
        ? undefined
        : { session: task.session, machine: task.machine },
  };
  await tx.query(
    `INSERT INTO fleet_attempts (id, batch, task_key, token, lane, worker, machine, started_ms, beat_ms, lease_ms, cost,
      reserved, outcome, installation) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 0, ?, 'runs', ?)`,
    ...[claim.id, id, claim.key, token, lane, worker, machine, now, now, leaseMs, budget, installation ?? null],
  );
  await tx.query(
    `UPDATE fleet_tasks SET state = 'running', token = ?, machine = ?, doing = NULL, started_ms = ?, ended_ms = NULL
     WHERE batch = ? AND task_key = ?`,
    token,
    machine,
    now,
    id,
    claim.key,
  );
  return claim;
}

type Search = {
  readonly batch: string;
  readonly lane: string;
  readonly limits: BatchLimits;
  /** Unreserved rest of the batch budget. */
  readonly left: MicroDollars;
  readonly now: number;
};

/** Finds the first task that the rest of the budget covers. Tasks with earlier attempts need only the rest of theirs. */
async function findAffordable(
  tx: SqlTransaction,
  { batch, lane, limits, left, now }: Search,
): Promise<{ readonly task: FleetTaskRow; readonly earlierCost: MicroDollars } | undefined> {
  const [row] = await tx.query(
    `SELECT t.*, coalesce(booked.cost, 0) AS cost FROM fleet_tasks t
     LEFT JOIN (SELECT task_key, sum(cost) AS cost FROM fleet_attempts WHERE batch = ? GROUP BY task_key) booked
       ON booked.task_key = t.task_key
     WHERE t.batch = ? AND t.state = 'waiting' AND t.lane = ? AND ${IS_DUE} AND ? - coalesce(booked.cost, 0) <= ?
     ORDER BY t.priority DESC, t.seq LIMIT 1`,
    ...[batch, batch, lane, now, now + MAX_CLAIM_DELAY_MS, limits.each, left],
  );
  if (row === undefined) return undefined;
  return { task: parseFleetTaskRow(row), earlierCost: Number(row.cost) };
}

const MINUTE_MS = 60_000;

/** Returns whether another attempt may start in a lane. Locks the lane, so that concurrent claims wait. */
async function hasRateLimitLaneCapacity(sql: SqlDatabase, tx: SqlTransaction, lane: string): Promise<boolean> {
  const [row] = await tx.query(`SELECT * FROM fleet_lanes WHERE name = ?${sql.forUpdate}`, lane);
  const found = row === undefined ? undefined : parseFleetLaneRow(row);
  const now = await tx.now();
  if (found === undefined || found.until_ms > now) return false;
  const limit = getCurrentLimit(found, now);
  return limit === undefined || (await countOpenAttempts(tx, lane)) < limit;
}

/** Returns the concurrency limit of a lane after a rate limit: half of what ran then, plus one per quiet minute. */
function getCurrentLimit({ at_most, since_ms }: FleetLaneRow, now: number): number | undefined {
  if (at_most === undefined) return undefined;
  const quietMinutes = Math.floor((now - since_ms) / MINUTE_MS);
  // After an hour without rate limits the lane is unlimited again.
  return quietMinutes >= 60 ? undefined : at_most + quietMinutes;
}

/** Pauses a lane. The latest rate limit counts, but a shorter pause never ends a longer one early. */
export async function pauseRateLimitLane(
  sql: SqlDatabase,
  tx: SqlTransaction,
  lane: string,
  why: LanePause,
): Promise<void> {
  await addRateLimitLane(tx, lane);
  const [row] = await tx.query(`SELECT * FROM fleet_lanes WHERE name = ?${sql.forUpdate}`, lane);
  const before = row === undefined ? undefined : parseFleetLaneRow(row);
  if (before === undefined) return;
  const isLonger = why.untilMs > before.until_ms;
  const now = await tx.now();
  const atMost =
    why.kind === 'rest'
      ? (before.at_most ?? null)
      : why.kind === 'outage'
        ? 1
        : halveLimit(getCurrentLimit(before, now), await countOpenAttempts(tx, lane));
  await tx.query(
    'UPDATE fleet_lanes SET until_ms = ?, words = ?, at_most = ?, since_ms = ? WHERE name = ?',
    isLonger ? why.untilMs : before.until_ms,
    isLonger ? why.words : before.words,
    atMost,
    why.kind === 'rest' ? before.since_ms : now,
    lane,
  );
}

function halveLimit(limit: number | undefined, open: number): number {
  return Math.max(1, Math.floor(Math.min(limit ?? open, open) / 2));
}

/** Adds a lane if it is new. Claims search lanes, not tasks, so every lane with tasks must be listed. */
export async function addRateLimitLane(tx: SqlTransaction, lane: string): Promise<void> {
  await tx.query(
    "INSERT INTO fleet_lanes (name, until_ms, words, since_ms) VALUES (?, 0, '', 0) ON CONFLICT DO NOTHING",
    lane,
  );
}

async function countOpenAttempts(tx: SqlTransaction, lane: string): Promise<number> {
  const [row] = await tx.query('SELECT count(*) AS open FROM fleet_attempts WHERE lane = ? AND ended_ms IS NULL', lane);
  return Number(row?.open);
}
