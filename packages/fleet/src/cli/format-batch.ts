import {
  formatAge,
  formatAgo,
  formatClock,
  formatCount,
  formatDuration,
  formatMoney,
  formatOneLine,
  padToWidth,
  sanitize,
  truncateEnd,
} from '@ouro-cli/ouro/commands';
import type {
  BatchScheduleView,
  BatchStatus,
  BatchTaskBranch,
  BatchTaskView,
  BatchTaskWaitReason,
  MicroDollars,
  NewBatch,
  NewBatchTask,
  PendingBatchDeletion,
} from '../store/batch.ts';
import type { BatchScreenContent, BatchTaskRow } from './BatchScreen.tsx';

/** Formats an amount of money. */
export const formatMicroDollars = (micros: MicroDollars): string => formatMoney(micros / 1e6);
/** Returns text as one line that is safe to print. */
const sanitizeLine = (text: string): string => sanitize(formatOneLine(text), 'line');

/** Formats the tasks of a batch before it runs, with the maximum cost. */
export function formatBatchPreview(
  { limits, id }: NewBatch,
  tasks: readonly NewBatchTask[],
  columns: number,
): readonly string[] {
  const maxCost = Math.min(limits.all, limits.each * tasks.length);
  return [
    ...tasks.map(({ title, key, spec }) => {
      const location = spec.place === undefined ? 'after all other tasks' : formatRepository(spec.place);
      return truncateEnd(`  ${sanitizeLine(title)}  ${key}  ${sanitizeLine(location)}`, Math.max(40, columns));
    }),
    `${formatCount(tasks.length, 'task')} in batch ${id}, at most ${formatMicroDollars(limits.each)} each and ${formatMicroDollars(maxCost)} in total.`,
  ];
}

function formatRepository({ url, commit, folder }: NonNullable<NewBatchTask['spec']['place']>): string {
  return `${url}${folder === '' ? '' : ` ${folder}`} at ${commit.slice(0, 12)}`;
}

export const formatBatchCount = (count: number): string => `${count} ${count === 1 ? 'batch' : 'batches'}`;

export function formatBatchTable(batches: readonly BatchStatus[], nowMs: number): string {
  const rows = batches.map((batch) => [
    batch.id,
    formatState(batch),
    formatCounts(batch),
    formatBudget(batch),
    formatAge(nowMs - batch.createdMs),
  ]);
  const widths = [0, 1, 2, 3].map((column) => Math.max(...rows.map((row) => (row[column] ?? '').length)));
  return rows
    .map(
      (row) =>
        `${row
          .map((cell, column) => padToWidth(cell, widths[column] ?? 0))
          .join('  ')
          .trimEnd()}\n`,
    )
    .join('');
}

/** Formats a schedule with its next and its last run. */
export function formatBatchSchedule({ id, everyMs, nextMs, ...rest }: BatchScheduleView, nowMs: number): string {
  const { taskCount, batch, lastBatch, problem } = rest;
  const next = nextMs <= nowMs ? 'due now' : `next run ${formatDay(nextMs)}`;
  const maxCost = Math.min(batch.limits.all, batch.limits.each * taskCount);
  const cost = `${formatCount(taskCount, 'task')}, at most ${formatMicroDollars(maxCost)} each run`;
  const last = lastBatch === undefined ? '' : `, last run ${lastBatch}`;
  const reason = problem === undefined ? '' : `\n  not submitted: ${sanitizeLine(problem)}`;
  return `Schedule ${id}: every ${formatInterval(everyMs)}, ${next}${last}; ${cost}${reason}\n`;
}

const INTERVALS = [
  [604_800_000, 'w'],
  [86_400_000, 'd'],
  [3_600_000, 'h'],
  [60_000, 'm'],
] as const;

/** Formats an interval as `--every` takes it, in the largest unit that fits. */
function formatInterval(ms: number): string {
  const [unitMs, unit] = INTERVALS.find(([size]) => ms % size === 0) ?? [60_000, 'm'];
  return `${ms / unitMs}${unit}`;
}

/** Formats a time with its day, in UTC: the machines of a queue may be in several zones. */
const formatDay = (ms: number): string => `${new Date(ms).toISOString().slice(0, 16).replace('T', ' ')} UTC`;

