import { rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Settings } from '../../contracts/settings.ts';
import { ignoreMissingFile } from '../../lib/errors.ts';
import { writePrivateFile } from '../../lib/files/private-file.ts';
import { listFolderNames } from '../../lib/files/read-or-default.ts';
import { deleteSessionLocks, findSessionLockHolder } from '../process-locks.ts';
import { listProjectDirs, listSessions, listTranscripts } from './find-sessions.ts';
import { deleteSession } from './manage-sessions.ts';
import { readSessionSummary, type SessionSummary } from './session-summary.ts';

/** Deletes sessions older than `cleanupPeriodDays`, at most once a day; does nothing when the setting is not set. */
export async function pruneExpiredSessions(
  { cleanupPeriodDays }: Settings,
  ouroHome: string,
  nowMs: number,
): Promise<void> {
  if (cleanupPeriodDays === undefined) return;
  const markerFile = join(ouroHome, 'cleaned-up');
  const lastRunMs = (await ignoreMissingFile(stat(markerFile)))?.mtimeMs ?? 0;
  if (nowMs - lastRunMs < DAY_MS) return;
  await writePrivateFile(markerFile, '');
  await pruneSessions(ouroHome, { days: cleanupPeriodDays, nowMs, mode: 'delete' });
}

const DAY_MS = 86_400_000;

/** Deletes sessions unchanged for a number of days, except open ones, and returns them; `preview` deletes nothing. */
export async function pruneSessions(
  ouroHome: string,
  limits: { readonly days: number; readonly nowMs: number; readonly mode: 'delete' | 'preview' },
): Promise<readonly SessionSummary[]> {
  const oldest = limits.nowMs - limits.days * DAY_MS;
  const old = (await listSessions(ouroHome)).filter(({ modifiedMs }) => modifiedMs < oldest);
  const deleted: SessionSummary[] = [];
  for (const session of old) {
    const result = limits.mode === 'delete' ? await deleteSession(session) : { ok: true };
    if (result.ok) deleted.push(session);
  }
  if (limits.mode === 'delete') for (const dir of await listProjectDirs(ouroHome)) await deleteLeftovers(dir, oldest);
  return deleted;
}

/** Deletes old session files without any message and old drafts. */
async function deleteLeftovers(dir: string, oldestMs: number): Promise<void> {
  const empty = (await listTranscripts(dir)).filter((path) => readSessionSummary(path) === undefined);
  const drafts = listFolderNames(join(dir, 'drafts')).map((name) => join(dir, 'drafts', name));
  for (const path of [...empty, ...drafts]) {
    const age = (await stat(path).catch(() => undefined))?.mtimeMs;
    if (age === undefined || age >= oldestMs || (await findSessionLockHolder(path)) !== undefined) continue;
    await rm(path, { force: true });
    await deleteSessionLocks(path);
  }
}
