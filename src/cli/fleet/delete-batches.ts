import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { BatchStatus } from '../../contracts/fleet.ts';
import type { FleetStore } from '../../contracts/fleet-store.ts';
import { fleetGit } from '../../fleet/git/fleet-git.ts';
import { openMirrors } from '../../fleet/git/mirrors.ts';
import { isPlainName } from '../../fleet/git/place-rules.ts';
import { UsageError } from '../args/usage-error.ts';
import type { Io } from '../io.ts';
import { personAt } from './ask.ts';
import { batchCount, batchTable } from './batch-lines.ts';
import { theBatch } from './look-at-batch.ts';
import { openFleet } from './open-fleet.ts';
import { type BatchWish, EXIT } from './run-batch.ts';
import { workRootOf } from './start-worker.ts';

const DAY_MS = 86_400_000;

/** `ouro batch delete ID… | --older-than DAYS`: forgets batches with all they have left, after showing which. */
export async function deleteBatches(wish: BatchWish): Promise<number> {
  const { words, flags, io } = wish;
  const { store, folder } = await openFleet(io, flags.queue);
  try {
    const chosen = await chosenBatches(store, words.slice(1), flags.olderThan);
    const isJson = flags.json === true;
    if (isJson) io.stdout.write(`${JSON.stringify(chosen, null, 2)}\n`);
    else if (chosen.length > 0) io.stdout.write(batchTable(chosen, await store.now()));
    if (flags.dryRun === true || chosen.length === 0) {
      if (!isJson) io.stdout.write(`Would delete ${batchCount(chosen.length)}.\n`);
      return EXIT.done;
    }
    if (flags.yes !== true) {
      if (!io.stdin.isTty) throw new UsageError('Nobody can be asked here. Say --yes to delete them.');
      const person = personAt(io);
      const isMeant = await person.ask(
        `Delete ${chosen.length === 1 ? 'it' : 'them'}, with patches and conversations?`,
      );
      await person.leave();
      if (!isMeant) return EXIT.done;
    }
    return await deleteAll(chosen, store, { io, fleetFolder: folder, isJson });
  } finally {
    await store.close();
  }
}

/** Those that are named, or those in which nothing has happened for so long; what has not ended is not among them. */
async function chosenBatches(
  store: FleetStore,
  names: readonly string[],
  days: number | undefined,
): Promise<readonly BatchStatus[]> {
  if ((names.length === 0) === (days === undefined))
    throw new UsageError('Say which: ouro batch delete <id>…, or --older-than <days>. "ouro batch" lists them.');
  if (days !== undefined) {
    const before = (await store.now()) - days * DAY_MS;
    return (await store.batches()).filter((batch) => hasEnded(batch) && batch.lastMs <= before);
  }
  const chosen = new Map<string, BatchStatus>();
  for (const name of names) {
    const batch = await theBatch(store, name);
    if (!hasEnded(batch))
      throw new UsageError(`${batch.id} has not come to an end. Stop it first: ouro batch cancel ${batch.id}`);
    chosen.set(batch.id, batch);
  }
  return [...chosen.values()];
}

const hasEnded = ({ counts }: BatchStatus): boolean => counts.waiting + counts.running + counts.held === 0;

type Deleting = { readonly io: Io; readonly fleetFolder: string; readonly isJson: boolean };

async function deleteAll(
  chosen: readonly BatchStatus[],
  store: FleetStore,
  { io, fleetFolder, isJson }: Deleting,
): Promise<number> {
  const mirrors = openMirrors(fleetFolder, fleetGit(io.environment));
  const loose = new Set<string>();
  let deleted = 0;
  for (const { id } of chosen) {
    const urls = await repositoriesOf(store, id);
    if ((await store.remove(id)) === 'somebody works on it') {
      io.stderr.write(`${id} stays: a worker is still ending a task of it. Try again in a minute.\n`);
      continue;
    }
    deleted += 1;
    if (isPlainName(id)) await rm(join(workRootOf(io.environment), id), { recursive: true, force: true });
    for (const url of urls) loose.add(url);
  }
  for (const { id } of await store.batches()) for (const url of await repositoriesOf(store, id)) loose.delete(url);
  for (const url of loose) await mirrors.forget(url);
  if (!isJson) io.stdout.write(`Deleted ${batchCount(deleted)}.\n`);
  return deleted === chosen.length ? EXIT.done : EXIT.failed;
}

async function repositoriesOf(store: FleetStore, batch: string): Promise<readonly string[]> {
  return (await store.tasks(batch)).flatMap(({ spec }) => (spec.place === undefined ? [] : [spec.place.url]));
}
