import { randomUUID } from 'node:crypto';
import { constants, existsSync } from 'node:fs';
import { copyFile, cp, readFile, rm, stat, unlink, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import type { ActionResult } from '../../contracts/frontend/host-capabilities.ts';
import type { Settings } from '../../contracts/settings.ts';
import { getErrnoCode, getErrorMessage, ignoreMissingFile } from '../../lib/errors.ts';
import { diskAppendFs } from '../../lib/files/append-fs.ts';
import { writePrivateFile } from '../../lib/files/private-file.ts';
import { listFolderNames } from '../../lib/files/read-or-default.ts';
import { getReplyJournalPath, getSessionFolder, getTranscriptPath } from '../paths.ts';
import { deleteSessionLocks, findSessionLockHolder } from '../process-locks.ts';
import { createAppendFile } from '../records/append-file.ts';
import { createForkSettings, createSealContext } from '../records/permission-seal.ts';
import {
  dropBeforeLostRewind,
  type RecentSessionRecords,
  readRecentSessionRecords,
} from '../records/read-transcript.ts';
import { rebuildSession } from '../records/rebuild-session.ts';
import { createSessionRecord } from '../records/session-record-writer.ts';
import type { SessionTranscript } from '../records/session-transcript.ts';
import { deleteUnsavedFiles, isSessionStored, openUnsavedLines, readUnsavedLines } from '../unsaved-lines.ts';
import { listProjectDirs, listSessions, listTranscripts } from './find-sessions.ts';
import { inspectSession } from './inspect-session.ts';
import { restoreUnsavedSession } from './restore-unsaved-sessions.ts';
import { readSessionSummary, type SessionSummary } from './session-summary.ts';

export type { SessionSummary } from './session-summary.ts';

/** Reads the records of a resume, all of them after a rewind. */
export async function readSessionForResume(path: string): Promise<RecentSessionRecords> {
  const recent = await readRecentSessionRecords(path, 'from-boundary');
  if (!rebuildSession(recent.records).incomplete) return recent;
  const all = await readRecentSessionRecords(path, 'all');
  return all.omittedBytes === 0 ? all : { ...all, records: dropBeforeLostRewind(all.records) };
}

export async function renameSession(
  session: SessionSummary,
  title: string,
  clock: { readonly newId: () => string; readonly now: () => number },
): Promise<ActionResult> {
  await restoreUnsavedSession(session.path);
  const { records } = await readRecentSessionRecords(session.path, 'from-boundary');
  const last = records.at(-1);
  if (last === undefined) return { ok: false, why: `The session ${session.id} is empty and cannot be renamed.` };
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
    problem = status.type === 'failed' ? status.why : undefined;
  });
  await file.append(`${JSON.stringify(record)}\n`);
  await file.close();
  return problem === undefined ? { ok: true } : { ok: false, why: `The title could not be saved: ${problem}` };
}

/** Deletes a session and all its files, unless it is open in another process. */
export async function deleteSession(session: Pick<SessionSummary, 'id' | 'path'>): Promise<ActionResult> {
  const holder = await findSessionLockHolder(session.path);
  if (holder !== undefined) {
    return { ok: false, why: `The session is open in process ${holder.pid}. Close it there first.` };
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

/** Deletes sessions unchanged for a number of days, except open ones, and returns them; `preview` deletes nothing. */
export async function pruneSessions(
  ouroHome: string,
  limits: { readonly days: number; readonly nowMs: number; readonly mode: 'delete' | 'preview' },
): Promise<readonly SessionSummary[]> {
  const oldest = limits.nowMs - limits.days * 86_400_000;
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

/** Returns whether a session has messages, even unreadable ones, or is locked. An empty file is free. */
export async function isSessionInUse(path: string): Promise<boolean> {
  return (await inspectSession(path)).state !== 'empty' || (await findSessionLockHolder(path)) !== undefined;
}

/**
 * Copies a session and all its files under a new id; returns the path of the copy. If the disk does not take it, the
 * conversation alone is copied to where unsaved lines are stored. With the home of the installation that wrote the
 * session, the copy permits what the session permits.
 */
export async function forkSession(
  session: Pick<SessionSummary, 'id' | 'path'>,
  newId: string,
  ouroHome?: string,
): Promise<string> {
  const settings = ouroHome === undefined ? '' : await encodeForkSettings(session, newId, ouroHome);
  const dir = dirname(session.path);
  const path = getTranscriptPath(dir, newId);
  const folder = getSessionFolder(dir, newId);
  try {
    await copyTranscript(session.path, path, settings);
    await copySessionFolder(getSessionFolder(dir, session.id), folder);
  } catch (thrown) {
    if (getErrnoCode(thrown) === 'EEXIST') throw thrown;
    for (const partial of [path, folder]) await rm(partial, { recursive: true, force: true }).catch(() => undefined);
    const text = [
      await readFile(session.path, 'utf8').catch(() => ''),
      ...readUnsavedLines(session.path),
      settings,
    ].join('\n');
    if ((await openUnsavedLines(path).save(`${text}\n`)) === undefined) throw thrown;
  }
  return path;
}

async function encodeForkSettings(
  { id, path }: Pick<SessionSummary, 'id' | 'path'>,
  newId: string,
  ouroHome: string,
): Promise<string> {
  const { records } = await readSessionForResume(path);
  const last = records.at(-1);
  const body = createForkSettings(records, id, newId, createSealContext(ouroHome, dirname(path)));
  if (last === undefined || body === undefined) return '';
  const { uuid: parentUuid, timestamp, cwd, version } = last;
  const head = { uuid: randomUUID(), parentUuid, sessionId: newId, timestamp, cwd, version };
  return JSON.stringify(createSessionRecord(body, head));
}

/** Copies a session file and adds lines: those that could not be written to it, of which there may be no others. */
async function copyTranscript(from: string, to: string, settings: string): Promise<void> {
  const unsaved = readUnsavedLines(from);
  const isStored = unsaved.length === 0 || existsSync(from);
  if (isStored) await copyFile(from, to, constants.COPYFILE_EXCL | constants.COPYFILE_FICLONE);
  const added = settings === '' ? unsaved : [...unsaved, settings];
  if (added.length === 0) return;
  const text = ['', ...added, ''].join('\n');
  await writeFile(to, text, { mode: 0o600, flag: isStored ? 'a' : 'wx' });
}

async function copySessionFolder(from: string, to: string): Promise<void> {
  if (!existsSync(from)) return;
  await cp(from, to, {
    recursive: true,
    mode: constants.COPYFILE_FICLONE,
    // The pending snapshot belongs to a command running in the original session.
    filter: (source) => !/^pack(-index)?$/.test(basename(source)),
  });
}

/** The id of the copy, or the reason it failed. */
type ForkResult = { readonly ok: true; readonly id: string } | { readonly ok: false; readonly why: string };

/** Copies the current session with its latest records under a new id. */
export async function forkCurrentSession(
  { path, sessionId, sync }: SessionTranscript,
  ouroHome: string,
): Promise<ForkResult> {
  if (path === undefined) return { ok: false, why: 'This session is not saved, so it cannot be copied.' };
  await sync();
  if (!isSessionStored(path)) return { ok: false, why: 'There is nothing to fork yet: send a first prompt.' };
  const id = randomUUID();
  try {
    await forkSession({ path, id: sessionId }, id, ouroHome);
    return { ok: true, id };
  } catch (thrown) {
    return { ok: false, why: `The session could not be copied: ${getErrorMessage(thrown)}` };
  }
}

const DAY_MS = 86_400_000;

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
