import type {
  AttemptView,
  BatchStatus,
  Beat,
  Claim,
  Claimer,
  Ending,
  FileKind,
  LostTask,
  Micros,
  NewBatch,
  NewTask,
  Order,
  TaskState,
  TaskView,
} from './fleet.ts';

/**
 * Where batches, tasks, money and results are kept. Every verb is one transaction: what it says has happened is on disk.
 * Two stores keep this promise, and one contract test holds both to it.
 */
export type FleetStore = {
  /** Adds what is not there yet. The same batch again adds nothing and changes nothing. */
  submit(batch: NewBatch, tasks: readonly NewTask[]): Promise<{ readonly added: number; readonly known: number }>;
  /** Takes over results of the same tasks in other batches. Answers how many. */
  reuse(batch: string): Promise<number>;
  /** The next task that may begin: its batch has money, its lane is free, nobody works on it. */
  claim(claimer: Claimer): Promise<Claim | undefined>;
  /** Shows that an attempt lives. `stop`: it is not wanted any more. `lost`: another attempt counts by now. */
  beat(claim: Claim, beat: Beat): Promise<'go on' | 'stop' | 'lost'>;
  /** Settles an attempt with its files. `late`: another attempt counts, and only the money was added. */
  finish(
    claim: Claim,
    ending: Ending,
    last: Beat,
    files?: Readonly<Partial<Record<FileKind, Uint8Array>>>,
  ): Promise<'kept' | 'late'>;
  /** Keeps a file of an attempt that goes on; of one that does not count any more it keeps nothing. */
  keep(claim: Claim, kind: FileKind, bytes: Uint8Array): Promise<void>;
  file(batch: string, key: string, kind: FileKind): Promise<Uint8Array | undefined>;
  /** Nothing new of the lane begins until then. `limit` halves what runs at once; `rest` waits for quota or a key. */
  cool(
    lane: string,
    why: { readonly kind: 'limit' | 'rest'; readonly untilMs: number; readonly words: string },
  ): Promise<void>;
  /** Takes back what workers hold that have not been heard of for their lease. Answers whose. */
  sweep(): Promise<readonly LostTask[]>;
  /** Books what a lost attempt has cost beyond what it could tell: all attempts of the task together have cost so much. */
  charge(task: LostTask, total: Micros): Promise<void>;
  /** Answers how many tasks it concerned. Throws a sentence when there is no such batch. */
  order(batch: string, order: Order): Promise<number>;
  /** Forgets a batch with all it has left, unless somebody still works on it. */
  remove(batch: string): Promise<'removed' | 'somebody works on it'>;
  /** All batches, newest first. */
  batches(): Promise<readonly BatchStatus[]>;
  status(batch: string): Promise<BatchStatus | undefined>;
  tasks(batch: string, states?: readonly TaskState[]): Promise<readonly TaskView[]>;
  attempts(batch: string, key: string): Promise<readonly AttemptView[]>;
  /** Is there anything that may begin, now or later, or that runs? */
  isSettled(batch?: string): Promise<boolean>;
  now(): Promise<number>;
  close(): Promise<void>;
};
