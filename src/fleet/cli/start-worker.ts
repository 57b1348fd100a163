import { randomBytes } from 'node:crypto';
import { hostname, userInfo } from 'node:os';
import { readSettings } from '../../app/read-settings.ts';
import type { Io } from '../../cli/io.ts';
import type { Claim, MicroDollars } from '../../contracts/fleet.ts';
import { findLauncher } from '../../lib/processes/installed-files.ts';
import { createFleetGit } from '../git/fleet-git.ts';
import { openMirrors } from '../git/mirrors.ts';
import { refreshTasks } from '../tasks/refresh-tasks.ts';
import { convertToMicros } from '../worker/child-output.ts';
import { readLostCost } from '../worker/child-session.ts';
import { type CleanUpDeps, deletePendingFiles, readInstallation } from '../worker/clean-up.ts';
import { createMachineSecrets } from '../worker/machine-secrets.ts';
import { isRepositoryAllowed, type WorkerPolicy } from '../worker/policy.ts';
import type { TaskDeps } from '../worker/task-deps.ts';
import { runWorker, type WorkerEnd, type WorkerOptions } from '../worker/worker.ts';
import type { OpenQueue } from './open-queue.ts';

/** The options of a worker. */
export type WorkerStartOptions = Pick<WorkerOptions, 'slots' | 'until' | 'whenPaused' | 'signal' | 'onEvent'> & {
  readonly batch?: string;
};

const MIN_FREE_MEGABYTES = 200;
const LEASE_SECONDS = 30;

const MIRROR_DAYS = 30;
const MIRROR_GIGABYTES = 20;
const DAY_MS = 86_400_000;

/** Starts a worker in this process. */
export async function startWorker(
  fleet: OpenQueue,
  policy: WorkerPolicy,
  io: Io,
  options: WorkerStartOptions,
): Promise<WorkerEnd> {
  const machine = hostname();
  const { mirrorDays = MIRROR_DAYS, mirrorGigabytes = MIRROR_GIGABYTES } = policy;
  const cleanUp = await createCleanUp(fleet, io);
  return runWorker({
    ...options,
    store: fleet.store,
    installation: cleanUp.installation,
    deleteFiles: () => deletePendingFiles(cleanUp),
    pruneMirrors: () => cleanUp.mirrors.prune({ maxAgeMs: mirrorDays * DAY_MS, maxBytes: mirrorGigabytes * 1e9 }),
    name: `${machine}-${process.pid}-${randomBytes(2).toString('hex')}`,
    machine,
    leaseMs: (policy.leaseSeconds ?? LEASE_SECONDS) * 1000,
    fleetFolder: fleet.folder,
    freeMegabytes: policy.freeMegabytes ?? MIN_FREE_MEGABYTES,
    createTaskDeps: createTaskParts(fleet, policy, io, machine),
    renewTasks: (due) =>
      refreshTasks(due, {
        git: createFleetGit(io.environment, options.signal),
        isAllowed: (url) => isRepositoryAllowed(policy, url),
      }),
    getLostCost: (task) =>
      readLostCost(task, {
        store: fleet.store,
        environment: io.environment,
        workRoot: getWorkRoot(io.environment),
        machine,
        readSessionCost: readStoredCost,
      }),
  });
}

/** Returns what deletes the files of this installation. */
export async function createCleanUp(
  { store, folder }: Pick<OpenQueue, 'store' | 'folder'>,
  { environment }: Pick<Io, 'environment'>,
): Promise<CleanUpDeps> {
  const workRoot = getWorkRoot(environment);
  return {
    store,
    environment,
    workRoot,
    machine: hostname(),
    installation: await readInstallation(folder),
    fleetFolder: folder,
    mirrors: openMirrors(workRoot, createFleetGit(environment)),
  };
}

/** Returns the folder of task worktrees. It is outside OURO_HOME, where every edit needs approval. */
export const getWorkRoot = ({ ouroHome }: Io['environment']): string => `${ouroHome}-work`;

function createTaskParts(
  fleet: OpenQueue,
  policy: WorkerPolicy,
  { environment }: Io,
  machine: string,
): (claim: Claim) => TaskDeps {
  const git = createFleetGit(environment);
  const shared: Omit<TaskDeps, 'secrets' | 'loadFile' | 'saveFile' | 'listResults'> = {
    environment,
    program: findLauncher(),
    workRoot: getWorkRoot(environment),
    git,
    mirrors: openMirrors(getWorkRoot(environment), git),
    policy,
    readSettings: (run) => readSettings(run, environment, false),
    machine,
    readSessionCost: readStoredCost,
    async redactTranscript(text: string) {
      if (fleet.reach === 'this machine') return text;
      const { redactTranscript } = await import('../../app/replay/capsule.ts');
      return redactTranscript(text, { home: environment.home, user: findUserName() });
    },
  };
  return (claim) => ({
    ...shared,
    secrets: createMachineSecrets(environment, claim.spec),
    loadFile: (kind) => fleet.store.readFile(claim.batch, claim.key, kind),
    saveFile: fleet.reach === 'many' ? (kind, bytes) => fleet.store.storeFile(claim, kind, bytes) : undefined,
    listResults: () => fleet.store.listTasks(claim.batch),
  });
}

async function readStoredCost(transcriptFile: string): Promise<MicroDollars> {
  const { computeStoredCostUsd } = await import('../../session/session-cost.ts');
  return convertToMicros(await computeStoredCostUsd(transcriptFile));
}

function findUserName(): string {
  try {
    return userInfo().username;
  } catch {
    // The user id may have no entry in the user database.
    return '';
  }
}
