import { mkdir, statfs } from 'node:fs/promises';
import { formatBytes } from '@ouro-cli/ouro/commands';
import type { DueBatchSchedule, LostBatchTask, MicroDollars, NewBatchTask, TaskClaim } from '../store/batch.ts';
import { StoreUnavailable } from '../store/database.ts';
import type { FleetStore } from '../store/fleet-store.ts';
import type { BatchTaskDeps } from './batch-task-deps.ts';
import { createOutageCounter, createSkippedRateLimitLanes, type SkippedRateLimitLane } from './classify-task-run.ts';
import { createBatchFileCleaner } from './clean-up.ts';
import type { TaskRunOutcome } from './run-batch-task.ts';
import { runTaskAttempt } from './run-task-attempt.ts';
import { createBatchScheduler } from './submit-due-runs.ts';
import type { WorkerEvent } from './worker-events.ts';

export type WorkerOptions = {
  readonly store: FleetStore;
  readonly name: string;
  readonly machine: string;
  /** Identifies the folders of this worker. */
  readonly installation: string;
  readonly slots: number;
  readonly leaseMs: number;
  /** `once`: ends after one task; `empty`: ends when no task is left that could start. */
  readonly until: 'stopped' | 'empty' | 'once';
  /** Behaviour when all remaining tasks are in paused lanes. */
  readonly whenPaused: 'waits' | 'ends';
  /** Restricts the worker to this batch. */
  readonly batch?: string;
  /** Folder of the worker; this much of its disk must stay free. */
  readonly fleetFolder: string;
  readonly freeMegabytes: number;
  readonly signal: AbortSignal;
  readonly createTaskDeps: (claim: TaskClaim) => BatchTaskDeps;
  /** Returns the cost of the stored session of a lost task, if it is on this machine. */
  readonly getLostCost: (task: LostBatchTask) => Promise<MicroDollars | undefined>;
  /** Returns the tasks of a schedule at the current commits of their repositories. */
  readonly renewTasks: (due: DueBatchSchedule) => Promise<readonly NewBatchTask[]>;
  /** Deletes the files of deleted batches on this machine. Returns the ids of the batches. */
  readonly deleteFiles: () => Promise<readonly string[]>;
  /** Deletes the mirrors that are too old, or too many. */
  readonly pruneMirrors: () => Promise<void>;
  readonly onEvent: (event: WorkerEvent) => void;
};

/** The reason why a worker has ended. */
export type WorkerEnd =
  | { readonly kind: 'stopped' | 'empty' | 'once' }
  /** All remaining tasks wait for budget or for a paused lane. */
  | { readonly kind: 'waits'; readonly for: 'money' | 'lane'; readonly message: string }
  /** This machine cannot run tasks. */
  | { readonly kind: 'left'; readonly message: string };

const IDLE_MS = 1_000;
const BUSY_MS = 200;
const MAX_MACHINE_FAILURES = 3;
const MAX_RECLAIM_INTERVAL_MS = 5_000;

