import { join } from 'node:path';
import { readEnvironment } from '../../src/app/environment.ts';
import type { NewBatch } from '../../src/contracts/fleet.ts';
import { fleetGit } from '../../src/fleet/git/fleet-git.ts';
import { openMirrors } from '../../src/fleet/git/mirrors.ts';
import { openPostgres } from '../../src/fleet/stores/engines/postgres.ts';
import { openStore, type StorePlace } from '../../src/fleet/stores/open-store.ts';
import { ownSecrets } from '../../src/fleet/worker/own-secrets.ts';
import { runWorker } from '../../src/fleet/worker/worker.ts';
import { stormTasks } from './fleet-storm.ts';

/** What a process of a storm is to do. */
export type StormRole =
  | {
      readonly role: 'worker';
      readonly place: StorePlace;
      readonly folder: string;
      readonly program: string;
      readonly slots: number;
      readonly leaseMs: number;
      readonly until: 'stopped' | 'empty';
    }
  | {
      readonly role: 'submit';
      readonly place: StorePlace;
      readonly batch: NewBatch;
      readonly count: number;
      readonly seconds: number;
    }
  /** Stops inside of a transaction that holds the batch. */
  | { readonly role: 'freeze'; readonly url: string };

/** One process of a storm: the real store and the real worker, around a program that stands for ouro. */
async function play(role: StormRole): Promise<void> {
  if (role.role === 'freeze') return freeze(role.url);
  const store = await openStore(role.place);
  if (role.role === 'submit') {
    process.stdout.write('ready\n');
    await store.submit(role.batch, stormTasks(role.count, role.seconds));
    process.stdout.write('submitted\n');
    return store.close();
  }
  const environment = readEnvironment();
  const git = fleetGit(environment);
  const { folder, program } = role;
  const ended = await runWorker({
    store,
    name: `w${process.pid}`,
    machine: 'storm',
    slots: role.slots,
    leaseMs: role.leaseMs,
    until: role.until,
    atRest: 'waits',
    fleetFolder: folder,
    freeMegabytes: 0,
    signal: new AbortController().signal,
    costOfLost: async () => undefined,
    say: (line) => process.stderr.write(`${line}\n`),
    partsFor: (claim) => ({
      environment,
      program,
      workRoot: join(folder, 'work'),
      git,
      mirrors: openMirrors(folder, git),
      policy: {},
      secrets: ownSecrets(environment, claim.spec),
      machine: 'storm',
      scrub: async (text) => text,
      keep: undefined,
      costOf: async () => 0,
      stored: (kind) => store.file(claim.batch, claim.key, kind),
      results: async () => [],
    }),
  });
  process.stdout.write(`${ended.kind}\n`);
  await store.close();
}

async function freeze(url: string): Promise<void> {
  const { sql } = await openPostgres(url);
  await sql.transaction(async (tx) => {
    await tx.all('SELECT * FROM fleet_batches FOR UPDATE');
    process.stdout.write('frozen\n');
    process.kill(process.pid, 'SIGSTOP');
    await tx.all('SELECT 1');
  });
}

await play(JSON.parse(process.argv[2] ?? '{}'));
