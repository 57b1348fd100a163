import { readdir } from 'node:fs/promises';
import { basename, join, relative } from 'node:path';
import { findRepositoryRoot } from '../../git/git-repository.ts';
import { readLastPrompted } from '../last-prompted-session.ts';
import { getProjectDir, getTranscriptPath, getWorktreesFolder } from '../paths.ts';
import { listUnsavedDirs, listUnsavedFolders, listUnsavedSessions } from '../unsaved-lines.ts';
import { createFileEndsBuffer } from './file-ends.ts';
import { type DamagedSession, deleteEmptySession, describeDamagedSession, inspectSession } from './inspect-session.ts';
import { restoreUnsavedSessions } from './restore-unsaved-sessions.ts';
import { readSessionSummary, type SessionSummary } from './session-summary.ts';

/** The session that was looked for, or the reason why it cannot be used: there is none, or it is damaged. */
export type FoundSession =
  | { readonly ok: true; readonly session: SessionSummary }
  | { readonly ok: false; readonly problem: string; readonly damaged?: DamagedSession };

/** Sessions, newest first; without any readable message they are damaged. */
export type ScannedSessions = {
  readonly sessions: readonly SessionSummary[];
  readonly damaged: readonly DamagedSession[];
};

/** Lists the sessions of one directory and its `-w` worktrees, or of all directories, newest first. */
export async function listSessions(ouroHome: string, realCwd?: string): Promise<readonly SessionSummary[]> {
  return (await scanSessions(ouroHome, realCwd)).sessions;
}

/** Number of files read before the event loop gets a turn. */
const FILES_PER_TURN = 250;

/** Lists sessions like `listSessions`, and the damaged ones; deletes empty files that a killed process left. */
export async function scanSessions(ouroHome: string, realCwd?: string): Promise<ScannedSessions> {
  await restoreUnsavedSessions(ouroHome);
  const unsavedFolders = listUnsavedFolders();
  const dirs =
    realCwd === undefined
      ? await listProjectDirs(ouroHome, unsavedFolders)
      : await listDirsOfFolder(ouroHome, realCwd, unsavedFolders);
  const files = (await Promise.all(dirs.map((dir) => listTranscripts(dir, unsavedFolders)))).flat();
  const sessions: SessionSummary[] = [];
  const damaged: DamagedSession[] = [];
  const scratch = createFileEndsBuffer();
  for (const [at, path] of files.entries()) {
    if (at > 0 && at % FILES_PER_TURN === 0) await new Promise((resolve) => setImmediate(resolve));
    const summary = readSessionSummary(path, scratch, unsavedFolders);
    const found = summary === undefined ? await inspectSession(path) : { state: 'readable' as const, session: summary };
    if (found.state === 'readable') sessions.push(found.session);
    else if (found.state === 'damaged') damaged.push(found.session);
    else await deleteEmptySession(path);
  }
  return { sessions: sortNewestFirst(sessions), damaged: sortNewestFirst(damaged) };
}

const sortNewestFirst = <T extends { readonly modifiedMs: number }>(sessions: readonly T[]) =>
  sessions.toSorted((a, b) => b.modifiedMs - a.modifiedMs);

/**
 * Finds the last prompted session of a directory; by file times when that was not recorded. An older one does not take
 * the place of a damaged one, because the prompt would meet another conversation.
 */
export async function findNewestSession(ouroHome: string, realCwd: string): Promise<FoundSession> {
  await restoreUnsavedSessions(ouroHome);
  const dir = getProjectDir(ouroHome, realCwd);
  let damaged: DamagedSession | undefined;
  for (const id of await readLastPrompted(dir)) {
    const found = await inspectSession(getTranscriptPath(dir, id));
    if (found.state === 'readable') return { ok: true, session: found.session };
    if (found.state === 'damaged') damaged ??= found.session;
  }
  const scanned = await scanSessions(ouroHome, realCwd);
  const [newest] = scanned.sessions;
  damaged ??= scanned.damaged.find(({ modifiedMs }) => modifiedMs > (newest?.modifiedMs ?? 0));
  if (damaged !== undefined) {
    const next = newest === undefined ? '' : ' "ouro --resume" continues an earlier one.';
    return {
      ok: false,
      problem: `${describeDamagedSession(damaged, 'The last session of this folder')}${next}`,
      damaged,
    };
  }
  if (newest !== undefined) return { ok: true, session: newest };
  return { ok: false, problem: 'This folder has no session. "ouro sessions list --all" lists those of other folders.' };
}

