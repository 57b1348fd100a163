import type { MicroDollars, TaskAttemptEnd, TaskClaim } from '../store/batch.ts';

/** An event of a worker, as logs and metrics show it. */
export type WorkerEvent =
  | { readonly kind: 'started'; readonly worker: string; readonly slots: number }
  | { readonly kind: 'claimed'; readonly claim: TaskClaim }
  | {
      readonly kind: 'finished';
      readonly claim: TaskClaim;
      readonly ending: TaskAttemptEnd;
      readonly cost: MicroDollars;
      readonly durationMs: number;
    }
  /** A lane is paused: on all machines, or here only (no key, no connection). */
  | {
      readonly kind: 'paused';
      readonly lane: string;
      readonly pauseMs: number;
      readonly reason: string;
      readonly scope: 'all machines' | 'this machine';
    }
  /** A batch is paused until the user has corrected what its tasks ask for. */
  | { readonly kind: 'batch-paused'; readonly batch: string; readonly reason: string }
  /** A run of a schedule was submitted. */
  | { readonly kind: 'submitted'; readonly schedule: string; readonly batch: string }
  /** The files of a deleted batch were deleted on this machine. */
  | { readonly kind: 'deleted'; readonly batch: string }
  | {
      readonly kind: 'error';
      readonly code: 'queue-unavailable' | 'schedule-failed' | 'cleanup-failed' | 'machine-failed';
      readonly message: string;
    }
  /** The queue can be reached again. */
  | { readonly kind: 'reconnected' };

const MICROS = 1e6;

/** Formats an event as a line for the user; `undefined` for those that the status of the batch shows. */
export function formatWorkerEvent(event: WorkerEvent): string | undefined {
  switch (event.kind) {
    case 'paused':
      if (event.scope === 'all machines') return undefined;
      return `${event.lane} is not available here, next try in ${Math.round(event.pauseMs / 1000)} s: ${event.reason}`;
    case 'batch-paused':
      return `Paused batch ${event.batch}: ${event.reason} Then continue with: ouro batch resume ${event.batch}`;
    case 'submitted':
      return `Schedule ${event.schedule} is due: submitted batch ${event.batch}.`;
    case 'deleted':
      return `Deleted the files of batch ${event.batch} on this machine.`;
    case 'error':
      return event.message;
    default:
      return undefined;
  }
}

/** Creates the fields of an event for JSON: money in dollars, times in milliseconds. */
export function createWorkerEventRecord(event: WorkerEvent): Readonly<Record<string, string | number>> {
  switch (event.kind) {
    case 'claimed':
      return { event: event.kind, ...createTaskFields(event.claim) };
    case 'finished': {
      const { claim, ending, cost, durationMs } = event;
      const reason = ending.kind === 'done' ? ending.mark : ending.reason;
      const end = { outcome: getOutcome(ending), costUsd: cost / MICROS, durationMs: Math.round(durationMs) };
      return { event: event.kind, ...createTaskFields(claim), ...end, ...(reason === undefined ? {} : { reason }) };
    }
    default: {
      const { kind, ...fields } = event;
      return { event: kind, ...fields };
    }
  }
}

const createTaskFields = ({ batch, key, title, lane, attempt }: TaskClaim) => ({
  batch,
  task: key,
  title,
  lane,
  attempt,
});

/** Returns the outcome of an attempt in one word. */
const getOutcome = ({ kind }: TaskAttemptEnd): Outcome => (kind === 'back' ? 'returned' : kind);

type Outcome = 'done' | 'failed' | 'returned';

/** The totals of a worker since its start. */
export type WorkerTotals = {
  readonly slots: number;
  readonly running: number;
  readonly ended: Readonly<Record<Outcome, number>>;
  readonly cost: MicroDollars;
  readonly busyMs: number;
  readonly pauses: number;
  readonly errors: number;
  readonly isConnected: boolean;
};

/** The totals of a worker that has not started. */
export const NO_WORKER_TOTALS: WorkerTotals = {
  slots: 0,
  running: 0,
  ended: { done: 0, failed: 0, returned: 0 },
  cost: 0,
  busyMs: 0,
  pauses: 0,
  errors: 0,
  isConnected: true,
};

export function addEventToWorkerTotals(totals: WorkerTotals, event: WorkerEvent): WorkerTotals {
  switch (event.kind) {
    case 'started':
      return { ...totals, slots: event.slots };
    case 'claimed':
      return { ...totals, running: totals.running + 1 };
    case 'finished': {
      const outcome = getOutcome(event.ending);
      return {
        ...totals,
        running: totals.running - 1,
        ended: { ...totals.ended, [outcome]: totals.ended[outcome] + 1 },
        cost: totals.cost + event.cost,
        busyMs: totals.busyMs + event.durationMs,
      };
    }
    case 'paused':
      return { ...totals, pauses: totals.pauses + 1 };
    case 'error':
      return {
        ...totals,
        errors: totals.errors + 1,
        isConnected: totals.isConnected && event.code !== 'queue-unavailable',
      };
    case 'reconnected':
      return { ...totals, isConnected: true };
    default:
      return totals;
  }
}

type Metric = readonly [
  name: string,
  type: 'gauge' | 'counter',
  help: string,
  samples: readonly (readonly [string, number])[],
];

/** Formats the totals in the text format of Prometheus. */
export function formatWorkerMetrics({
  slots,
  running,
  ended,
  cost,
  busyMs,
  pauses,
  errors,
  isConnected,
}: WorkerTotals): string {
  const metrics: readonly Metric[] = [
    ['slots', 'gauge', 'Tasks that may run at once.', [['', slots]]],
    ['tasks_running', 'gauge', 'Tasks that run now.', [['', running]]],
    [
      'attempts_total',
      'counter',
      'Ended attempts by outcome.',
      Object.entries(ended).map(([outcome, count]) => [`{outcome="${outcome}"}`, count]),
    ],
    ['cost_dollars_total', 'counter', 'Cost of ended attempts.', [['', cost / MICROS]]],
    ['attempt_seconds_total', 'counter', 'Duration of ended attempts.', [['', Math.round(busyMs) / 1000]]],
    ['lane_pauses_total', 'counter', 'Pauses of rate-limit lanes.', [['', pauses]]],
    ['errors_total', 'counter', 'Errors of the worker, not of its tasks.', [['', errors]]],
    ['queue_up', 'gauge', '1 if the queue can be reached.', [['', isConnected ? 1 : 0]]],
  ];
  return metrics
    .map(([name, type, help, samples]) => {
      const full = `ouro_worker_${name}`;
      const lines = samples.map(([labels, value]) => `${full}${labels} ${value}\n`).join('');
      return `# HELP ${full} ${help}\n# TYPE ${full} ${type}\n${lines}`;
    })
    .join('');
}
