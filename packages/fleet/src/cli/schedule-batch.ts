import { type BatchFlags, createYesNoPrompter, type ProcessIo, UsageError } from '@ouro-cli/ouro/commands';
import type { NewBatchSchedule } from '../store/batch.ts';
import type { FleetStore } from '../store/fleet-store.ts';
import { createSlug, hashJsonValue } from '../tasks/expand-tasks.ts';
import { formatBatchSchedule } from './format-batch.ts';

const UNIT_MS: Readonly<Record<string, number>> = { m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 };
const MAX_INTERVAL_MS = 52 * 604_800_000;

/** Parses the interval of a schedule. Flags that apply to one run only are refused. */
export function parseScheduleInterval(text: string, flags: Pick<BatchFlags, 'try' | 'reuse' | 'sign'>): number {
  const [, count, unit = ''] = /^(\d+)([mhdw])$/.exec(text) ?? [];
  const intervalMs = Number(count) * (UNIT_MS[unit] ?? Number.NaN);
  if (!(intervalMs >= 60_000 && intervalMs <= MAX_INTERVAL_MS))
    throw new UsageError(`Option --every must be an interval like 30m, 12h, 1d or 2w, at most 52w, not "${text}".`);
  if (flags.try !== undefined) throw new UsageError('--every and --try contradict each other. Choose one.');
  if (flags.reuse === true) throw new UsageError('--every and --reuse contradict each other. Choose one.');
  // A run has new commits, which only the owner of the key could sign.
  if (flags.sign !== undefined) throw new UsageError('--every and --sign contradict each other. Choose one.');
  return intervalMs;
}

type ScheduledBatch = Pick<NewBatchSchedule, 'batch' | 'tasks' | 'everyMs'> & {
  /** Set if the task file or a flag names the batch, and so the schedule. */
  readonly isNamed: boolean;
};
type ScheduleRequest = { readonly flags: BatchFlags; readonly io: ProcessIo };

/** Stores a schedule in the queue. Workers submit its runs. */
export async function scheduleBatch(
  { batch, tasks, isNamed, everyMs }: ScheduledBatch,
  store: FleetStore,
  { flags, io }: ScheduleRequest,
): Promise<void> {
  // The name of a prompt is only its first words; commits change between two calls of the same command.
  const work = tasks.map(({ title, spec: { prompt, place } }) => [title, prompt, place?.url, place?.folder]);
  const slug = createSlug(batch.name);
  const id = isNamed ? slug : `${slug}-${hashJsonValue(work).slice(0, 6)}`;
  const before = (await store.listSchedules()).find((schedule) => schedule.id === id);
  if (before !== undefined && flags.json !== true)
    io.stderr.write(`This replaces a schedule:\n${formatBatchSchedule(before, await store.getTime())}`);
  if (flags.yes !== true && !(await confirm(before === undefined ? 'Store' : 'Replace', io))) return;
  await store.saveSchedule({ id, everyMs, batch, tasks });
  const saved = (await store.listSchedules()).find((schedule) => schedule.id === id);
  if (saved === undefined) return;
  if (flags.json === true) io.stdout.write(`${JSON.stringify(saved, null, 2)}\n`);
  else
    io.stdout.write(
      `${formatBatchSchedule(saved, await store.getTime())}Workers of this queue submit its runs: ouro worker. Delete it with: ouro batch delete ${id}\n`,
    );
}

/** Asks on a terminal. Without one, only replacing needs a confirmation that nobody can give. */
async function confirm(action: 'Store' | 'Replace', io: ProcessIo): Promise<boolean> {
  if (!io.stdin.isTty) {
    if (action === 'Store') return true;
    throw new UsageError('Nothing was changed: replacing a schedule needs confirmation. Add --yes to replace it.');
  }
  const prompter = createYesNoPrompter(io);
  try {
    return await prompter.confirm(`${action} the schedule?`);
  } finally {
    await prompter.close();
  }
}
