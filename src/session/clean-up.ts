import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Settings } from '../contracts/settings.ts';
import { ifThere } from '../lib/files/errno.ts';
import { writePrivately } from '../lib/files/private-file.ts';
import { pruneSessions } from './stored/store.ts';

const DAY_MS = 86_400_000;

/** Deletes sessions that are older than the settings keep them, once a day. Nothing is deleted when they do not say. */
export async function cleanUp({ cleanupPeriodDays }: Settings, ouroHome: string, nowMs: number): Promise<void> {
  if (cleanupPeriodDays === undefined) return;
  const mark = join(ouroHome, 'cleaned-up');
  const last = (await ifThere(stat(mark)))?.mtimeMs ?? 0;
  if (nowMs - last < DAY_MS) return;
  await writePrivately(mark, '');
  await pruneSessions(ouroHome, { days: cleanupPeriodDays, nowMs, mode: 'delete' });
}
