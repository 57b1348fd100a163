import type { Transaction } from './sql.ts';

export type NewJob = { readonly id: string; readonly priority: number; readonly seq: number };
/** A job somebody holds; its token names the attempt. */
export type HeldJob = { readonly id: string; readonly token: number };

/** No job waits longer than this before it may be taken again. */
export const LONGEST_PAUSE_MS = 60_000;

/**
 * What waits and who holds it: the part of a store that an engine may do. Each call is a part of the transaction it is
 * given. A queue holds the tasks of one batch in one lane.
 */
export type JobQueue = {
  /** Makes the queue, once; not in a transaction. */
  open(queue: string): Promise<void>;
  add(tx: Transaction, queue: string, jobs: readonly NewJob[]): Promise<void>;
  /** The first by priority, then in the order they came, that may begin now. */
  take(tx: Transaction, queue: string): Promise<HeldJob | undefined>;
  /** Over for good; false when somebody else holds it by now. */
  done(tx: Transaction, queue: string, job: HeldJob): Promise<boolean>;
  /** To be begun again after a while; false when somebody else holds it by now. */
  back(tx: Transaction, queue: string, job: HeldJob, afterMs: number): Promise<boolean>;
  /** Shows that it is worked on; false when somebody else holds it by now. */
  touch(tx: Transaction, queue: string, job: HeldJob): Promise<boolean>;
  /** Takes jobs out of the queue, also those that somebody holds. */
  cancel(tx: Transaction, queue: string, ids: readonly string[]): Promise<void>;
  /** Takes a queue away with all that is in it; not in a transaction. */
  drop(queue: string): Promise<void>;
  close(): Promise<void>;
};
