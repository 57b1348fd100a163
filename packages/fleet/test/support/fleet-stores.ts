import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { TestPostgres } from '../../../../test/support/postgres.ts';
import { createTempFolder } from '../../../../test/support/temp-folder.ts';
import type { FleetStore } from '../../src/store/fleet-store.ts';
import { createFleetStore, openFleetStore } from '../../src/store/open-fleet-store.ts';
import { openSqlite } from '../../src/store/sqlite.ts';

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

const TABLES = [
  'fleet_batches',
  'fleet_tasks',
  'fleet_attempts',
  'fleet_lanes',
  'fleet_files',
  'fleet_schedules',
  'fleet_deletions',
];

export async function sqlitePair(): Promise<StorePair> {
  const folder = createTempFolder();
  let ahead = 0;
  const clock = () => Date.now() + ahead;
  const open = () => createFleetStore(openSqlite(join(folder, 'fleet.db'), clock));
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
        for (const table of TABLES) await tx.query(`DELETE FROM ${table}`);
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
  const one = await openFleetStore({ kind: 'postgres', url });
  const two = await openFleetStore({ kind: 'postgres', url });
  return {
    one,
    two,
    // Nobody can put the clock of a server forward, so everything that was noted is put back.
    async later(ms) {
      await postgres.query(
        url,
        `UPDATE fleet_attempts SET beat_ms = beat_ms - ${ms}, started_ms = started_ms - ${ms};
         UPDATE fleet_lanes SET until_ms = until_ms - ${ms}, since_ms = since_ms - ${ms};
         UPDATE fleet_tasks SET due_ms = due_ms - ${ms};
         UPDATE fleet_deletions SET created_ms = created_ms - ${ms};
         UPDATE fleet_schedules SET next_ms = next_ms - ${ms};`,
      );
    },
    async empty() {
      await postgres.query(url, TABLES.map((table) => `DELETE FROM ${table};`).join('\n'));
    },
    async close() {
      await Promise.all([one.close(), two.close()]);
    },
  };
}
