import type { BatchStatus, TaskView } from '../../contracts/fleet.ts';
import { oneLine } from '../../lib/text/one-line.ts';
import { sanitize } from '../../lib/text/sanitize.ts';
import type { BatchPicture } from '../../ui/fleet/BatchScreen.tsx';
import { countWords, moneyWords, nearLimit, runningWords, stateWords, waitWords } from './batch-lines.ts';

const LAST_DONE = 30;

/** A batch in the words of its screen; `--json` tells the same as numbers. */
export function batchPicture(batch: BatchStatus, tasks: readonly TaskView[], nowMs: number): BatchPicture {
  const { counts } = batch;
  const all = Object.values(counts).reduce((sum, one) => sum + one, 0);
  const of = (state: TaskView['state']) => tasks.filter((task) => task.state === state);
  const near = nearLimit(batch);
  const newest = of('done').toSorted((a, b) => (b.endedMs ?? 0) - (a.endedMs ?? 0));
  return {
    id: batch.id,
    state: stateWords(batch),
    share: all === 0 ? 0 : (counts.done + counts.failed + counts.cancelled) / all,
    counts: countWords(batch),
    money: { words: `${moneyWords(batch)}${near}`, isNear: near !== '' },
    waits: batch.waits.map((one) => waitWords(one, batch.id)),
    running: of('running').map((task) => ({ title: clean(task.title), words: runningWords(task, nowMs) })),
    failed: of('failed').map((task) => ({ title: clean(task.title), words: clean(task.reason ?? '') })),
    done: newest
      .slice(0, LAST_DONE)
      .map((task) => ({ title: clean(task.title), words: runningWords(task, task.endedMs ?? nowMs) })),
  };
}

const clean = (text: string): string => sanitize(oneLine(text), 'line');
