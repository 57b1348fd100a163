import { type ProcessIo, sanitize } from '@ouro-cli/ouro/commands';
import type { BatchTaskState, BatchTaskView } from '../store/batch.ts';
import type { FleetStore } from '../store/fleet-store.ts';
import { createBatchScreenContent, formatMicroDollars } from './format-batch.ts';

type WatchOptions = { readonly json: boolean; readonly signal: AbortSignal };

const POLL_MS = 500;

/** Watches a batch until aborted: on a screen in a terminal, otherwise with one line per ended task. */
export async function watchBatch(id: string, store: FleetStore, io: ProcessIo, watch: WatchOptions): Promise<void> {
  const isScreen =
    io.stdout.isTty && !watch.json && io.environment.term.name !== 'dumb' && !io.environment.term.isAccessible;
  return isScreen ? watchOnScreen(id, store, io, watch) : watchAsLines(id, store, io, watch);
}

async function watchOnScreen(id: string, store: FleetStore, io: ProcessIo, { signal }: WatchOptions): Promise<void> {
  const { openBatchScreen } = await import('./BatchScreen.tsx');
  const { detectTerminalRendering } = await import('@ouro-cli/ouro/screen');
  const { term } = io.environment;
  const glyphs = /utf-?8/i.test(term.locale) ? 'unicode' : 'ascii';
  const screen = openBatchScreen(process.stdout, { ...detectTerminalRendering(io.environment), glyphs });
  try {
    while (!signal.aborted) {
      const batch = await store.getStatus(id);
      const tasks = await store.listTasks(id, ['running', 'failed', 'done']);
      if (batch !== undefined) screen.show(createBatchScreenContent(batch, tasks, await store.getTime()));
      await sleep(POLL_MS, signal);
    }
  } finally {
    screen.close();
  }
}

async function watchAsLines(
  id: string,
  store: FleetStore,
  io: ProcessIo,
  { json, signal }: WatchOptions,
): Promise<void> {
  const seen = new Map<string, BatchTaskState>();
  for (;;) {
    const isLast = signal.aborted;
    for (const task of await store.listTasks(id)) {
      const before = seen.get(task.key);
      seen.set(task.key, task.state);
      if (before !== task.state && (json || hasEnded(task.state))) io.stdout.write(formatTaskLine(task, json));
    }
    if (isLast) return;
    await sleep(POLL_MS, signal);
  }
}

const hasEnded = (state: BatchTaskState): boolean => state === 'done' || state === 'failed' || state === 'cancelled';

function formatTaskLine(task: BatchTaskView, json: boolean): string {
  if (json) {
    const { spec: _spec, ...fields } = task;
    return `${JSON.stringify({ type: 'task', ...fields })}\n`;
  }
  const reason = task.reason === undefined ? '' : `: ${task.reason}`;
  return `${sanitize(`${task.state.padEnd(9)} ${task.title}  ${formatMicroDollars(task.cost)}${reason}`, 'line')}\n`;
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
