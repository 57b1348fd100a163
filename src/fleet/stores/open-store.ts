import { join } from 'node:path';
import type { FleetStore } from '../../contracts/fleet-store.ts';

/** Where the queue is: a file of this machine, or a Postgres for many. */
export type StorePlace =
  | { readonly kind: 'here'; readonly folder: string }
  | { readonly kind: 'postgres'; readonly url: string };

/** Opens a store. An engine is loaded only when it is the one that is asked for. */
export async function openStore(place: StorePlace): Promise<FleetStore> {
  const { createStore } = await import('./create-store.ts');
  if (place.kind === 'postgres') {
    const { openPostgres } = await import('./engines/postgres.ts');
    const { sql, queue } = await openPostgres(place.url);
    return createStore(sql, queue);
  }
  const { refuseNetworkDisk } = await import('./engines/network-disk.ts');
  await refuseNetworkDisk(place.folder);
  const { openSqlite } = await import('./engines/sqlite-sql.ts');
  const { openSqliteQueue } = await import('./engines/sqlite-queue.ts');
  const sql = openSqlite(join(place.folder, 'fleet.db'));
  return createStore(sql, await openSqliteQueue(sql));
}
