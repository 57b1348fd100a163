import { join } from 'node:path';
import { readEnvironment } from '@ouro-cli/ouro/commands';
import { createFleetGit } from '../../src/git/fleet-git.ts';
import { openRepositoryMirrors } from '../../src/git/repository-mirrors.ts';
import type { NewBatch } from '../../src/store/batch.ts';
import type { SqlTransaction } from '../../src/store/database.ts';
import { createFleetStore, type FleetStoreLocation, openFleetStore } from '../../src/store/open-fleet-store.ts';
import { openPostgres } from '../../src/store/postgres.ts';
import { createTaskSecretRedactor } from '../../src/worker/task-secret-redactor.ts';
import { runWorker } from '../../src/worker/worker.ts';
import { formatWorkerEvent } from '../../src/worker/worker-events.ts';
import { stormTasks } from './fleet-storm.ts';

/** The role of a process in a stress test. */
export type StormRole =
  | {
      readonly role: 'worker';
      readonly place: FleetStoreLocation;
      readonly folder: string;
      readonly program: string;
      readonly slots: number;
      readonly leaseMs: number;
      readonly until: 'stopped' | 'empty';
    }
  | {
      readonly role: 'submit';
      readonly place: FleetStoreLocation;
      readonly batch: NewBatch;
      readonly count: number;
      readonly seconds: number;
    }
  /** Stops inside of the transaction of a claim, which holds the batch. */
  | { readonly role: 'freeze'; readonly url: string };

/** One process of a storm: the real store and the real worker, around a program that stands for ouro. */
async function play(role: StormRole): Promise<void> {
  if (role.role === 'freeze') return freeze(role.url);
  const store = await openFleetStore(role.place);
  if (role.role === 'submit') {
    process.stdout.write('ready\n');
    await store.submit(role.batch, stormTasks(role.count, role.seconds));
    process.stdout.write('submitted\n');
    return store.close();
  }
  const environment = readEnvironment();
  const git = createFleetGit(environment);
  const { folder, program } = role;
  const ended = await runWorker({
    store,
    name: `w${process.pid}`,
    machine: 'storm',
    installation: 'storm',
    slots: role.slots,
    leaseMs: role.leaseMs,
    until: role.until,
    whenPaused: 'waits',
    fleetFolder: folder,
    freeMegabytes: 0,
    signal: new AbortController().signal,
    getLostCost: async () => undefined,
    renewTasks: async ({ tasks }) => tasks,
    deleteFiles: async () => [],
    pruneMirrors: async () => undefined,
    onEvent: (event) => {
      if (event.kind === 'error') process.stderr.write(`${formatWorkerEvent(event)}\n`);
    },
    createTaskDeps: (claim) => ({
      environment,
      program,
      workRoot: join(folder, 'work'),
      git,
      mirrors: openRepositoryMirrors(join(folder, 'work'), git),
      policy: {},
      readSettings: async () => ({ layers: [], merged: {}, problems: [] }),
      secrets: createTaskSecretRedactor(environment, claim.spec),
      machine: 'storm',
      redactTranscript: async (text) => text,
      saveFile: undefined,
      readSessionCost: async () => 0,
      loadFile: (kind) => store.readFile(claim.batch, claim.key, kind),
      listResults: async () => [],
    }),
  });
  process.stdout.write(`${ended.kind}\n`);
  await store.close();
}

async function freeze(url: string): Promise<void> {
  const sql = await openPostgres(url);
  const query =
    (tx: SqlTransaction): SqlTransaction['query'] =>
    async (text, ...values) => {
      const rows = await tx.query(text, ...values);
      if (!text.includes('INSERT INTO fleet_attempts')) return rows;
      process.stdout.write('frozen\n');
      process.kill(process.pid, 'SIGSTOP');
      return rows;
    };
  const store = await createFleetStore({
    ...sql,
    transaction: (work) => sql.transaction((tx) => work({ ...tx, query: query(tx) })),
  });
  await store.claim({ worker: 'frozen', machine: 'storm', leaseMs: 1_500 });
}

await play(JSON.parse(process.argv[2] ?? '{}'));