/** Claims and runs tasks concurrently until there is a reason to end. Tasks that still run then return to the queue. */
export async function runWorker(options: WorkerOptions): Promise<WorkerEnd> {
  const { store, slots, leaseMs, signal, onEvent } = options;
  const running = new Set<Promise<void>>();
  const claimer = {
    worker: options.name,
    machine: options.machine,
    installation: options.installation,
    leaseMs,
    ...(options.batch === undefined ? {} : { batch: options.batch }),
  };
  let machineFailures = 0;
  let started = 0;
  let lastFailure = '';
  const reclaimer = createReclaimer(options);
  const scheduler = createBatchScheduler(options);
  const cleaner = createBatchFileCleaner(options);
  const skipped = createSkippedRateLimitLanes();
  const outages = createOutageCounter();

  function handleEnd({ lane }: TaskClaim, { problem, ending }: TaskRunOutcome): void {
    if (problem?.kind === 'machine-failed') {
      machineFailures += 1;
      lastFailure = problem.message;
    } else if (problem?.kind === 'lane-skipped') {
      const isNew = !skipped.list().has(lane);
      const pauseMs = skipped.skip(lane, problem.reason);
      if (isNew) onEvent({ kind: 'paused', lane, pauseMs, reason: problem.reason.message, scope: 'this machine' });
    } else if (ending.kind !== 'back' && problem === undefined) {
      machineFailures = 0;
      outages.clear(lane);
      skipped.clear(lane);
    }
  }

  function start(claim: TaskClaim): void {
    started += 1;
    const startedAt = performance.now();
    onEvent({ kind: 'claimed', claim });
    const work = runTaskAttempt(claim, { ...options, countOutage: outages.count, onUnavailable: reclaimer.postpone })
      .then((end) => {
        const durationMs = performance.now() - startedAt;
        onEvent({ kind: 'finished', claim, ending: end.ending, cost: end.lastHeartbeat.cost, durationMs });
        handleEnd(claim, end);
      })
      // An internal error ends this worker, so that it does not fail further tasks.
      .catch((thrown: unknown) => {
        machineFailures = MAX_MACHINE_FAILURES;
        lastFailure = String(thrown);
      })
      .finally(() => running.delete(work));
    running.add(work);
  }

  async function claimNext(): Promise<WorkerEnd | 'claimed' | 'nothing'> {
    const diskProblem = await checkDiskSpace(options);
    if (diskProblem !== undefined) return { kind: 'left', message: diskProblem };
    await reclaimer.reclaimWhenDue();
    // A worker of one batch runs nothing else.
    if (options.batch === undefined) scheduler.startWhenDue();
    cleaner.startWhenDue();
    if (options.until !== 'stopped' && running.size === 0) await Promise.all([scheduler.settle(), cleaner.settle()]);
    const claim = await store.claim({ ...claimer, exceptLanes: [...skipped.list().keys()] });
    if (claim !== undefined) {
      start(claim);
      return 'claimed';
    }
    return options.until === 'empty' && running.size === 0 ? checkRemaining(options, skipped.list()) : 'nothing';
  }

  onEvent({ kind: 'started', worker: options.name, slots });
  const ended = await (async (): Promise<WorkerEnd> => {
    for (;;) {
      if (signal.aborted) return { kind: 'stopped' };
      if (machineFailures >= MAX_MACHINE_FAILURES) return { kind: 'left', message: lastFailure };
      if (options.until === 'once' && started > 0) return { kind: 'once' };
      const next = running.size >= slots ? 'nothing' : await claimNext().catch(reclaimer.handleError);
      if (next === 'claimed') continue;
      if (next !== 'nothing') return next;
      await waitForNext(running, running.size >= slots ? 'full' : running.size > 0 ? 'some' : 'idle', signal);
    }
  })();
  await Promise.all(running);
  await Promise.all([scheduler.settle(), cleaner.settle()]);
  reclaimer.stop();
  if (ended.kind === 'left')
    onEvent({ kind: 'error', code: 'machine-failed', message: `This worker stops: ${ended.message}` });
  return ended;
}

/** Creates a reclaimer, which takes back expired tasks at intervals. */
function createReclaimer({ store, name, leaseMs, onEvent, getLostCost }: WorkerOptions) {
  let dueAt = 0;
  let isAway = false;
  const sleep = createSleepDetector();
  /** Waits a whole lease after an outage of the store: other workers could not send heartbeats either. */
  const postpone = () => {
    dueAt = performance.now() + leaseMs;
  };
  return {
    postpone,
    stop: sleep.stop,
    async reclaimWhenDue(): Promise<void> {
      // Other workers of this machine have slept, too: they get a lease to report.
      if (sleep.hasSlept()) postpone();
      if (performance.now() < dueAt) return;
      for (const task of await store.reclaimExpired(name)) {
        const cost = await getLostCost(task);
        if (cost !== undefined) await store.setTotalCost(task, cost);
      }
      if (isAway) onEvent({ kind: 'reconnected' });
      isAway = false;
      dueAt = performance.now() + Math.min(leaseMs / 3, MAX_RECLAIM_INTERVAL_MS);
    },
    handleError(thrown: unknown): 'nothing' {
      if (!(thrown instanceof StoreUnavailable)) throw thrown;
      if (!isAway) onEvent({ kind: 'error', code: 'queue-unavailable', message: thrown.message });
      isAway = true;
      postpone();
      return 'nothing';
    },
  };
}

const SLEEP_CHECK_MS = 1_000;
const MAX_GAP_MS = 5_000;

type Clock = { readonly wall: () => number; readonly steady: () => number };
const SYSTEM_CLOCK: Clock = { wall: Date.now, steady: () => performance.now() };

