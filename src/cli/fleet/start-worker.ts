import { randomBytes } from 'node:crypto';
import { hostname, userInfo } from 'node:os';
import type { Claim, Micros } from '../../contracts/fleet.ts';
import { fleetGit } from '../../fleet/git/fleet-git.ts';
import { openMirrors } from '../../fleet/git/mirrors.ts';
import { microsOf } from '../../fleet/worker/child-lines.ts';
import { costOfLost } from '../../fleet/worker/cost-of-lost.ts';
import { ownSecrets } from '../../fleet/worker/own-secrets.ts';
import type { Policy } from '../../fleet/worker/policy.ts';
import type { TaskParts } from '../../fleet/worker/task-parts.ts';
import { runWorker, type WorkerEnd, type WorkerOptions } from '../../fleet/worker/worker.ts';
import { ownProgram } from '../../lib/processes/own-program.ts';
import type { Io } from '../io.ts';
import type { Fleet } from './open-fleet.ts';

export type WorkerWish = Pick<WorkerOptions, 'slots' | 'until' | 'atRest' | 'signal' | 'say'> & {
  readonly batch?: string;
};

const FREE_MEGABYTES = 200;
const LEASE_SECONDS = 30;

/** A worker of this machine, in this process. */
export function startWorker(fleet: Fleet, policy: Policy, io: Io, wish: WorkerWish): Promise<WorkerEnd> {
  const machine = hostname();
  return runWorker({
    ...wish,
    store: fleet.store,
    name: `${machine}-${process.pid}-${randomBytes(2).toString('hex')}`,
    machine,
    leaseMs: (policy.leaseSeconds ?? LEASE_SECONDS) * 1000,
    fleetFolder: fleet.folder,
    freeMegabytes: policy.freeMegabytes ?? FREE_MEGABYTES,
    partsFor: partsOf(fleet, policy, io, machine),
    costOfLost: (task) =>
      costOfLost(task, {
        store: fleet.store,
        environment: io.environment,
        workRoot: workRootOf(io.environment),
        machine,
        costOf,
      }),
  });
}

/** Beside the folder of ouro itself, in which every edit is asked about. */
export const workRootOf = ({ ouroHome }: Io['environment']): string => `${ouroHome}-work`;

function partsOf(fleet: Fleet, policy: Policy, { environment }: Io, machine: string): (claim: Claim) => TaskParts {
  const git = fleetGit(environment);
  const shared = {
    environment,
    program: ownProgram(),
    workRoot: workRootOf(environment),
    git,
    mirrors: openMirrors(fleet.folder, git),
    policy,
    machine,
    costOf,
    async scrub(text: string) {
      if (fleet.reach === 'this machine') return text;
      const { scrubbedTranscript } = await import('../../app/replay/make-capsule.ts');
      return scrubbedTranscript(text, { home: environment.home, user: userName() });
    },
  };
  return (claim) => ({
    ...shared,
    secrets: ownSecrets(environment, claim.spec),
    stored: (kind) => fleet.store.file(claim.batch, claim.key, kind),
    keep: fleet.reach === 'many' ? (kind, bytes) => fleet.store.keep(claim, kind, bytes) : undefined,
    results: () => fleet.store.tasks(claim.batch),
  });
}

async function costOf(transcriptFile: string): Promise<Micros> {
  const { storedCostUsd } = await import('../../app/session/cost-before.ts');
  return microsOf(await storedCostUsd(transcriptFile));
}

function userName(): string {
  try {
    return userInfo().username;
  } catch {
    // Nobody has a name for this number.
    return '';
  }
}
