import { formatOneLine, getErrorMessage, redactSecrets } from '@ouro-cli/ouro/commands';
import type { DueBatchSchedule, NewBatchTask } from '../store/batch.ts';
import { StoreUnavailable } from '../store/database.ts';
import type { FleetStore } from '../store/fleet-store.ts';
import type { WorkerEvent } from './worker-events.ts';

/** The dependencies of submitting due runs. */
type SchedulerDeps = {
  readonly store: FleetStore;
  /** Returns the tasks of a schedule at the current commits. Rejects if a repository cannot be reached. */
  readonly renewTasks: (due: DueBatchSchedule) => Promise<readonly NewBatchTask[]>;
  readonly onEvent: (event: WorkerEvent) => void;
  readonly signal: AbortSignal;
};

const INTERVAL_MS = 5_000;
const RETRY_MS = 60_000;

/** Creates a scheduler, which submits due runs at intervals, beside the tasks of its worker. */
export function createBatchScheduler({ store, renewTasks, onEvent, signal }: SchedulerDeps) {
  let nextAt = 0;
  let submitting: Promise<void> | undefined;
  /** Times of the next try, by the schedules that have failed here. */
  const retries = new Map<string, number>();

  async function submit(due: DueBatchSchedule): Promise<void> {
    if ((retries.get(due.id) ?? 0) > performance.now()) return;
    try {
      const batch = await store.submitRun(due, await renewTasks(due));
      retries.delete(due.id);
      if (batch !== undefined) onEvent({ kind: 'submitted', schedule: due.id, batch });
    } catch (thrown) {
      if (thrown instanceof StoreUnavailable) throw thrown;
      // The worker was stopped, and git with it.
      if (signal.aborted) return;
      // Another worker may reach the repository.
      retries.set(due.id, performance.now() + RETRY_MS);
      const problem = redactSecrets(formatOneLine(getErrorMessage(thrown)));
      await store.setScheduleProblem(due.id, problem);
      onEvent({ kind: 'error', code: 'schedule-failed', message: `Schedule ${due.id} is due, but ${problem}` });
    }
  }

  async function submitAll(): Promise<void> {
    try {
      for (const due of await store.listDueSchedules()) await submit(due);
      nextAt = performance.now() + INTERVAL_MS;
    } catch (thrown) {
      nextAt = performance.now() + RETRY_MS;
      // Claims report that the store is unavailable. Other errors are those of a stored schedule, which is data.
      if (thrown instanceof StoreUnavailable) return;
      onEvent({ kind: 'error', code: 'schedule-failed', message: `Schedules: ${getErrorMessage(thrown)}` });
    }
  }

  return {
    /** Starts to submit due runs, unless it has just done so. Git may take minutes, so nobody waits. */
    startWhenDue(): void {
      if (submitting !== undefined || performance.now() < nextAt) return;
      submitting = submitAll().finally(() => {
        submitting = undefined;
      });
    },
    /** Waits until nothing is being submitted. */
    settle: async (): Promise<void> => submitting,
  };
}
