import { existsSync } from 'node:fs';
import { rm, unlink } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import type { ActionResult } from '../../contracts/frontend/host-capabilities.ts';
import { ignoreMissingFile } from '../../lib/errors.ts';
import { diskAppendFs } from '../../lib/files/append-fs.ts';
import { listFolderNames } from '../../lib/files/read-or-default.ts';
import { getReplyJournalPath, getSessionFolder } from '../paths.ts';
import { deleteSessionLocks, findSessionLockHolder } from '../process-locks.ts';
import { createAppendFile } from '../records/append-file.ts';
import { readRecentSessionRecords } from '../records/read-transcript.ts';
import { createSessionRecord } from '../records/session-record-writer.ts';
import { deleteUnsavedFiles } from '../unsaved-lines.ts';
import { inspectSession } from './inspect-session.ts';
import { restoreUnsavedSession } from './restore-unsaved-sessions.ts';
import type { SessionFile, SessionSummary } from './session-summary.ts';

/** Gives a session a title of the user's choice. */
export async function renameSession(
  session: SessionSummary,
  title: string,
  clock: { readonly newId: () => string; readonly now: () => number },
): Promise<ActionResult> {
  await restoreUnsavedSession(session.path);
  const { records } = await readRecentSessionRecords(session.path, 'from-boundary');
  const last = records.at(-1);
  if (last === undefined) return { ok: false, problem: `The session ${session.id} is empty and cannot be renamed.` };
  const record = createSessionRecord(
    { type: 'title', title, by: 'person' },
    {
      uuid: clock.newId(),
      parentUuid: last.uuid,
      sessionId: session.id,
      timestamp: new Date(clock.now()).toISOString(),
      cwd: session.cwd,
      version: last.version,
    },
  );
  let problem: string | undefined;
  const file = createAppendFile(session.path, diskAppendFs, (status) => {
    problem = status.type === 'failed' ? status.problem : undefined;
  });
  await file.append(`${JSON.stringify(record)}\n`);
  await file.close();
  return problem === undefined ? { ok: true } : { ok: false, problem: `The title could not be saved: ${problem}` };
}

/** Deletes a session and all its files, unless it is open in another process. */
export async function deleteSession(session: SessionFile): Promise<ActionResult> {
  const holder = await findSessionLockHolder(session.path);
  if (holder !== undefined) {
    return { ok: false, problem: `The session is open in process ${holder.pid}. Close it there first.` };
  }
  const dir = dirname(session.path);
  await ignoreMissingFile(unlink(session.path));
  deleteUnsavedFiles(session.path);
  const copies = listFolderNames(dir).filter((name) => name.startsWith(`${basename(session.path)}.damaged`));
  for (const name of copies) await rm(join(dir, name), { force: true });
  await deleteSessionLocks(session.path);
  const folder = getSessionFolder(dir, session.id);
  if (existsSync(folder)) await rm(folder, { recursive: true, force: true });
  for (const path of [join(dir, 'drafts', `${session.id}.json`), getReplyJournalPath(dir, session.id)])
    await ignoreMissingFile(unlink(path));
  return { ok: true };
}

/** Returns whether a session has messages, even unreadable ones, or is locked. An empty file is free. */
export async function isSessionInUse(path: string): Promise<boolean> {
  return (await inspectSession(path)).state !== 'empty' || (await findSessionLockHolder(path)) !== undefined;
}
