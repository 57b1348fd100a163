import type { BatchStatus, Micros, NewBatch, NewTask, TaskView, Waiting } from '../../contracts/fleet.ts';
import { formatAge, formatClock, formatCount, formatDuration, formatMoney } from '../../lib/text/format.ts';
import { oneLine } from '../../lib/text/one-line.ts';
import { sanitize } from '../../lib/text/sanitize.ts';
import { padWidth } from '../../lib/text/text-width.ts';
import { truncateEnd } from '../../lib/text/truncate.ts';

export const money = (micros: Micros): string => formatMoney(micros / 1e6);
const clean = (text: string): string => sanitize(oneLine(text), 'line');

/** What would run, and the most it can cost. */
export function previewLines({ limits, id }: NewBatch, tasks: readonly NewTask[], columns: number): readonly string[] {
  const worst = Math.min(limits.all, limits.each * tasks.length);
  return [
    ...tasks.map(({ title, key, spec }) => {
      const where = spec.place === undefined ? 'after all others' : placeOf(spec.place);
      return truncateEnd(`  ${clean(title)}  ${key}  ${clean(where)}`, Math.max(40, columns));
    }),
    `${formatCount(tasks.length, 'task')} in batch ${id}, at most ${money(limits.each)} each and ${money(worst)} in all.`,
  ];
}

function placeOf({ url, commit, folder }: NonNullable<NewTask['spec']['place']>): string {
  return `${url}${folder === '' ? '' : ` ${folder}`} at ${commit.slice(0, 12)}`;
}

export const batchCount = (count: number): string => `${count} ${count === 1 ? 'batch' : 'batches'}`;

/** One line for each batch. */
export function batchTable(batches: readonly BatchStatus[], nowMs: number): string {
  const rows = batches.map((batch) => [
    batch.id,
    stateWords(batch),
    countWords(batch),
    moneyWords(batch),
    formatAge(nowMs - batch.createdMs),
  ]);
  const widths = [0, 1, 2, 3].map((at) => Math.max(...rows.map((row) => (row[at] ?? '').length)));
  return rows
    .map(
      (row) =>
        `${row
          .map((cell, at) => padWidth(cell, widths[at] ?? 0))
          .join('  ')
          .trimEnd()}\n`,
    )
    .join('');
}

/** How a batch is doing, in the word that counts most. "done" is said when every task is done, and only then. */
export function stateWords({ state, counts, waits }: BatchStatus): string {
  const open = counts.waiting + counts.running + counts.held;
  if (state !== 'open') return state;
  if (counts.running > 0) return 'running';
  if (open > 0) return waits.length > 0 ? 'waits' : 'waiting';
  if (counts.failed > 0) return `${counts.failed} failed`;
  return counts.cancelled > 0 ? 'cancelled' : 'done';
}

export function countWords({ counts }: BatchStatus): string {
  const all = Object.values(counts).reduce((sum, one) => sum + one, 0);
  const parts = [`${counts.done} of ${all} done`];
  if (counts.running > 0) parts.push(`${counts.running} running`);
  if (counts.waiting + counts.held > 0) parts.push(`${counts.waiting + counts.held} waiting`);
  if (counts.failed > 0) parts.push(`${counts.failed} failed`);
  if (counts.cancelled > 0) parts.push(`${counts.cancelled} cancelled`);
  return parts.join(', ');
}

export function moneyWords({ spent, reserved, expected, limits }: BatchStatus): string {
  const parts = [`${money(spent)} of ${money(limits.all)} spent`];
  if (reserved > 0) parts.push(`${money(reserved)} reserved`);
  if (expected !== undefined && expected > 0) parts.push(`about ${money(expected)} to come`);
  return parts.join(', ');
}

export function waitWords(waiting: Waiting, batch: string): string {
  if (waiting.kind === 'money')
    return `Waits for money: ${waiting.words}. Go on with: ouro batch budget ${batch} +<dollars>`;
  const until = formatClock(new Date(waiting.untilMs).toISOString());
  return `${waiting.lane} waits until ${until}: ${clean(waiting.words)}. Try at once with: ouro batch resume ${batch}`;
}

const MOST_FAILURES = 20;

/** A batch in full: counts, money, what waits and why, what runs, what failed. */
export function statusText(batch: BatchStatus, tasks: readonly TaskView[], nowMs: number, columns: number): string {
  const running = tasks.filter(({ state }) => state === 'running');
  const failed = tasks.filter(({ state }) => state === 'failed');
  const lines = [
    `${batch.id}: ${stateWords(batch)}`,
    `  ${countWords(batch)}`,
    `  ${moneyWords(batch)}${nearLimit(batch)}`,
    ...batch.waits.map((one) => `  ${waitWords(one, batch.id)}`),
    ...running.map((task) => `  runs    ${clean(task.title)}  ${runningWords(task, nowMs)}`),
    ...failed.slice(0, MOST_FAILURES).map((task) => `  failed  ${task.key}  ${clean(task.reason ?? '')}`),
    ...(failed.length > MOST_FAILURES ? [`  and ${failed.length - MOST_FAILURES} more that failed`] : []),
  ];
  return lines.map((line) => `${truncateEnd(line, Math.max(40, columns))}\n`).join('');
}

/** Said once four fifths are spent: before it stops, not when it has. */
export function nearLimit({ spent, limits, counts }: BatchStatus): string {
  const isOpen = counts.waiting + counts.running > 0;
  return isOpen && spent >= limits.all * 0.8 ? '  (over 80 % of the limit)' : '';
}

export function runningWords({ machine, startedMs, cost, doing }: TaskView, nowMs: number): string {
  const time = startedMs === undefined ? '' : formatDuration(Math.max(0, nowMs - startedMs));
  return [machine ?? '', time, money(cost), clean(doing ?? '')].filter((part) => part !== '').join('  ');
}

/** Everything about one task. */
export function taskText(task: TaskView, attempts: readonly { readonly line: string }[]): string {
  const { spec, result } = task;
  const lines = [
    `${task.title}  (${task.key}): ${task.state}${task.reason === undefined ? '' : `, ${clean(task.reason)}`}`,
    ...(spec.place === undefined ? [] : [`  ${placeOf(spec.place)}`]),
    `  ${money(task.cost)}, ${formatCount(task.tries, 'attempt')}`,
    ...attempts.map(({ line }) => `    ${line}`),
    ...(task.session === undefined ? [] : [`  session ${task.session}`]),
    ...(result === undefined
      ? []
      : [
          `  ${formatCount(result.stat.files, 'file')} changed, +${result.stat.added} -${result.stat.removed}; verified: ${result.verified}`,
          ...result.notes.map((note) => `  ${clean(note)}`),
          '',
          sanitize(result.answer, 'output'),
        ]),
  ];
  return `${lines.join('\n')}\n`;
}
