import { type JobQueue, LONGEST_PAUSE_MS } from '../job-queue.ts';
import type { Sql } from '../sql.ts';

/** The queue of the store that needs nothing installed: one more table beside the others. */
export async function openSqliteQueue(sql: Sql): Promise<JobQueue> {
  await sql.transaction(async (tx) => {
    await tx.all(`CREATE TABLE IF NOT EXISTS jobs (
      seq INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, queue TEXT NOT NULL, priority INTEGER NOT NULL, after_ms INTEGER NOT NULL,
      token INTEGER NOT NULL, state TEXT NOT NULL)`);
    await tx.all("CREATE INDEX IF NOT EXISTS jobs_next ON jobs (queue, priority DESC, seq) WHERE state = 'waiting'");
  });
  return {
    open: async () => undefined,
    async add(tx, queue, jobs) {
      // Whoever is added again begins again: a job taken out keeps its token, so that old holders stay fenced.
      for (const { id, priority } of jobs)
        await tx.all(
          `INSERT INTO jobs (id, queue, priority, after_ms, token, state) VALUES (?, ?, ?, 0, 0, 'waiting')
           ON CONFLICT (id) DO UPDATE SET state = 'waiting', after_ms = 0 WHERE jobs.state = 'over'`,
          id,
          queue,
          priority,
        );
    },
    async take(tx, queue) {
      // A pause that has longer to go was noted before the clock was set back.
      const now = await tx.now();
      const [row] = await tx.all(
        `UPDATE jobs SET state = 'held', token = token + 1 WHERE id =
         (SELECT id FROM jobs WHERE queue = ? AND state = 'waiting' AND (after_ms <= ? OR after_ms > ?)
          ORDER BY priority DESC, seq LIMIT 1) RETURNING id, token`,
        ...[queue, now, now + LONGEST_PAUSE_MS],
      );
      return row === undefined ? undefined : { id: String(row.id), token: Number(row.token) };
    },
    async done(tx, _queue, { id, token }) {
      return (await tx.all(`UPDATE jobs SET state = 'over' WHERE ${HELD} RETURNING id`, id, token)).length === 1;
    },
    async back(tx, _queue, { id, token }, afterMs) {
      const afterwards = (await tx.now()) + afterMs;
      const text = `UPDATE jobs SET state = 'waiting', after_ms = ? WHERE ${HELD} RETURNING id`;
      return (await tx.all(text, afterwards, id, token)).length === 1;
    },
    async touch(tx, _queue, { id, token }) {
      return (await tx.all(`SELECT id FROM jobs WHERE ${HELD}`, id, token)).length === 1;
    },
    async cancel(tx, _queue, ids) {
      for (const id of ids) await tx.all("UPDATE jobs SET state = 'over' WHERE id = ?", id);
    },
    async drop(queue) {
      await sql.transaction((tx) => tx.all('DELETE FROM jobs WHERE queue = ?', queue));
    },
    close: async () => undefined,
  };
}

const HELD = "id = ? AND token = ? AND state = 'held'";
