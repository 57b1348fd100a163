import { randomUUID } from 'node:crypto';
import type { BatchLimits, Claim, Claimer, Micros } from '../../contracts/fleet.ts';
import type { HeldJob, JobQueue } from './job-queue.ts';
import { laneHasRoom } from './lanes.ts';
import { leastNeeded, ledgerOf, spentOn } from './money.ts';
import { readBatch, readTask, type TaskRow } from './rows.ts';
import type { Sql, Transaction } from './sql.ts';
import { queueOf } from './submit.ts';

type Candidate = { readonly batch: string; readonly lane: string };

/** The next task that may begin. Each candidate is a transaction of its own, so nobody waits for two batches at once. */
export async function claimTask(sql: Sql, queue: JobQueue, claimer: Claimer): Promise<Claim | undefined> {
  const candidates = await sql.transaction((tx) => candidatesIn(tx, claimer.batch));
  for (const candidate of candidates) {
    const claim = await sql.transaction((tx) => claimFrom(sql, queue, tx, candidate, claimer));
    if (claim !== undefined) return claim;
  }
  return undefined;
}

/** Batches with waiting work, by lane: the urgent first, then the older. */
async function candidatesIn(tx: Transaction, only: string | undefined): Promise<readonly Candidate[]> {
  const rows = await tx.all(
    `SELECT b.id AS batch, l.name AS lane FROM fleet_batches b CROSS JOIN fleet_lanes l
     WHERE b.state = 'open' AND l.until_ms <= ? AND b.id = coalesce(?, b.id)
     AND EXISTS (SELECT 1 FROM fleet_tasks t WHERE t.batch = b.id AND t.state = 'waiting' AND t.lane = l.name)
     ORDER BY b.priority DESC, b.created_ms, b.id, l.name`,
    await tx.now(),
    only ?? null,
  );
  return rows.map(({ batch, lane }) => ({ batch: String(batch), lane: String(lane) }));
}

async function claimFrom(
  sql: Sql,
  queue: JobQueue,
  tx: Transaction,
  { batch: id, lane }: Candidate,
  { worker, machine, leaseMs }: Claimer,
): Promise<Claim | undefined> {
  const [found] = await tx.all(`SELECT * FROM fleet_batches WHERE id = ?${sql.forUpdate}`, id);
  if (found === undefined) return undefined;
  const { state, limits } = readBatch(found);
  const { spent, reserved, open } = await ledgerOf(tx, id);
  const isFree = state === 'open' && open < limits.atOnce && spent + reserved <= limits.all;
  if (!isFree || !(await laneHasRoom(sql, tx, lane))) return undefined;
  const taken = await takeAffordable({ queue, tx, lane, batch: id, limits, left: limits.all - spent - reserved });
  if (taken === undefined) return undefined;
  const { held, task, booked, budget } = taken;
  const now = await tx.now();
  const claim: Claim = {
    id: randomUUID(),
    batch: id,
    key: task.task_key,
    token: held.token,
    lane,
    title: task.title,
    spec: task.spec,
    signature: task.signature,
    kind: task.kind,
    attempt: task.tries + 1,
    budget,
    booked,
    before:
      task.session === undefined || task.machine === undefined
        ? undefined
        : { session: task.session, machine: task.machine },
  };
  await tx.all(
    `INSERT INTO fleet_attempts (id, batch, task_key, token, lane, worker, machine, started_ms, beat_ms, lease_ms, cost,
      reserved, outcome) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 0, ?, 'runs')`,
    ...[claim.id, id, claim.key, held.token, lane, worker, machine, now, now, leaseMs, budget],
  );
  await tx.all(
    `UPDATE fleet_tasks SET state = 'running', machine = ?, doing = NULL, started_ms = ?, ended_ms = NULL
     WHERE batch = ? AND task_key = ?`,
    machine,
    now,
    id,
    claim.key,
  );
  return claim;
}

type Purse = {
  readonly queue: JobQueue;
  readonly tx: Transaction;
  readonly batch: string;
  readonly lane: string;
  readonly limits: BatchLimits;
  readonly left: Micros;
};

/** So many are looked at when the first may cost more than is left; whoever has had an attempt needs less. */
const MOST_LOOKED_AT = 100;

/** The first of the queue that what is left pays for. Those before it go back to their places. */
async function takeAffordable({ queue, tx, batch, lane, limits, left }: Purse) {
  if (limits.each > left && (await leastNeeded(tx, batch, limits)) > left) return undefined;
  const name = queueOf(batch, lane);
  const dear: HeldJob[] = [];
  let found: { held: HeldJob; task: TaskRow; booked: Micros; budget: Micros } | undefined;
  while (found === undefined && dear.length < MOST_LOOKED_AT) {
    const held = await queue.take(tx, name);
    if (held === undefined) break;
    const [row] = await tx.all('SELECT * FROM fleet_tasks WHERE batch = ? AND job = ?', batch, held.id);
    if (row === undefined) throw new Error(`The queue of batch ${batch} holds a task that the batch does not know.`);
    const task = readTask(row);
    const booked = await spentOn(tx, batch, task.task_key);
    const budget = Math.max(0, limits.each - booked);
    if (budget <= left) found = { held, task, booked, budget };
    else dear.push(held);
  }
  for (const held of dear) await queue.back(tx, name, held, 0);
  return found;
}