/** Finds a session by its id, the beginning of its id, its title or a part of its title, in this directory first. */
export async function findSession(ouroHome: string, realCwd: string, query: string): Promise<FoundSession> {
  const local = await listSessions(ouroHome, realCwd);
  const named = matchSessions(local, query);
  const all = named.length > 0 ? NOTHING : await scanSessions(ouroHome);
  const [matches = []] = [
    named,
    matchSessions(all.sessions, query),
    matchTitleParts(local, query),
    matchTitleParts(all.sessions, query),
  ].filter(({ length }) => length > 0);
  const [first, second] = matches;
  if (first === undefined) {
    const [damaged] = matchSessions(all.damaged, query);
    if (damaged !== undefined) return { ok: false, problem: describeDamagedSession(damaged), damaged };
    return { ok: false, problem: `There is no session "${query}". Run "ouro sessions list" to see all sessions.` };
  }
  if (second !== undefined && first.id !== query) {
    const names = matches.slice(0, 5).map(({ id, title }) => `${id} (${title})`);
    return {
      ok: false,
      problem: `"${query}" matches several sessions: ${names.join(', ')}. Use more of the id or the title.`,
    };
  }
  return { ok: true, session: first };
}

const NOTHING: ScannedSessions = { sessions: [], damaged: [] };

function matchSessions<T extends { readonly id: string; readonly title: string }>(
  sessions: readonly T[],
  query: string,
): readonly T[] {
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

/** Lists the session folders of a directory and of its worktrees made by `-w`, even removed ones. */
async function listDirsOfFolder(
  ouroHome: string,
  realCwd: string,
  unsavedFolders: readonly string[],
): Promise<readonly string[]> {
  const root = findRepositoryRoot(realCwd);
  const worktrees = getWorktreesFolder(root);
  const getDir = (name: string) => getProjectDir(ouroHome, join(worktrees, name, relative(root, realCwd)));
  const prefix = basename(getProjectDir(ouroHome, worktrees)).replace(/(?<![^-])[^-]*$/, '');
  const known = (await listProjectDirs(ouroHome, unsavedFolders)).map((dir) => basename(dir));
  // The name of a removed worktree is guessed from the readable part; the hash tells whether the guess is right.
  const removed = known.flatMap((name) =>
    name.startsWith(prefix) ? [name.slice(prefix.length).replace(/-[^-]*$/, '')] : [],
  );
  const dirs = [...removed, ...(await listNames(worktrees))].map(getDir);
  return [...new Set([getProjectDir(ouroHome, realCwd), ...dirs.filter((dir) => known.includes(basename(dir)))])];
}

/** Lists the folders of all directories, also of those whose sessions could not be written to them. */
export async function listProjectDirs(
  ouroHome: string,
  unsavedFolders: readonly string[] = listUnsavedFolders(),
): Promise<readonly string[]> {
  const root = join(ouroHome, 'projects');
  const dirs = (await listNames(root)).map((name) => join(root, name));
  return [...new Set([...dirs, ...listUnsavedDirs(root, unsavedFolders)])];
}

/** Lists the session files of a folder, also those that could not be written to it. */
export async function listTranscripts(
  dir: string,
  unsavedFolders: readonly string[] = listUnsavedFolders(),
): Promise<readonly string[]> {
  const names = (await listNames(dir)).filter((name) => name.endsWith('.jsonl'));
  return [...new Set([...names.map((name) => join(dir, name)), ...listUnsavedSessions(dir, unsavedFolders)])];
}

async function listNames(dir: string): Promise<readonly string[]> {
  try {
    return await readdir(dir);
  } catch {
    return [];
  }
}
