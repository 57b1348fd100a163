import type { FleetStore } from '../../contracts/fleet-store.ts';
import { claimTask } from './claim.ts';
import { compressed, fileOf, keepFile } from './files.ts';
import type { JobQueue } from './job-queue.ts';
import { coolLane } from './lanes.ts';
import { chargeTask } from './money.ts';
import { giveOrder } from './orders.ts';
import { removeBatch } from './remove.ts';
import { reuseResults } from './reuse.ts';
import { openSchema } from './schema.ts';
import { beatAttempt, isStillHeld, settleAttempt, sweepLost } from './settle.ts';
import type { Sql } from './sql.ts';
import { allBatches, attemptsOf, isAllSettled, oneBatch, tasksOf } from './status.ts';
import { submitBatch } from './submit.ts';

/** A store over a database and the queue in it. */
export async function createStore(sql: Sql, queue: JobQueue): Promise<FleetStore> {
  await openSchema(sql);
  const parts = { sql, queue };
  return {
    submit: (batch, tasks) => submitBatch(sql, queue, batch, tasks),
    reuse: (batch) => reuseResults(sql, queue, batch),
    claim: (claimer) => claimTask(sql, queue, claimer),
    beat: (claim, beat) => beatAttempt(parts, claim, beat),
    async finish(claim, ending, last, files = {}) {
      const { patch, transcript, unfinished } = files;
      const packed = {
        ...(patch === undefined ? {} : { patch: await compressed(patch) }),
        ...(transcript === undefined ? {} : { transcript: await compressed(transcript) }),
        ...(unfinished === undefined ? {} : { unfinished: await compressed(unfinished) }),
      };
      return settleAttempt(parts, claim, ending, last, packed);
    },
    async keep(claim, kind, bytes) {
      const packed = await compressed(bytes);
      await sql.transaction(async (tx) => {
        if (await isStillHeld(sql, tx, claim)) await keepFile(tx, claim, kind, packed);
      });
    },
    file: (batch, key, kind) => sql.transaction((tx) => fileOf(tx, batch, key, kind)),
    cool: (lane, why) => sql.transaction((tx) => coolLane(sql, tx, lane, why)),
    sweep: () => sweepLost(parts),
    charge: (task, total) => sql.transaction((tx) => chargeTask(sql, tx, task, total)),
    order: (batch, order) => giveOrder(parts, batch, order),
    remove: (batch) => removeBatch(parts, batch),
    batches: () => sql.transaction(allBatches),
    status: (batch) => sql.transaction((tx) => oneBatch(tx, batch)),
    tasks: (batch, states) => sql.transaction((tx) => tasksOf(tx, batch, states)),
    attempts: (batch, key) => sql.transaction((tx) => attemptsOf(tx, batch, key)),
    isSettled: (batch) => sql.transaction((tx) => isAllSettled(tx, batch)),
    now: () => sql.transaction((tx) => tx.now()),
    async close() {
      await queue.close();
      await sql.close();
    },
  };
}
