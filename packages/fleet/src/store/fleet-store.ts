import type {
  AttemptHeartbeat,
  BatchControlCommand,
  BatchScheduleView,
  BatchStatus,
  BatchTaskBranch,
  BatchTaskState,
  BatchTaskView,
  ClaimingWorker,
  DueBatchSchedule,
  LostBatchTask,
  MicroDollars,
  NewBatch,
  NewBatchSchedule,
  NewBatchTask,
  PendingBatchDeletion,
  TaskArtifactKind,
  TaskAttemptEnd,
  TaskAttemptView,
  TaskClaim,
} from './batch.ts';

/** A pause of a lane on all machines. */
export type LanePause = {
  readonly kind: 'limit' | 'rest' | 'outage';
  readonly untilMs: number;
  readonly words: string;
};

/**
 * The store of batches, tasks, budgets and results. Each method is one transaction: when it resolves, its effect is on
 * disk. There are two implementations, and one contract test covers both.
 */
export type FleetStore = {
  /** Adds the tasks that are not stored yet. Submitting the same batch again changes nothing. */
  submit(batch: NewBatch, tasks: readonly NewBatchTask[]): Promise<{ readonly added: number; readonly known: number }>;
  /** Applies an edited task file to its batch, as a new version. Finished tasks and running attempts stay as they are. */
  updateBatch(batch: NewBatch, changedTasks: readonly NewBatchTask[]): Promise<void>;
  /** Cancels the open tasks of a batch that another one replaces. */
  replaceBatch(batch: string, replacement: string): Promise<void>;
  /** Stores what ouro knows about a branch. */
  saveBranch(branch: BatchTaskBranch): Promise<void>;
  /** Lists the branches of a repository, or those of a batch. */
  listBranches(of: { readonly url: string } | { readonly batch: string }): Promise<readonly BatchTaskBranch[]>;
  /** Copies the results of identical tasks from other batches. Returns their number. */
  reuseResults(batch: string): Promise<number>;
  /** Claims the next task that can start: unclaimed, in a batch with budget left and a lane with room. */
  claim(claimer: ClaimingWorker): Promise<TaskClaim | undefined>;
  /** Renews the lease of an attempt. `stop`: the task was cancelled. `lost`: another attempt has replaced this one. */
  sendHeartbeat(claim: TaskClaim, beat: AttemptHeartbeat): Promise<'continue' | 'stop' | 'lost'>;
  /** Completes an attempt with its files. `late`: another attempt has replaced it, so only its cost was added. */
  completeAttempt(
    claim: TaskClaim,
    ending: TaskAttemptEnd,
    last: AttemptHeartbeat,
    files?: Readonly<Partial<Record<TaskArtifactKind, Uint8Array>>>,
  ): Promise<'kept' | 'late'>;
  /** Stores a file of a running attempt. Does nothing for an attempt that was replaced. */
  storeFile(claim: TaskClaim, kind: TaskArtifactKind, bytes: Uint8Array): Promise<void>;
  readFile(batch: string, key: string, kind: TaskArtifactKind): Promise<Uint8Array | undefined>;
  /**
   * Pauses a lane. `limit` also halves its concurrency; `rest` waits for quota or a key; after an `outage` one task
   * tries first.
   */
  pauseLane(lane: string, pause: LanePause): Promise<void>;
  /** Takes back tasks of workers whose lease has expired, but none of the worker that asks: it still runs them. */
  reclaimExpired(worker?: string): Promise<readonly LostBatchTask[]>;
  /** Sets the total cost of all attempts of a task, including what a lost attempt spent after its last report. */
  setTotalCost(task: LostBatchTask, total: MicroDollars): Promise<void>;
  /** Applies a command to a batch. Returns the number of affected tasks. Throws for an unknown batch. */
  applyCommand(batch: string, order: BatchControlCommand): Promise<number>;
  /**
   * Deletes a batch with all its files, unless a worker still works on it. In the same transaction, each installation
   * that has worked on it, and the one that asks, gets a pending deletion of what it has on its disk.
   */
  deleteBatch(batch: string, by: Pick<ClaimingWorker, 'machine' | 'installation'>): Promise<'removed' | 'in-use'>;
  /** Lists the pending deletions, oldest first; all of them, or those of one installation. */
  listDeletions(of?: Pick<ClaimingWorker, 'machine' | 'installation'>): Promise<readonly PendingBatchDeletion[]>;
  /** Ends a pending deletion: its files are gone. Until then, that installation claims no task of such a batch. */
  acknowledgeDeletion(deletion: Pick<PendingBatchDeletion, 'batch' | 'installation'>): Promise<void>;
  /** Lists all batches, newest first. */
  listBatches(): Promise<readonly BatchStatus[]>;
  getStatus(batch: string): Promise<BatchStatus | undefined>;
  listTasks(batch: string, states?: readonly BatchTaskState[]): Promise<readonly BatchTaskView[]>;
  listAttempts(batch: string, key: string): Promise<readonly TaskAttemptView[]>;
  /** Returns whether no task is running or can still start. */
  isSettled(batch?: string): Promise<boolean>;
  /** Stores a schedule, whose first run is due now. One of the same id is replaced and keeps its next time. */
  saveSchedule(schedule: NewBatchSchedule): Promise<void>;
  listSchedules(): Promise<readonly BatchScheduleView[]>;
  /** Lists the schedules whose next run is due, except those whose last run has not ended. */
  listDueSchedules(): Promise<readonly DueBatchSchedule[]>;
  /** Submits a run that is due, with its current tasks. Returns its batch; `undefined` if another worker did it. */
  submitRun(due: DueBatchSchedule, tasks: readonly NewBatchTask[]): Promise<string | undefined>;
  /** Records why a run that is due was not submitted. */
  setScheduleProblem(schedule: string, problem: string): Promise<void>;
  /** Deletes a schedule, but not the batches of its runs. Returns whether there was one. */
  deleteSchedule(schedule: string): Promise<boolean>;
  /** Returns the time of the store, which all workers share. */
  getTime(): Promise<number>;
  close(): Promise<void>;
};
