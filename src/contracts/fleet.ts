import type { JsonObject, JsonValue } from './json.ts';

/** Money in millionths of a dollar: whole numbers, so that sums are exact. */
export type Micros = number;

/** Where a task works: a commit of a repository, and a folder in it (empty for its top). */
export type TaskPlace = { readonly url: string; readonly commit: string; readonly folder: string };

/** What decides whether a task is done. `tries` is how often the work may be handed in. */
export type Verify =
  | { readonly kind: 'command'; readonly run: string; readonly tries: number }
  | { readonly kind: 'question'; readonly ask: string; readonly tries: number };

/** What one task asks a worker to do. Everything in it travels through the queue, so no secret may be. */
export type TaskSpec = {
  /** Absent for a summary, which works on the results of the others. */
  readonly place?: TaskPlace;
  readonly prompt: string;
  readonly model?: string;
  readonly mode: string;
  readonly allowedTools: readonly string[];
  readonly disallowedTools: readonly string[];
  /** Names of variables the worker fills in from its own surroundings. */
  readonly env: readonly string[];
  readonly verify?: Verify;
  /** The JSON schema of the answer. */
  readonly schema?: JsonObject;
  readonly minutes: number;
  readonly turns?: number;
};

/** A task as it is submitted. */
export type NewTask = {
  /** Readable, with a hash of what is asked: the same task has the same key. */
  readonly key: string;
  readonly title: string;
  readonly spec: TaskSpec;
  /** The lane its requests use: a provider, and an account of it. */
  readonly lane: string;
  /** The summary begins when all others of the batch are settled. */
  readonly kind: 'work' | 'summary';
  readonly priority: number;
  /** Made by the submitter's key over key and spec. */
  readonly signature?: string;
};

export type BatchLimits = {
  /** What one task may cost, all its attempts together. */
  readonly each: Micros;
  /** What the batch may cost. */
  readonly all: Micros;
  readonly attempts: number;
  readonly atOnce: number;
};

export type NewBatch = {
  readonly id: string;
  readonly name: string;
  readonly limits: BatchLimits;
  readonly priority: number;
  /** What becomes of the results by itself, as the task file says it. */
  readonly collect: CollectWish;
};

export type CollectWish = { readonly as: 'patches' | 'branch' | 'pr'; readonly name: string };

export type TaskState = 'held' | 'waiting' | 'running' | 'done' | 'failed' | 'cancelled';

/** What a finished task leaves, besides its patch and its transcript. */
export type TaskResult = {
  readonly answer: string;
  readonly structured?: JsonValue;
  readonly verified: 'yes' | 'not asked';
  readonly turns: number;
  readonly machine: string;
  readonly session: string;
  readonly denials: number;
  /** Changed files, added and removed lines. */
  readonly stat: { readonly files: number; readonly added: number; readonly removed: number };
  readonly notes: readonly string[];
};

/** How an attempt ended, as its worker tells it. */
export type Ending =
  | { readonly kind: 'done'; readonly result: TaskResult }
  /** `final` is not tried again. */
  | { readonly kind: 'failed'; readonly reason: string; readonly again: 'if attempts are left' | 'never' }
  /** Given back: no attempt is used up, whatever it has cost is counted. */
  | { readonly kind: 'back'; readonly reason: string; readonly afterMs: number };

/** An attempt that a worker holds. The token fences it: a later attempt of the same task has another one. */
export type Claim = {
  readonly id: string;
  readonly batch: string;
  readonly key: string;
  readonly token: number;
  readonly lane: string;
  readonly title: string;
  readonly spec: TaskSpec;
  readonly signature: string | undefined;
  readonly kind: NewTask['kind'];
  /** Which attempt this is, from 1. */
  readonly attempt: number;
  /** What this attempt may cost. */
  readonly budget: Micros;
  /** What is booked for the attempts before. */
  readonly booked: Micros;
  /** The session of the attempt before, and the machine it ran on. */
  readonly before: { readonly session: string; readonly machine: string } | undefined;
};

export type Claimer = {
  readonly worker: string;
  readonly machine: string;
  readonly leaseMs: number;
  /** Only tasks of this batch. */
  readonly batch?: string;
};

/** What a running attempt tells while it works. */
export type Beat = { readonly cost: Micros; readonly session?: string; readonly doing?: string };

/** A task that was taken back from a worker nobody has heard of, and where its conversation was. */
export type LostTask = {
  readonly batch: string;
  readonly key: string;
  readonly machine: string;
  readonly session: string | undefined;
};

export type FileKind = 'patch' | 'transcript' | 'unfinished';

/** Counts of a batch's tasks by state. */
export type Counts = Readonly<Record<TaskState, number>>;

export type BatchStatus = {
  readonly id: string;
  readonly name: string;
  readonly state: 'open' | 'paused' | 'cancelled';
  readonly limits: BatchLimits;
  readonly collect: CollectWish;
  readonly createdMs: number;
  /** When anything last happened in it. */
  readonly lastMs: number;
  readonly counts: Counts;
  readonly spent: Micros;
  readonly reserved: Micros;
  /** What the tasks still waiting will cost, going by those that are done; `undefined` until one is. */
  readonly expected: Micros | undefined;
  /** Waits although there is work: money, a lane at rest. */
  readonly waits: readonly Waiting[];
};

export type Waiting =
  | { readonly kind: 'money'; readonly words: string }
  | { readonly kind: 'lane'; readonly lane: string; readonly untilMs: number; readonly words: string };

export type TaskView = {
  readonly key: string;
  readonly title: string;
  readonly kind: NewTask['kind'];
  readonly state: TaskState;
  readonly lane: string;
  readonly tries: number;
  readonly cost: Micros;
  /** Why it failed, or why it was given back. */
  readonly reason: string | undefined;
  readonly session: string | undefined;
  readonly machine: string | undefined;
  readonly doing: string | undefined;
  readonly startedMs: number | undefined;
  readonly endedMs: number | undefined;
  readonly result: TaskResult | undefined;
  readonly spec: TaskSpec;
};

export type AttemptView = {
  readonly machine: string;
  readonly worker: string;
  readonly startedMs: number;
  readonly endedMs: number | undefined;
  readonly cost: Micros;
  readonly outcome: string;
  readonly session: string | undefined;
};

/** What people do to a batch. */
export type Order =
  | { readonly order: 'pause' | 'resume' }
  | { readonly order: 'cancel'; readonly keys?: readonly string[] }
  | { readonly order: 'retry'; readonly keys?: readonly string[] }
  | { readonly order: 'budget'; readonly more: Micros };
