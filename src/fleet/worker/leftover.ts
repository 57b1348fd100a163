import { writeFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { z } from 'zod';
import { markOf, processState } from '../../lib/processes/process-mark.ts';

const mark = z.object({ pid: z.number(), startTime: z.string(), host: z.string().optional() });

/** Notes which process works on a task here. */
export const noteChild = (file: string, pid: number): void =>
  writeFileSync(file, JSON.stringify(markOf(pid)), { mode: 0o600 });

/**
 * Ends what an earlier attempt has left running on this machine, because its worker is frozen or has not heard yet that
 * the attempt does not count: two that work in one folder would undo each other's work.
 */
export async function endLeftover(file: string): Promise<void> {
  const text = await readFile(file, 'utf8').catch(() => undefined);
  if (text === undefined) return;
  try {
    const found = mark.parse(JSON.parse(text));
    if (processState(found) === 'alive') process.kill(-found.pid, 'SIGKILL');
  } catch {
    // Half a note, or a group that has just ended: nothing is left to end.
  }
}
