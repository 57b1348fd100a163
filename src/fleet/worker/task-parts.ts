import type { Environment } from '../../contracts/environment.ts';
import type { FileKind, Micros, TaskView } from '../../contracts/fleet.ts';
import type { FleetGit } from '../git/fleet-git.ts';
import type { Mirrors } from '../git/mirrors.ts';
import type { OwnSecrets } from './own-secrets.ts';
import type { Policy } from './policy.ts';

/** What a task needs of the machine it runs on. */
export type TaskParts = {
  readonly environment: Environment;
  /** What starts ouro. */
  readonly program: string;
  /** Where working folders are: beside the folder of ouro itself, in which nothing may be edited. */
  readonly workRoot: string;
  readonly git: FleetGit;
  readonly mirrors: Mirrors;
  readonly policy: Policy;
  readonly machine: string;
  readonly secrets: OwnSecrets;
  /** A transcript as it may leave this machine. */
  readonly scrub: (transcript: string) => Promise<string>;
  /** Keeps in the store what is done so far, so that another machine can go on with it. */
  readonly keep: ((kind: FileKind, bytes: Uint8Array) => Promise<void>) | undefined;
  /** What all replies of a stored session have cost. */
  readonly costOf: (transcriptFile: string) => Promise<Micros>;
  /** A file that an earlier attempt has left in the store. */
  readonly stored: (kind: FileKind) => Promise<Uint8Array | undefined>;
  /** What the other tasks of the batch came to, for a summary. */
  readonly results: () => Promise<readonly TaskView[]>;
};
