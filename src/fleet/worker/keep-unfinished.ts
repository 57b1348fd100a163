import { patchOf } from '../git/work-patch.ts';
import type { PreparedWork } from './prepare.ts';
import { readSession } from './session-file.ts';
import type { TaskParts } from './task-parts.ts';

const FIRST_AFTER_MS = 2_000;
const EVERY_MS = 60_000;
const MOST_BYTES = 1_000_000;

/** Now and then hands in the conversation and the changes of work that goes on, for whoever has to go on elsewhere. */
export function keepUnfinished(prepared: PreparedWork, parts: TaskParts): { readonly stop: () => Promise<void> } {
  const { keep } = parts;
  const { place } = prepared;
  if (keep === undefined || place === undefined) return { stop: async () => undefined };
  let isStopped = false;
  let running: Promise<void> = Promise.resolve();
  let timer: ReturnType<typeof setTimeout> | undefined;

  async function handIn(put: NonNullable<TaskParts['keep']>, work: NonNullable<PreparedWork['place']>): Promise<void> {
    const transcript = await readSession(prepared, parts, prepared.session.id);
    const { patch } = await patchOf(parts.git, work);
    if (isStopped) return;
    if (transcript !== undefined) await put('transcript', transcript);
    if (patch.length <= MOST_BYTES && !parts.secrets.isIn(patch)) await put('unfinished', patch);
  }

  const plan = (ms: number) => {
    timer = setTimeout(() => {
      // Files change while they are looked at, and the store may be away: the next time tries again.
      running = handIn(keep, place).catch(() => undefined);
      void running.then(() => isStopped || plan(EVERY_MS));
    }, ms);
  };
  plan(FIRST_AFTER_MS);
  return {
    async stop() {
      isStopped = true;
      clearTimeout(timer);
      await running;
    },
  };
}
