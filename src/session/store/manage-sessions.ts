import { randomUUID } from 'node:crypto';
import { constants, existsSync } from 'node:fs';
import { copyFile, cp, readdir, rm, stat } from 'node:fs/promises';
import { basename, dirname, join, relative } from 'node:path';
import type { ActionResult } from '../../contracts/frontend/host-capabilities.ts';
import type { Settings } from '../../contracts/settings.ts';
import { findRepositoryRoot } from '../../git/git-repository.ts';
import { getErrnoCode, getErrorMessage, ignoreMissingFile } from '../../lib/errors.ts';
import { writePrivateFile } from '../../lib/files/private-file.ts';
import { readRegularFile } from '../../lib/files/read-regular-file.ts';
import {
  getLastPromptedSessionFile,
  getProjectDir,
  getReplyJournalPath,
  getSessionFolder,
  getTranscriptPath,
  getWorktreesFolder,
} from '../paths.ts';
import { findSessionLockHolder, getSessionLockPath } from '../process-locks.ts';
import { createAppendFile } from '../records/append-file.ts';
import { diskAppendFs } from '../../lib/files/append-fs.ts';
import {
  dropBeforeLostRewind,
  type RecentSessionRecords,
  readRecentSessionRecords,
} from '../records/read-transcript.ts';
import { rebuildSession } from '../records/rebuild-session.ts';
import { createSessionRecord } from '../records/session-record-writer.ts';
import type { SessionTranscript } from '../records/session-transcript.ts';

import { createFileEndsBuffer, readSessionSummary, type SessionSummary } from './session-summary.ts';

export type { SessionSummary } from './session-summary.ts';

/** Number of files read before the event loop gets a turn. */
const FILES_PER_TURN = 250;

/** Lists the sessions of one directory and its `-w` worktrees, or of all directories, newest first. */
export async function listSessions(ouroHome: string, realCwd?: string): Promise<readonly SessionSummary[]> {
  const dirs = realCwd === undefined ? await listProjectDirs(ouroHome) : await listDirsOfFolder(ouroHome, realCwd);
  const files = (await Promise.all(dirs.map(listTranscripts))).flat();
  const summaries: SessionSummary[] = [];
  const scratch = createFileEndsBuffer();
  for (const [at, path] of files.entries()) {
    if (at > 0 && at % FILES_PER_TURN === 0) await new Promise((resolve) => setImmediate(resolve));
    const summary = readSessionSummary(path, scratch);
    if (summary !== undefined) summaries.push(summary);
  }
  return summaries.toSorted((a, b) => b.modifiedMs - a.modifiedMs);
}

/** Finds the last prompted session of a directory; by file times when that was not recorded. */
export async function findNewestSession(ouroHome: string, realCwd: string): Promise<SessionSummary | undefined> {
  const dir = getProjectDir(ouroHome, realCwd);
  const sessionId = (await readRegularFile(getLastPromptedSessionFile(dir)).catch(() => undefined)) ?? '';
  const recorded = /^[\w-]+$/.test(sessionId) ? readSessionSummary(getTranscriptPath(dir, sessionId)) : undefined;
  return recorded ?? (await listSessions(ouroHome, realCwd))[0];
}

/** Finds a session by its id, the beginning of its id, its title or a part of its title, in this directory first. */
export async function findSession(
  ouroHome: string,
  realCwd: string,
  query: string,
): Promise<{ readonly ok: true; readonly session: SessionSummary } | { readonly ok: false; readonly why: string }> {
  const local = await listSessions(ouroHome, realCwd);
  const named = matchSessions(local, query);
  const all = named.length > 0 ? [] : await listSessions(ouroHome);
  const [matches = []] = [
    named,
    matchSessions(all, query),
    matchTitleParts(local, query),
    matchTitleParts(all, query),
  ].filter(({ length }) => length > 0);
  const [first, second] = matches;
  if (first === undefined)
    return { ok: false, why: `There is no session "${query}". Run "ouro sessions list" to see all sessions.` };
  if (second !== undefined && first.id !== query) {
    const names = matches.slice(0, 5).map(({ id, title }) => `${id} (${title})`);
    return {
      ok: false,
      why: `"${query}" matches several sessions: ${names.join(', ')}. Use more of the id or the title.`,
    };
  }
  return { ok: true, session: first };
}

function matchSessions(sessions: readonly SessionSummary[], query: string): readonly SessionSummary[] {
  if (query === '') return [];
  const exact = sessions.filter(({ id, title }) => id === query || title === query);
  if (exact.length > 0) return exact;
  const lower = query.toLowerCase();
  return sessions.filter(({ id, title }) => id.startsWith(lower) || title.toLowerCase() === lower);
}

function matchTitleParts(sessions: readonly SessionSummary[], query: string): readonly SessionSummary[] {
  const lower = query.trim().toLowerCase();
  return lower === '' ? [] : sessions.filter(({ title }) => title.toLowerCase().includes(lower));
}

