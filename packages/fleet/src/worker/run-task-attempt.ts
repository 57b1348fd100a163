import { startTimeLimit } from '@ouro-cli/ouro/commands';
import type { AttemptHeartbeat, TaskClaim } from '../store/batch.ts';
import { MAX_CLAIM_DELAY_MS, StoreUnavailable } from '../store/database.ts';
import type { FleetStore } from '../store/fleet-store.ts';
import type { BatchTaskDeps } from './batch-task-deps.ts';
import type { ProviderThrottle } from './child-output.ts';
import type { createOutageCounter } from './classify-task-run.ts';
import { deleteTaskWorkFolder, runBatchTask, type TaskRunOutcome } from './run-batch-task.ts';
import type { TaskWorkListeners } from './run-task-until-verified.ts';
import type { WorkerEvent } from './worker-events.ts';
import { getTaskTimeLimitMs } from './worker-policy.ts';

/** The dependencies of an attempt. */
export type TaskAttemptDeps = {
  readonly store: FleetStore;
  readonly leaseMs: number;
  /** Aborted when the worker stops. */
  readonly signal: AbortSignal;
  readonly createTaskDeps: (claim: TaskClaim) => BatchTaskDeps;
  /** Counts an outage of a lane. Returns the time to pause it for; `undefined` if the task is the cause. */
  readonly countOutage: ReturnType<typeof createOutageCounter>['count'];
  /** Called when the store is unavailable. */
  readonly onUnavailable: () => void;
  readonly onEvent: (event: WorkerEvent) => void;
};

/** Maximum time between heartbeats, which report the cost and learn of a cancellation. */
const MAX_HEARTBEAT_INTERVAL_MS = 3_000;
const STORE_RETRY_MS = 500;
const THROTTLE_MESSAGES: Readonly<Record<number, string>> = {
  429: 'the provider limits the rate of requests',
  529: 'the provider is overloaded',
};

/** Runs a claimed task with heartbeats and stores its result. */
export async function runTaskAttempt(claim: TaskClaim, deps: TaskAttemptDeps): Promise<TaskRunOutcome> {
  const { store, signal, createTaskDeps } = deps;
  const stop = new AbortController();
  const taskDeps = createTaskDeps(claim);
  let hasTimedOut = false;
  const timeLimit = startTimeLimit(getTaskTimeLimitMs(taskDeps.policy, claim.spec), () => {
    hasTimedOut = !stop.signal.aborted;
    stop.abort(TIMEOUT_REASON);
  });
  const onWorkerStop = () => stop.abort('its worker was stopped');
  signal.addEventListener('abort', onWorkerStop, { once: true });
  if (signal.aborted) onWorkerStop();
  const heartbeat = startHeartbeat(claim, deps, (reason) => stop.abort(reason));
  try {
    const listeners: TaskWorkListeners = {
      onHeartbeat: heartbeat.report,
      onThrottle: (throttle) => void limitLane(store, claim, throttle),
    };
    const ended = await runBatchTask(claim, taskDeps, listeners, stop.signal);
    const end = await pauseForProblem(claim, hasTimedOut ? endByTimeout(ended) : ended, deps);
    const stored = await retryWhileAway(
      () => store.completeAttempt(claim, end.ending, end.lastHeartbeat, end.files),
      deps,
    );
    if (stored === 'kept' && isFinal(end)) await deleteTaskWorkFolder(claim, taskDeps);
    return end;
  } finally {
    heartbeat.stop();
    timeLimit.stop();
    signal.removeEventListener('abort', onWorkerStop);
  }
}

/** Pauses the lane or the batch if its tasks would fail alike. Returns the end of the attempt. */
async function pauseForProblem(claim: TaskClaim, end: TaskRunOutcome, deps: TaskAttemptDeps): Promise<TaskRunOutcome> {
  const { store, onEvent } = deps;
  const { problem } = end;
  const { lane, batch } = claim;
  if (problem?.kind === 'batch-paused') {
    onEvent({ kind: 'batch-paused', batch, reason: problem.message });
    await retryWhileAway(() => store.applyCommand(batch, { command: 'pause' }), deps);
  }
  if (problem?.kind !== 'lane-paused' && problem?.kind !== 'outage') return end;
  const pauseMs = problem.kind === 'outage' ? deps.countOutage(claim, problem) : problem.pauseMs;
  if (pauseMs === undefined)
    return { ...end, ending: { kind: 'failed', reason: problem.message, again: 'if-attempts-left' } };
  const untilMs = (await retryWhileAway(() => store.getTime(), deps)) + pauseMs;
  const kind = problem.kind === 'outage' ? 'outage' : 'rest';
  onEvent({ kind: 'paused', lane, pauseMs, reason: problem.message, scope: 'all machines' });
  await retryWhileAway(() => store.pauseLane(lane, { kind, untilMs, words: problem.message }), deps);
  if (problem.kind !== 'outage' || problem.cause !== 'foreign-reply' || end.ending.kind !== 'back') return end;
  // Another task tries the lane first: whether it is answered tells a wrong address from a refused task.
  return { ...end, ending: { ...end.ending, afterMs: MAX_CLAIM_DELAY_MS } };
}

