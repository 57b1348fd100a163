import { type LaneRow, readLane } from './rows.ts';
import type { Sql, Transaction } from './sql.ts';

const MINUTE_MS = 60_000;

/** May one more attempt of a lane begin? The lane is locked, so whoever else asks waits for the answer. */
export async function laneHasRoom(sql: Sql, tx: Transaction, lane: string): Promise<boolean> {
  const [row] = await tx.all(`SELECT * FROM fleet_lanes WHERE name = ?${sql.forUpdate}`, lane);
  const found = row === undefined ? undefined : readLane(row);
  const now = await tx.now();
  if (found === undefined || found.until_ms > now) return false;
  const most = workingLimit(found, now);
  return most === undefined || (await openIn(tx, lane)) < most;
}

/** What a limit of the provider has left of a lane: half of what ran then, and one more for each quiet minute. */
function workingLimit({ at_most, since_ms }: LaneRow, now: number): number | undefined {
  if (at_most === undefined) return undefined;
  const quietMinutes = Math.floor((now - since_ms) / MINUTE_MS);
  // After an hour without a word of it the limit is forgotten.
  return quietMinutes >= 60 ? undefined : at_most + quietMinutes;
}

/** Lets a lane rest. What the provider says last counts, but a rest for want of quota is not cut short by a pause. */
export async function coolLane(
  sql: Sql,
  tx: Transaction,
  lane: string,
  why: { readonly kind: 'limit' | 'rest'; readonly untilMs: number; readonly words: string },
): Promise<void> {
  await addLane(tx, lane);
  const [row] = await tx.all(`SELECT * FROM fleet_lanes WHERE name = ?${sql.forUpdate}`, lane);
  const before = row === undefined ? undefined : readLane(row);
  if (before === undefined) return;
  const isLonger = why.untilMs > before.until_ms;
  const now = await tx.now();
  const atMost =
    why.kind === 'rest' ? (before.at_most ?? null) : halved(workingLimit(before, now), await openIn(tx, lane));
  await tx.all(
    'UPDATE fleet_lanes SET until_ms = ?, words = ?, at_most = ?, since_ms = ? WHERE name = ?',
    isLonger ? why.untilMs : before.until_ms,
    isLonger ? why.words : before.words,
    atMost,
    why.kind === 'rest' ? before.since_ms : now,
    lane,
  );
}

function halved(limit: number | undefined, open: number): number {
  return Math.max(1, Math.floor(Math.min(limit ?? open, open) / 2));
}

/** Every lane that has tasks is noted: whoever looks for work goes through the lanes, not through the tasks. */
export async function addLane(tx: Transaction, lane: string): Promise<void> {
  await tx.all(
    "INSERT INTO fleet_lanes (name, until_ms, words, since_ms) VALUES (?, 0, '', 0) ON CONFLICT DO NOTHING",
    lane,
  );
}

async function openIn(tx: Transaction, lane: string): Promise<number> {
  const [row] = await tx.all('SELECT count(*) AS open FROM fleet_attempts WHERE lane = ? AND ended_ms IS NULL', lane);
  return Number(row?.open);
}
