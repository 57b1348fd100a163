import type { Environment, LoadedSettings } from '@ouro-cli/ouro/commands';
import type { FleetGit } from '../git/fleet-git.ts';
import type { RepositoryMirrors } from '../git/repository-mirrors.ts';
import type { BatchTaskView, MicroDollars, TaskArtifactKind } from '../store/batch.ts';
import type { TaskRunSettings } from './task-sandbox.ts';
import type { TaskSecretRedactor } from './task-secret-redactor.ts';
import type { WorkerPolicy } from './worker-policy.ts';

/** The dependencies of running a task. */
export type BatchTaskDeps = {
  readonly environment: Environment;
  /** Path of the program that starts ouro. */
  readonly program: string;
  /** Folder of the worktrees. It is outside OURO_HOME, where edits need approval. */
  readonly workRoot: string;
  readonly git: FleetGit;
  readonly mirrors: RepositoryMirrors;
  readonly policy: WorkerPolicy;
  /** Reads the settings that ouro would have in a folder, which is not trusted. */
  readonly readSettings: (run: TaskRunSettings) => Promise<LoadedSettings>;
  readonly machine: string;
  readonly secrets: TaskSecretRedactor;
  /** Redacts a transcript so that it may leave this machine. */
  readonly redactTranscript: (transcript: string) => Promise<string>;
  /** Stores a file of the unfinished task, so that another machine can continue it; unset for a local queue. */
  readonly saveFile: ((kind: TaskArtifactKind, bytes: Uint8Array) => Promise<void>) | undefined;
  /** Returns the total cost of a stored session. */
  readonly readSessionCost: (transcriptFile: string) => Promise<MicroDollars>;
  /** Reads a file that an earlier attempt has stored. */
  readonly loadFile: (kind: TaskArtifactKind) => Promise<Uint8Array | undefined>;
  /** Lists the tasks of the batch with their results, for a summary. */
  readonly listResults: () => Promise<readonly BatchTaskView[]>;
};
