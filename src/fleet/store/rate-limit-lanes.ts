import type { RateLimitLanePause } from '../../contracts/fleet-store.ts';
import type { SqlDatabase, SqlTransaction } from './database.ts';
import { type FleetLaneRow, parseFleetLaneRow } from './schema.ts';

const MINUTE_MS = 60_000;

/** Returns whether another attempt may start in a lane. Locks the lane, so that concurrent claims wait. */
export async function hasRateLimitLaneCapacity(sql: SqlDatabase, tx: SqlTransaction, lane: string): Promise<boolean> {
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
  why: RateLimitLanePause,
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
