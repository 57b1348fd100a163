import { randomBytes } from 'node:crypto';
import { hostname, userInfo } from 'node:os';
import { findOuroLauncher, type ProcessIo, readSettings } from '@ouro-cli/ouro/commands';
import { createFleetGit } from '../git/fleet-git.ts';
import { openRepositoryMirrors } from '../git/repository-mirrors.ts';
import type { MicroDollars, TaskClaim } from '../store/batch.ts';
import { refreshScheduledTasks } from '../tasks/expand-tasks.ts';
import type { BatchTaskDeps } from '../worker/batch-task-deps.ts';
import { convertUsdToMicroDollars } from '../worker/child-output.ts';
import { deletePendingBatchFiles, type FleetCleanUpDeps, readInstallationId } from '../worker/clean-up.ts';
import { readLostTaskCost } from '../worker/prepare-task-attempt.ts';
import { createTaskSecretRedactor } from '../worker/task-secret-redactor.ts';
import { runWorker, type WorkerEnd, type WorkerOptions } from '../worker/worker.ts';
import { isRepositoryAllowed, type WorkerPolicy } from '../worker/worker-policy.ts';
import type { OpenedTaskQueue } from './open-task-queue.ts';

export type WorkerStartOptions = Pick<WorkerOptions, 'slots' | 'until' | 'whenPaused' | 'signal' | 'onEvent'> & {
  readonly batch?: string;
};

const MIN_FREE_MEGABYTES = 200;
const LEASE_SECONDS = 30;

const MIRROR_DAYS = 30;
const MIRROR_GIGABYTES = 20;
const DAY_MS = 86_400_000;

/** Starts a worker in this process. */
export async function runWorkerInProcess(
  fleet: OpenedTaskQueue,
  policy: WorkerPolicy,
  io: ProcessIo,
  options: WorkerStartOptions,
): Promise<WorkerEnd> {
  const machine = hostname();
  const { mirrorDays = MIRROR_DAYS, mirrorGigabytes = MIRROR_GIGABYTES } = policy;
  const cleanUp = await createFleetCleanUpDeps(fleet, io);
  return runWorker({
    ...options,
    store: fleet.store,
    installation: cleanUp.installation,
    deleteFiles: () => deletePendingBatchFiles(cleanUp),
    pruneMirrors: () => cleanUp.mirrors.prune({ maxAgeMs: mirrorDays * DAY_MS, maxBytes: mirrorGigabytes * 1e9 }),
    name: `${machine}-${process.pid}-${randomBytes(2).toString('hex')}`,
    machine,
    leaseMs: (policy.leaseSeconds ?? LEASE_SECONDS) * 1000,
    fleetFolder: fleet.folder,
    freeMegabytes: policy.freeMegabytes ?? MIN_FREE_MEGABYTES,
    createTaskDeps: createTaskParts(fleet, policy, io, machine),
    renewTasks: (due) =>
      refreshScheduledTasks(due, {
        git: createFleetGit(io.environment, options.signal),
        isAllowed: (url) => isRepositoryAllowed(policy, url),
      }),
    getLostCost: (task) =>
      readLostTaskCost(task, {
        store: fleet.store,
        environment: io.environment,
        workRoot: getTaskWorktreesRoot(io.environment),
        machine,
        readSessionCost: readStoredCost,
      }),
  });
}

/** Returns what deletes the files of this installation. */
export async function createFleetCleanUpDeps(
  { store, folder }: Pick<OpenedTaskQueue, 'store' | 'folder'>,
  { environment }: Pick<ProcessIo, 'environment'>,
): Promise<FleetCleanUpDeps> {
  const workRoot = getTaskWorktreesRoot(environment);
  return {
    store,
    environment,
    workRoot,
    machine: hostname(),
    installation: await readInstallationId(folder),
    fleetFolder: folder,
    mirrors: openRepositoryMirrors(workRoot, createFleetGit(environment)),
  };
}

/** Returns the folder of task worktrees. It is outside OURO_HOME, where every edit needs approval. */
export const getTaskWorktreesRoot = ({ ouroHome }: ProcessIo['environment']): string => `${ouroHome}-work`;

function createTaskParts(
  fleet: OpenedTaskQueue,
  policy: WorkerPolicy,
  { environment }: ProcessIo,
  machine: string,
): (claim: TaskClaim) => BatchTaskDeps {
  const git = createFleetGit(environment);
  const shared: Omit<BatchTaskDeps, 'secrets' | 'loadFile' | 'saveFile' | 'listResults'> = {
    environment,
    program: findOuroLauncher(),
    workRoot: getTaskWorktreesRoot(environment),
    git,
    mirrors: openRepositoryMirrors(getTaskWorktreesRoot(environment), git),
    policy,
    readSettings: (run) => readSettings(run, environment, false),
    machine,
    readSessionCost: readStoredCost,
    async redactTranscript(text: string) {
      if (fleet.reach === 'this machine') return text;
      const { redactTranscript } = await import('@ouro-cli/ouro/transcripts');
      return redactTranscript(text, { home: environment.home, user: findUserName() });
    },
  };
  return (claim) => ({
    ...shared,
    secrets: createTaskSecretRedactor(environment, claim.spec),
    loadFile: (kind) => fleet.store.readFile(claim.batch, claim.key, kind),
    saveFile: fleet.reach === 'many' ? (kind, bytes) => fleet.store.storeFile(claim, kind, bytes) : undefined,
    listResults: () => fleet.store.listTasks(claim.batch),
  });
}

async function readStoredCost(transcriptFile: string): Promise<MicroDollars> {
  const { computeStoredCostUsd } = await import('@ouro-cli/ouro/transcripts');
  return convertUsdToMicroDollars(await computeStoredCostUsd(transcriptFile));
}

function findUserName(): string {
  try {
    return userInfo().username;
  } catch {
    // The user id may have no entry in the user database.
    return '';
  }
}