/**
 * Detects that this machine was suspended, that its processes were frozen, or that its clock was set. The steady clock
 * stands still during a suspend and goes on while a process is frozen; only the wall clock can be set. @internal
 */
export function createSleepDetector({ wall, steady }: Clock = SYSTEM_CLOCK) {
  let last = { wall: wall(), steady: steady() };
  let hasSlept = false;
  function check(): void {
    const now = { wall: wall(), steady: steady() };
    const [wallGap, steadyGap] = [now.wall - last.wall, now.steady - last.steady];
    last = now;
    if (steadyGap > MAX_GAP_MS || Math.abs(wallGap - steadyGap) > MAX_GAP_MS) hasSlept = true;
  }
  const timer = setInterval(check, SLEEP_CHECK_MS);
  timer.unref();
  return {
    /** Returns whether it has slept since the last call. */
    hasSlept(): boolean {
      check();
      const before = hasSlept;
      hasSlept = false;
      return before;
    },
    stop: () => clearInterval(timer),
  };
}

/** Checks, when this worker runs nothing, whether all tasks have ended or the rest waits for budget, lanes or a key. */
async function checkRemaining(
  { store, batch, whenPaused }: WorkerOptions,
  skipped: ReadonlyMap<string, SkippedRateLimitLane>,
): Promise<WorkerEnd | 'nothing'> {
  if (await store.isSettled(batch)) return { kind: 'empty' };
  const open = (await store.listBatches()).filter(
    ({ id, state, counts }) => state === 'open' && (batch ?? id) === id && counts.waiting + counts.running > 0,
  );
  const reasons: WorkerEnd[] = [];
  for (const { id, counts, waits } of open) {
    if (counts.running > 0) return 'nothing';
    const [wait] = waits.filter(({ kind }) => kind !== 'returned');
    const skip = wait === undefined && skipped.size > 0 ? await findSkip(store, id, skipped) : undefined;
    if (wait !== undefined)
      reasons.push({ kind: 'waits', for: wait.kind === 'money' ? 'money' : 'lane', message: wait.words });
    else if (skip?.why === 'no-key') reasons.push({ kind: 'left', message: skip.message });
    else if (skip !== undefined) reasons.push({ kind: 'waits', for: 'lane', message: skip.message });
    else return 'nothing';
  }
  const waitsForLane = reasons.some((reason) => reason.kind === 'waits' && reason.for === 'lane');
  return waitsForLane && whenPaused === 'waits' ? 'nothing' : (reasons[0] ?? 'nothing');
}

/** Returns why this machine skips all waiting tasks of a batch; `undefined` if it does not skip all of them. */
async function findSkip(
  store: FleetStore,
  batch: string,
  skipped: ReadonlyMap<string, SkippedRateLimitLane>,
): Promise<SkippedRateLimitLane | undefined> {
  const lanes = new Set((await store.listTasks(batch, ['waiting'])).map(({ lane }) => lane));
  const reasons = [...lanes].map((lane) => skipped.get(lane));
  return reasons.includes(undefined) ? undefined : reasons[0];
}

/** Waits until a task ends, the next claim is due, or the worker is stopped. */
async function waitForNext(
  running: ReadonlySet<Promise<void>>,
  load: 'full' | 'some' | 'idle',
  signal: AbortSignal,
): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const timer = load === 'full' ? undefined : setTimeout(resolve, load === 'idle' ? IDLE_MS : BUSY_MS);
  const onAbort = () => resolve();
  signal.addEventListener('abort', onAbort, { once: true });
  if (signal.aborted) resolve();
  await Promise.race([promise, ...running]);
  clearTimeout(timer);
  signal.removeEventListener('abort', onAbort);
}

/** Returns a message if the disk of the worker has too little free space. */
async function checkDiskSpace({ fleetFolder, freeMegabytes }: WorkerOptions): Promise<string | undefined> {
  await mkdir(fleetFolder, { recursive: true, mode: 0o700 });
  const { bavail, bsize } = await statfs(fleetFolder);
  const free = bavail * bsize;
  if (free >= freeMegabytes * 1e6) return undefined;
  const advice = 'Free some space or change "freeMegabytes" in worker.json.';
  return `only ${formatBytes(free)} are free on the disk of ${fleetFolder}, but ${freeMegabytes} MB are needed. ${advice}`;
}
