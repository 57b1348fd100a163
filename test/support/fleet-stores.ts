import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { FleetStore } from '../../src/contracts/fleet-store.ts';
import { createStore } from '../../src/fleet/stores/create-store.ts';
import { openSqliteQueue } from '../../src/fleet/stores/engines/sqlite-queue.ts';
import { openSqlite } from '../../src/fleet/stores/engines/sqlite-sql.ts';
import { openStore } from '../../src/fleet/stores/open-store.ts';
import type { TestPostgres } from './postgres.ts';

/** One store, reached over two connections, whose time can be put forward. */
export type StorePair = {
  readonly one: FleetStore;
  readonly two: FleetStore;
  /** So much later: leases run out, pauses end. */
  later(ms: number): Promise<void>;
  /** Nothing in it, as at the beginning: making a store anew takes a hundred times as long. */
  empty(): Promise<void>;
  close(): Promise<void>;
};

const TABLES = ['fleet_batches', 'fleet_tasks', 'fleet_attempts', 'fleet_lanes', 'fleet_files'];

export async function sqlitePair(): Promise<StorePair> {
  const folder = await mkdtemp(join(tmpdir(), 'ouro-store-'));
  let ahead = 0;
  const clock = () => Date.now() + ahead;
  const open = async () => {
    const sql = openSqlite(join(folder, 'fleet.db'), clock);
    return createStore(sql, await openSqliteQueue(sql));
  };
  const [one, two] = [await open(), await open()];
  const cleaner = openSqlite(join(folder, 'fleet.db'), clock);
  return {
    one,
    two,
    async later(ms) {
      ahead += ms;
    },
    empty: () =>
      cleaner.transaction(async (tx) => {
        for (const table of [...TABLES, 'jobs']) await tx.all(`DELETE FROM ${table}`);
      }),
    async close() {
      await cleaner.close();
      await Promise.all([one.close(), two.close()]);
      await rm(folder, { recursive: true });
    },
  };
}

export async function postgresPair(postgres: TestPostgres): Promise<StorePair> {
  const url = await postgres.database();
  const one = await openStore({ kind: 'postgres', url });
  const two = await openStore({ kind: 'postgres', url });
  return {
    one,
    two,
    // Nobody can put the clock of a server forward, so everything that was noted is put back.
    async later(ms) {
      await postgres.query(
        url,
        `UPDATE fleet_attempts SET beat_ms = beat_ms - ${ms}, started_ms = started_ms - ${ms};
         UPDATE fleet_lanes SET until_ms = until_ms - ${ms}, since_ms = since_ms - ${ms};
         UPDATE pgboss.job SET start_after = start_after - interval '${ms} milliseconds';`,
      );
    },
    async empty() {
      await postgres.query(url, [...TABLES, 'pgboss.job'].map((table) => `DELETE FROM ${table};`).join('\n'));
    },
    async close() {
      await Promise.all([one.close(), two.close()]);
    },
  };
}
