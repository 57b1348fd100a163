import type { JsonObject, JsonValue } from '@ouro-cli/ouro/commands';

/** An amount of money in millionths of a dollar. Integers keep sums exact. */
export type MicroDollars = number;

/** The checkout for a task: a commit of a repository, and a folder in it (empty for the root). */
export type BatchTaskCheckout = { readonly url: string; readonly commit: string; readonly folder: string };

/** The check that decides whether a task is done. `tries` limits how often it is repeated. */
export type TaskVerification =
  | { readonly kind: 'command'; readonly run: string; readonly tries: number }
  | { readonly kind: 'question'; readonly ask: string; readonly tries: number };

/** The variables of a task, those with secrets by name. */
export type TaskVariables = Pick<BatchTaskSpec, 'env' | 'secrets'>;

/** The work of one task. All of it travels through the queue, so it must not contain secrets. */
export type BatchTaskSpec = {
  /** Absent for a summary, which works on the results of the other tasks. */
  readonly place?: BatchTaskCheckout;
  readonly prompt: string;
  readonly model?: string;
  readonly mode: string;
  readonly allowedTools: readonly string[];
  readonly disallowedTools: readonly string[];
  /** Names of variables that the worker sets from its own environment. */
  readonly env: readonly string[];
  /** Names of further variables that hold secrets, and that commands of the task may read in the sandbox. */
  readonly secrets?: readonly string[];
  readonly verify?: TaskVerification;
  /** JSON schema of the answer. */
  readonly schema?: JsonObject;
  readonly minutes: number;
  readonly turns?: number;
};

/** A task to submit. */
export type NewBatchTask = {
  /** Readable key with a hash of the work: identical tasks have the same key. */
  readonly key: string;
  readonly title: string;
  readonly spec: BatchTaskSpec;
  /** Rate-limit lane of its requests: a provider and an account. */
  readonly lane: string;
  /** A summary starts when all other tasks of the batch have ended. */
  readonly kind: 'work' | 'summary';
  readonly priority: number;
  /** Signature of key and spec, made with the submitter's key. */
  readonly signature?: string;
};

export type BatchLimits = {
  /** Budget of one task, all its attempts together. */
  readonly each: MicroDollars;
  /** Budget of the batch. */
  readonly all: MicroDollars;
  readonly attempts: number;
  readonly atOnce: number;
};

/** The fields of a batch that its task file sets, and that a later version of the file can change. */
export type BatchSettings = {
  readonly limits: BatchLimits;
  readonly priority: number;
  /** Form in which the results are collected. */
  readonly collect: CollectOptions;
};

/** A batch to submit. */
export type NewBatch = BatchSettings & {
  readonly id: string;
  readonly name: string;
  /** Version of a batch that replaces another one; 1 by default. */
  readonly version?: number;
};

/** The form in which the results of a batch are collected. */
export type CollectOptions = {
  readonly as: 'patches' | 'branch' | 'pr';
  readonly name: string;
  /** Revision that the tasks started from; pull requests are merged into it if it is a branch. */
  readonly ref?: string;
  /** Service of the pull requests; by default the one that the host name suggests. */
  readonly forge?: 'github' | 'gitlab' | 'gitea';
  readonly draft?: boolean;
  readonly labels?: readonly string[];
  readonly reviewers?: readonly string[];
  /** Template of the text; the answer of the task by default. */
  readonly body?: string;
};

export type BatchTaskState = 'held' | 'waiting' | 'running' | 'done' | 'failed' | 'cancelled';

/** The result of a finished task, besides its patch and its transcript. */
export type BatchTaskResult = {
  readonly answer: string;
  readonly structured?: JsonValue;
  readonly verified: 'yes' | 'not asked';
  readonly turns: number;
  readonly machine: string;
  readonly session: string;
  readonly denials: number;
  /** Number of changed files, added and removed lines. */
  readonly stat: { readonly files: number; readonly added: number; readonly removed: number };
  readonly notes: readonly string[];
};

/** The end of an attempt, as reported by its worker. */
export type TaskAttemptEnd =
  /** `mark`: a doubt about the result, which a person should look at. */
  | { readonly kind: 'done'; readonly result: BatchTaskResult; readonly mark?: string }
  /** `again: 'never'` ends the task; otherwise it is tried again while attempts are left. */
  | { readonly kind: 'failed'; readonly reason: string; readonly again: 'if-attempts-left' | 'never' }
  /** Returned to the queue: it does not count as an attempt, but its cost does. */
  | { readonly kind: 'back'; readonly reason: string; readonly afterMs: number };

/** A claimed attempt. The fencing token differs from that of every later attempt of the task. */
export type TaskClaim = {
  readonly id: string;
  readonly batch: string;
  readonly key: string;
  readonly token: number;
  readonly lane: string;
  readonly title: string;
  readonly spec: BatchTaskSpec;
  readonly signature: string | undefined;
  readonly kind: NewBatchTask['kind'];
  /** Number of this attempt, from 1. */
  readonly attempt: number;
  /** Budget of this attempt. */
  readonly budget: MicroDollars;
  /** Cost of the earlier attempts. */
  readonly earlierCost: MicroDollars;
  readonly previousAttempt: { readonly session: string; readonly machine: string } | undefined;
};

