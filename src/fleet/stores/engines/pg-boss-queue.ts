import type { Db, PgBoss } from 'pg-boss';
import { z } from 'zod';
import type { HeldJob, JobQueue } from '../job-queue.ts';
import type { Transaction } from '../sql.ts';
import { goneAway } from '../store-away.ts';

/** How often a job may be taken is our own count; the engine never gives up by itself. */
const NO_LIMIT = 1_000_000;
/**
 * The engine knows priorities, and no order among jobs that came together: one that begins again would come last, behind
 * all that has not begun. So the place in the order is a part of the priority.
 */
const MOST_TASKS = 1_000_000;
const YEAR_S = 365 * 24 * 3600;

/** The queue as pg-boss keeps it, in the transactions of the tables beside it. Its count of retries is the fence. */
export function openPgBossQueue(boss: PgBoss, handles: WeakMap<Transaction, Db>): JobQueue {
  const inside = (tx: Transaction) => {
    const db = handles.get(tx);
    if (db === undefined) throw new Error('This transaction does not belong to this queue.');
    return { db };
  };
  const attempt = ({ id, token }: HeldJob) => ({ id, retryCount: token });

  return {
    async open(queue) {
      const options = { retryLimit: NO_LIMIT, retryDelay: 0, retentionSeconds: YEAR_S };
      await boss.createQueue(queue, options).catch(goneAway);
    },
    async add(tx, queue, jobs) {
      const ids = jobs.map(({ id }) => id);
      if (ids.length === 0) return;
      // A job that is over has to go before one of the same name can wait.
      await boss.deleteJob(queue, ids, inside(tx));
      await boss.insert(
        queue,
        jobs.map(({ id, priority, seq }) => ({ id, priority: priority * MOST_TASKS - seq })),
        inside(tx),
      );
    },
    async take(tx, queue) {
      const [job] = await boss.fetch(queue, { ...inside(tx), includeMetadata: true });
      return job === undefined ? undefined : { id: job.id, token: job.retryCount };
    },
    done: async (tx, queue, job) => isOne(await boss.complete(queue, attempt(job), null, inside(tx))),
    async back(tx, queue, job, afterMs) {
      if (!isOne(await boss.fail(queue, attempt(job), null, inside(tx)))) return false;
      if (afterMs > 0)
        await boss.update(queue, undefined, { id: job.id, startAfter: Math.ceil(afterMs / 1000), ...inside(tx) });
      return true;
    },
    touch: async (tx, queue, job) => isOne(await boss.touch(queue, attempt(job), inside(tx))),
    async cancel(tx, queue, ids) {
      if (ids.length > 0) await boss.cancel(queue, [...ids], inside(tx));
    },
    async drop(queue) {
      await boss.deleteQueue(queue).catch(goneAway);
    },
    close: async () => undefined,
  };
}

/** The engine's types leave out what it answers. */
const answer = z.object({ affected: z.number() });
const isOne = (response: unknown): boolean => answer.parse(response).affected === 1;