/** Reads the records of a resume, all of them after a rewind; `unsaved` lines follow those of the file. */
export async function readSessionForResume(
  path: string,
  unsaved: readonly string[] = [],
): Promise<RecentSessionRecords> {
  const recent = await readRecentSessionRecords(path, 'from-boundary', { unsaved });
  if (!rebuildSession(recent.records).incomplete) return recent;
  const all = await readRecentSessionRecords(path, 'all', { unsaved });
  return all.omittedBytes === 0 ? all : { ...all, records: dropBeforeLostRewind(all.records) };
}

export async function renameSession(
  session: SessionSummary,
  title: string,
  clock: { readonly newId: () => string; readonly now: () => number },
): Promise<ActionResult> {
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
export async function deleteSession(session: SessionSummary): Promise<ActionResult> {
  const holder = await findSessionLockHolder(session.path);
  if (holder !== undefined) {
    return { ok: false, why: `The session is open in process ${holder.pid}. Close it there first.` };
  }
  const dir = dirname(session.path);
  await rm(session.path, { force: true });
  const copies = (await listNames(dir)).filter((name) => name.startsWith(`${basename(session.path)}.damaged`));
  for (const name of copies) await rm(join(dir, name), { force: true });
  await rm(getSessionLockPath(session.path), { force: true });
  await rm(getSessionFolder(dir, session.id), { recursive: true, force: true });
  await rm(join(dir, 'drafts', `${session.id}.json`), { force: true });
  await rm(getReplyJournalPath(dir, session.id), { force: true });
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
  const drafts = (await listNames(join(dir, 'drafts'))).map((name) => join(dir, 'drafts', name));
  for (const path of [...empty, ...drafts]) {
    const age = (await stat(path).catch(() => undefined))?.mtimeMs;
    if (age === undefined || age >= oldestMs || (await findSessionLockHolder(path)) !== undefined) continue;
    await rm(path, { force: true });
    await rm(getSessionLockPath(path), { force: true });
  }
}

/** Returns whether a session file has messages or is locked; an empty file left by a killed process is free. */
export async function isSessionInUse(path: string): Promise<boolean> {
  return readSessionSummary(path) !== undefined || (await findSessionLockHolder(path)) !== undefined;
}

/** Copies a session and all its files under a new id; returns the path of the copy. */
export async function forkSession(session: Pick<SessionSummary, 'id' | 'path'>, newId: string): Promise<string> {
  const dir = dirname(session.path);
  const path = getTranscriptPath(dir, newId);
  await copyFile(session.path, path, constants.COPYFILE_EXCL | constants.COPYFILE_FICLONE);
  try {
    await cp(getSessionFolder(dir, session.id), getSessionFolder(dir, newId), {
      recursive: true,
      mode: constants.COPYFILE_FICLONE,
      // The pending snapshot belongs to a command running in the original session.
      filter: (source) => !/^pack(-index)?$/.test(basename(source)),
    });
  } catch (thrown) {
    if (getErrnoCode(thrown) !== 'ENOENT') throw thrown;
  }
  return path;
}

/** Lists the session folders of a directory and of its worktrees made by `-w`, even removed ones. */
async function listDirsOfFolder(ouroHome: string, realCwd: string): Promise<readonly string[]> {
  const root = findRepositoryRoot(realCwd);
  const worktrees = getWorktreesFolder(root);
  const getDir = (name: string) => getProjectDir(ouroHome, join(worktrees, name, relative(root, realCwd)));
  const prefix = basename(getProjectDir(ouroHome, worktrees)).replace(/(?<![^-])[^-]*$/, '');
  const known = await listNames(join(ouroHome, 'projects'));
  // The name of a removed worktree is guessed from the readable part; the hash tells whether the guess is right.
  const removed = known.flatMap((name) =>
    name.startsWith(prefix) ? [name.slice(prefix.length).replace(/-[^-]*$/, '')] : [],
  );
  const dirs = [...removed, ...(await listNames(worktrees))].map(getDir);
  return [...new Set([getProjectDir(ouroHome, realCwd), ...dirs.filter((dir) => known.includes(basename(dir)))])];
}

async function listProjectDirs(ouroHome: string): Promise<readonly string[]> {
  const root = join(ouroHome, 'projects');
  return (await listNames(root)).map((name) => join(root, name));
}

async function listTranscripts(dir: string): Promise<readonly string[]> {
  return (await listNames(dir)).filter((name) => name.endsWith('.jsonl')).map((name) => join(dir, name));
}

async function listNames(dir: string): Promise<readonly string[]> {
  try {
    return await readdir(dir);
  } catch {
    return [];
  }
}

/** The id of the copy, or the reason it failed. */
type ForkResult = { readonly ok: true; readonly id: string } | { readonly ok: false; readonly why: string };

/** Copies the current session with its latest records under a new id. */
export async function forkCurrentSession({ path, sessionId, sync }: SessionTranscript): Promise<ForkResult> {
  if (path === undefined) return { ok: false, why: 'This session is not saved, so it cannot be copied.' };
  await sync();
  if (!existsSync(path)) return { ok: false, why: 'There is nothing to fork yet: send a first prompt.' };
  const id = randomUUID();
  try {
    await forkSession({ path, id: sessionId }, id);
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