export type ClaimingWorker = {
  readonly worker: string;
  readonly machine: string;
  /** Identifies the folders that the worker keeps files in. Other machines may have the same name. */
  readonly installation?: string;
  readonly leaseMs: number;
  /** Restricts the claim to this batch. */
  readonly batch?: string;
  /** Lanes that this machine cannot serve for now. */
  readonly exceptLanes?: readonly string[];
};

/** The heartbeat of a running attempt. */
export type AttemptHeartbeat = { readonly cost: MicroDollars; readonly session?: string; readonly doing?: string };

/** A task that was taken back from an unresponsive worker, with the location of its session. */
export type LostBatchTask = {
  readonly batch: string;
  readonly key: string;
  readonly machine: string;
  readonly session: string | undefined;
};

/** The files of a deleted batch that an installation still has to delete: working folders, sessions and mirrors. */
export type PendingBatchDeletion = {
  readonly batch: string;
  readonly installation: string;
  readonly machine: string;
  readonly createdMs: number;
  readonly tasks: readonly TaskOfDeletedBatch[];
};

/** A task of a deleted batch: its key, its folder in the repository (empty for the root), and its repository. */
export type TaskOfDeletedBatch = { readonly key: string; readonly folder: string; readonly url?: string | undefined };

/** The kinds of files that are stored for a task. */
export type TaskArtifactKind = 'patch' | 'transcript' | 'unfinished';

export type BatchTaskCounts = Readonly<Record<BatchTaskState, number>>;

export type BatchStatus = {
  readonly id: string;
  readonly name: string;
  readonly state: 'open' | 'paused' | 'cancelled';
  /** Rises when an edited task file is applied, or when another batch of this name is replaced. */
  readonly version: number;
  /** Id of the batch that replaced this one. */
  readonly replacedBy: string | undefined;
  /** The limits in force; `submitted` has those of the task file. */
  readonly limits: BatchLimits;
  readonly submitted: BatchSettings;
  readonly collect: CollectOptions;
  readonly createdMs: number;
  /** Time of the last change. */
  readonly lastMs: number;
  readonly counts: BatchTaskCounts;
  readonly spent: MicroDollars;
  readonly reserved: MicroDollars;
  /** Expected cost of the waiting tasks, estimated from those that are done; `undefined` until one is. */
  readonly expected: MicroDollars | undefined;
  /** Reasons why waiting tasks do not start. */
  readonly waits: readonly BatchTaskWaitReason[];
};

/** A reason why waiting tasks do not start: no budget, a paused lane, or what a machine returned them for. */
export type BatchTaskWaitReason =
  | { readonly kind: 'returned'; readonly tasks: number; readonly words: string }
  | { readonly kind: 'money'; readonly words: string }
  | { readonly kind: 'lane'; readonly lane: string; readonly untilMs: number; readonly words: string };

/** A task with its state, for display. */
export type BatchTaskView = {
  readonly key: string;
  readonly title: string;
  readonly kind: NewBatchTask['kind'];
  readonly state: BatchTaskState;
  readonly lane: string;
  readonly priority: number;
  readonly tries: number;
  readonly cost: MicroDollars;
  /** Reason why it failed or was returned to the queue. */
  readonly reason: string | undefined;
  readonly session: string | undefined;
  readonly machine: string | undefined;
  readonly doing: string | undefined;
  readonly startedMs: number | undefined;
  readonly endedMs: number | undefined;
  readonly result: BatchTaskResult | undefined;
  readonly spec: BatchTaskSpec;
};

/** An attempt of a task, for display. */
export type TaskAttemptView = {
  readonly machine: string;
  readonly worker: string;
  readonly startedMs: number;
  readonly endedMs: number | undefined;
  readonly cost: MicroDollars;
  readonly outcome: string;
  readonly session: string | undefined;
};

/** A branch that ouro has created for a task, and its pull request. */
export type BatchTaskBranch = {
  readonly url: string;
  readonly branch: string;
  /** The commit that ouro gave the branch last. If the branch has another one, it was not made by ouro. */
  readonly commit: string;
  readonly batch: string;
  readonly key: string;
  readonly request?: PullRequestView;
};

/** A pull request with its state at the last look. */
export type PullRequestView = {
  readonly url: string;
  readonly state: 'open' | 'draft' | 'merged' | 'closed' | 'unknown';
  readonly checks: 'passed' | 'failed' | 'running' | 'none';
};

export type BatchControlCommand =
  | { readonly command: 'pause' | 'resume' }
  | { readonly command: 'cancel'; readonly keys?: readonly string[] }
  | { readonly command: 'retry'; readonly keys?: readonly string[] }
  | { readonly command: 'budget'; readonly more: MicroDollars };

/** A batch that workers submit again at intervals. Each run has a batch of its own, with the same limits. */
export type NewBatchSchedule = {
  readonly id: string;
  readonly everyMs: number;
  readonly batch: NewBatch;
  readonly tasks: readonly NewBatchTask[];
};

/** A schedule, for display. */
export type BatchScheduleView = Omit<NewBatchSchedule, 'tasks'> & {
  /** Number of tasks of each run. */
  readonly taskCount: number;
  readonly nextMs: number;
  /** Id of the batch of the last run. The next one waits until this one has ended. */
  readonly lastBatch: string | undefined;
  /** Reason why the run that is due was not submitted. */
  readonly problem: string | undefined;
};

/** A schedule whose next run is due. Its version and time identify the run, so that it is submitted once. */
export type DueBatchSchedule = NewBatchSchedule & { readonly version: number; readonly dueMs: number };