/** Returns the state of a batch in one word; "done" only when every task is done. */
function formatState({ state, counts, waits }: BatchStatus): string {
  const open = counts.waiting + counts.running + counts.held;
  if (state !== 'open') return state;
  if (counts.running > 0) return 'running';
  if (open > 0) return waits.length > 0 ? 'waits' : 'waiting';
  if (counts.failed > 0) return `${counts.failed} failed`;
  return counts.cancelled > 0 ? 'cancelled' : 'done';
}

/** Formats the number of tasks per state. */
function formatCounts({ counts }: BatchStatus): string {
  const total = Object.values(counts).reduce((sum, count) => sum + count, 0);
  const parts = [`${counts.done} of ${total} done`];
  if (counts.running > 0) parts.push(`${counts.running} running`);
  if (counts.waiting + counts.held > 0) parts.push(`${counts.waiting + counts.held} waiting`);
  if (counts.failed > 0) parts.push(`${counts.failed} failed`);
  if (counts.cancelled > 0) parts.push(`${counts.cancelled} cancelled`);
  return parts.join(', ');
}

/** Formats the money spent, reserved and expected. */
function formatBudget({ spent, reserved, expected, limits }: BatchStatus): string {
  const parts = [`${formatMicroDollars(spent)} of ${formatMicroDollars(limits.all)} spent`];
  if (reserved > 0) parts.push(`${formatMicroDollars(reserved)} reserved`);
  if (expected !== undefined && expected > 0) parts.push(`about ${formatMicroDollars(expected)} to come`);
  return parts.join(', ');
}

/** Formats the reason why a batch waits, with the command that continues it. */
function formatWait(waiting: BatchTaskWaitReason, batch: string): string {
  if (waiting.kind === 'money')
    return `Waits for budget: ${waiting.words}. Continue with: ouro batch budget ${batch} +<dollars>`;
  if (waiting.kind === 'returned')
    return `Returned ${formatCount(waiting.tasks, 'task')}: ${sanitizeLine(waiting.words)}`;
  const until = formatClock(new Date(waiting.untilMs).toISOString());
  return `${waiting.lane} waits until ${until}: ${sanitizeLine(waiting.words)}. Retry now with: ouro batch resume ${batch}`;
}

const MAX_SHOWN_MACHINES = 3;

/** Formats what is left of deleted batches on other machines, one line for each batch. */
export function formatPendingDeletions(deletions: readonly PendingBatchDeletion[], nowMs: number): string {
  const lines = [...Map.groupBy(deletions, ({ batch }) => batch)].map(([batch, parts]) => {
    const machines = parts.slice(0, MAX_SHOWN_MACHINES).map(({ machine }) => machine);
    const more = parts.length > machines.length ? ` and ${parts.length - machines.length} more` : '';
    const ago = formatAgo(Math.min(...parts.map(({ createdMs }) => createdMs)), nowMs);
    const where = sanitizeLine(`${machines.join(', ')}${more}`);
    return `${sanitizeLine(batch)}: files not deleted yet on ${where} (deleted ${ago}); the next worker there does it\n`;
  });
  return lines.join('');
}

const MAX_SHOWN_FAILURES = 20;

/** Formats a batch with its counts, cost, waits, running and failed tasks. */
export function formatBatchStatus(
  batch: BatchStatus,
  tasks: readonly BatchTaskView[],
  nowMs: number,
  columns: number,
): string {
  const running = tasks.filter(({ state }) => state === 'running');
  const failed = tasks.filter(({ state }) => state === 'failed');
  const lines = [
    `${batch.id}: ${formatState(batch)}${formatVersion(batch)}`,
    `  ${formatCounts(batch)}`,
    `  ${formatBudget(batch)}${formatBudgetWarning(batch)}`,
    ...batch.waits.map((waiting) => `  ${formatWait(waiting, batch.id)}`),
    ...running.map((task) => `  running ${sanitizeLine(task.title)}  ${formatTaskProgress(task, nowMs)}`),
    ...failed.slice(0, MAX_SHOWN_FAILURES).map((task) => `  failed  ${task.key}  ${sanitizeLine(task.reason ?? '')}`),
    ...(failed.length > MAX_SHOWN_FAILURES ? [`  and ${failed.length - MAX_SHOWN_FAILURES} more failed tasks`] : []),
  ];
  return lines.map((line) => `${truncateEnd(line, Math.max(40, columns))}\n`).join('');
}

