import type { TaskState, TaskView } from '../../contracts/fleet.ts';
import type { FleetStore } from '../../contracts/fleet-store.ts';
import { sanitize } from '../../lib/text/sanitize.ts';
import type { Io } from '../io.ts';
import { money } from './batch-lines.ts';

type Watch = { readonly json: boolean; readonly signal: AbortSignal };

const EVERY_MS = 500;

/** Follows a batch: a screen on a terminal, else one line for each task that has come to an end. */
export async function watchBatch(id: string, store: FleetStore, io: Io, watch: Watch): Promise<void> {
  const isScreen =
    io.stdout.isTty && !watch.json && io.environment.term.name !== 'dumb' && !io.environment.term.accessible;
  return isScreen ? onScreen(id, store, io, watch) : asLines(id, store, io, watch);
}

async function onScreen(id: string, store: FleetStore, io: Io, { signal }: Watch): Promise<void> {
  const { openBatchScreen } = await import('../../ui/fleet/show-batch.ts');
  const { screenLook } = await import('../faces/choose-screen-options.ts');
  const { batchPicture } = await import('./batch-picture.ts');
  const { term } = io.environment;
  const glyphs = /utf-?8/i.test(term.locale) ? 'unicode' : 'ascii';
  const screen = openBatchScreen(process.stdout, { ...screenLook(io.environment), glyphs });
  try {
    while (!signal.aborted) {
      const batch = await store.status(id);
      const tasks = await store.tasks(id, ['running', 'failed', 'done']);
      if (batch !== undefined) screen.show(batchPicture(batch, tasks, await store.now()));
      await sleep(EVERY_MS, signal);
    }
  } finally {
    screen.close();
  }
}

async function asLines(id: string, store: FleetStore, io: Io, { json, signal }: Watch): Promise<void> {
  const seen = new Map<string, TaskState>();
  for (;;) {
    const isLast = signal.aborted;
    for (const task of await store.tasks(id)) {
      const before = seen.get(task.key);
      seen.set(task.key, task.state);
      if (before !== task.state && (json || isOver(task.state))) io.stdout.write(lineOf(task, json));
    }
    if (isLast) return;
    await sleep(EVERY_MS, signal);
  }
}

const isOver = (state: TaskState): boolean => state === 'done' || state === 'failed' || state === 'cancelled';

function lineOf(task: TaskView, json: boolean): string {
  if (json) {
    const { spec: _spec, ...told } = task;
    return `${JSON.stringify({ type: 'task', ...told })}\n`;
  }
  const why = task.reason === undefined ? '' : `: ${task.reason}`;
  return `${sanitize(`${task.state.padEnd(9)} ${task.title}  ${money(task.cost)}${why}`, 'line')}\n`;
}

async function sleep(ms: number, signal: AbortSignal): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, ms);
  const onAbort = () => resolve();
  signal.addEventListener('abort', onAbort, { once: true });
  if (signal.aborted) resolve();
  await promise;
  clearTimeout(timer);
  signal.removeEventListener('abort', onAbort);
}