/** Returns whether no later attempt will use the worktree. */
function isFinal({ ending }: TaskRunOutcome): boolean {
  return ending.kind === 'done' || (ending.kind === 'failed' && ending.again === 'never');
}

const TIMEOUT_REASON = 'its time limit was reached';

/** Converts the end of a task that was stopped by its time limit to a failure, so that it is not repeated. */
function endByTimeout(end: TaskRunOutcome): TaskRunOutcome {
  return { ...end, ending: { kind: 'failed', reason: TIMEOUT_REASON, again: 'never' } };
}

/** Repeats a store call while the store is unavailable, so that results that were paid for are not lost. */
async function retryWhileAway<Result>(
  work: () => Promise<Result>,
  { onEvent, onUnavailable }: TaskAttemptDeps,
): Promise<Result> {
  for (let tries = 1; ; tries += 1) {
    try {
      const result = await work();
      if (tries > 1) onEvent({ kind: 'reconnected' });
      return result;
    } catch (thrown) {
      if (!(thrown instanceof StoreUnavailable)) throw thrown;
      onUnavailable();
      if (tries === 1) {
        const message = `${thrown.message} Finished work is kept and stored later.`;
        onEvent({ kind: 'error', code: 'queue-unavailable', message });
      }
    }
    await new Promise((resolve) => setTimeout(resolve, STORE_RETRY_MS));
  }
}

async function limitLane(store: FleetStore, { lane }: TaskClaim, { status, delayMs }: ProviderThrottle): Promise<void> {
  const words = `${THROTTLE_MESSAGES[status] ?? 'the provider has an outage'} (${status})`;
  try {
    await store.pauseLane(lane, { kind: 'limit', untilMs: (await store.getTime()) + delayMs, words });
  } catch {
    // Only a hint to other workers: the run itself waits in any case.
  }
}

/** Sends heartbeats. `report` resolves when the store has the news or is unavailable. */
type HeartbeatSender = { readonly report: (beat: AttemptHeartbeat) => Promise<void>; readonly stop: () => void };

/**
 * Sends heartbeats one at a time: at once when cost or session change, otherwise at intervals. If the store cannot be
 * reached for a whole lease, the attempt is stopped: another worker may have the task, and cost would go unreported.
 */
function startHeartbeat(
  claim: TaskClaim,
  { store, leaseMs, onUnavailable }: TaskAttemptDeps,
  stop: (reason: string) => void,
): HeartbeatSender {
  let latest: AttemptHeartbeat = { cost: 0 };
  let sentAt = performance.now();
  let sending: Promise<void> | undefined;
  let isStopped = false;
  /** Set while the last heartbeat has not arrived: after a suspend, the first one is late but may still arrive. */
  let isFailing = false;
  async function send(): Promise<void> {
    for (let sent: AttemptHeartbeat | undefined; !isStopped && (sent === undefined || isUrgent(sent, latest)); ) {
      sent = latest;
      isFailing = true;
      try {
        const answer = await store.sendHeartbeat(claim, sent);
        sentAt = performance.now();
        isFailing = false;
        if (answer === 'stop') stop('it was cancelled');
        if (answer === 'lost') stop('another attempt replaced it');
      } catch {
        // The next heartbeat tries again, until the lease expires.
        onUnavailable();
        break;
      }
    }
    // Reset synchronously, so that the next report starts a new round.
    sending = undefined;
  }
  function sendLatest(): Promise<void> {
    sending ??= send();
    return sending;
  }
  const timer = setInterval(
    () => {
      if (isFailing && performance.now() - sentAt > leaseMs)
        stop(`the queue was unavailable for more than ${leaseMs / 1000} s`);
      else void sendLatest();
    },
    Math.min(leaseMs / 3, MAX_HEARTBEAT_INTERVAL_MS),
  );
  return {
    async report(beat) {
      const before = latest;
      latest = { ...latest, ...beat };
      if (isUrgent(before, latest)) await sendLatest();
    },
    stop() {
      isStopped = true;
      clearInterval(timer);
    },
  };
}

/** Returns whether a change is sent at once. A change of the current activity waits for the next heartbeat. */
function isUrgent(before: AttemptHeartbeat, after: AttemptHeartbeat): boolean {
  return before.cost !== after.cost || before.session !== after.session;
}