/** Formats the pull requests of a batch, as they were at the last look. */
export function formatPullRequests(branches: readonly BatchTaskBranch[]): string {
  return branches
    .flatMap(({ request, key }) => {
      if (request === undefined) return [];
      const checks = request.checks === 'none' ? '' : `, checks ${request.checks}`;
      return [`  ${request.state}${checks}  ${sanitizeLine(`${key}  ${request.url}`)}\n`];
    })
    .join('');
}

function formatVersion({ version, replacedBy }: BatchStatus): string {
  const replaced = replacedBy === undefined ? '' : `, replaced by ${replacedBy}`;
  return `${version === 1 ? '' : `, version ${version}`}${replaced}`;
}

/** Returns a note when a batch with open tasks has spent 80 % of its budget. */
function formatBudgetWarning({ spent, limits, counts }: BatchStatus): string {
  const isOpen = counts.waiting + counts.running > 0;
  return isOpen && spent >= limits.all * 0.8 ? '  (over 80 % of the budget)' : '';
}

/** Formats machine, time, cost and current activity of a task. */
export function formatTaskProgress({ machine, startedMs, cost, doing }: BatchTaskView, nowMs: number): string {
  const time = startedMs === undefined ? '' : formatDuration(Math.max(0, nowMs - startedMs));
  return [machine ?? '', time, formatMicroDollars(cost), sanitizeLine(doing ?? '')]
    .filter((part) => part !== '')
    .join('  ');
}

/** Formats one task in full: location, cost, attempts and result. */
export function formatBatchTask(task: BatchTaskView, attempts: readonly { readonly line: string }[]): string {
  const { spec, result } = task;
  const lines = [
    `${task.title}  (${task.key}): ${task.state}${task.reason === undefined ? '' : `, ${sanitizeLine(task.reason)}`}`,
    ...(spec.place === undefined ? [] : [`  ${formatRepository(spec.place)}`]),
    `  ${formatMicroDollars(task.cost)}, ${formatCount(task.tries, 'attempt')}`,
    ...attempts.map(({ line }) => `    ${line}`),
    ...(task.session === undefined ? [] : [`  session ${task.session}`]),
    ...(result === undefined
      ? []
      : [
          `  ${formatCount(result.stat.files, 'file')} changed, +${result.stat.added} -${result.stat.removed}; verified: ${result.verified}`,
          ...result.notes.map((note) => `  ${sanitizeLine(note)}`),
          '',
          sanitize(result.answer, 'output'),
        ]),
  ];
  return `${lines.join('\n')}\n`;
}

const MAX_SHOWN_DONE = 30;

export function createBatchScreenContent(
  batch: BatchStatus,
  tasks: readonly BatchTaskView[],
  nowMs: number,
): BatchScreenContent {
  const { counts } = batch;
  const total = Object.values(counts).reduce((sum, count) => sum + count, 0);
  const filterByState = (state: BatchTaskView['state']) => tasks.filter((task) => task.state === state);
  const nearLimitNote = formatBudgetWarning(batch);
  const newestDone = filterByState('done').toSorted((a, b) => (b.endedMs ?? 0) - (a.endedMs ?? 0));
  return {
    id: batch.id,
    state: formatState(batch),
    share: total === 0 ? 0 : (counts.done + counts.failed + counts.cancelled) / total,
    counts: formatCounts(batch),
    cost: { text: `${formatBudget(batch)}${nearLimitNote}`, isNear: nearLimitNote !== '' },
    waitReasons: batch.waits.map((waiting) => formatWait(waiting, batch.id)),
    running: filterByState('running').map(
      (task): BatchTaskRow => ({
        title: sanitizeLine(task.title),
        state: formatTaskProgress(task, nowMs),
      }),
    ),
    failed: filterByState('failed').map(
      (task): BatchTaskRow => ({
        title: sanitizeLine(task.title),
        state: sanitizeLine(task.reason ?? ''),
      }),
    ),
    done: newestDone.slice(0, MAX_SHOWN_DONE).map(
      (task): BatchTaskRow => ({
        title: sanitizeLine(task.title),
        state: formatTaskProgress(task, task.endedMs ?? nowMs),
      }),
    ),
  };
}
