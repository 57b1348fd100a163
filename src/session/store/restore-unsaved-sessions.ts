import { existsSync } from 'node:fs';
import { readdir, utimes } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { diskAppendFs } from '../../lib/files/append-fs.ts';
import { readRegularFile } from '../../lib/files/read-regular-file.ts';
import { readLastPrompted, recordLastPrompted } from '../last-prompted-session.ts';
import { getLastPromptedSessionFile, getProjectDir } from '../paths.ts';
import { deleteDeadLocks, deleteSessionLocks, lockSession } from '../process-locks.ts';
import { createAppendFile } from '../records/append-file.ts';
import { parseSessionRecords } from '../records/parse-session-records.ts';
import {
  deleteEmptyFolders,
  findUnsavedFiles,
  getUnsavedPath,
  listOldUnsavedFiles,
  listUnsavedDirs,
  listUnsavedFolders,
  listUnsavedSessions,
  openUnsavedLines,
} from '../unsaved-lines.ts';
import { readSessionSummary } from './session-summary.ts';

/**
 * Moves what earlier runs could not write into the session files, as far as the disk takes it now. Sessions that are
 * open in a process move their lines themselves.
 */
export async function restoreUnsavedSessions(ouroHome: string): Promise<void> {
  const folders = listUnsavedFolders();
  if (folders.length === 0) return;
  const projects = join(ouroHome, 'projects');
  for (const path of await listOldUnsavedSessions(ouroHome, folders)) await restoreUnsavedSession(path);
  for (const dir of listUnsavedDirs(projects, folders)) {
    for (const path of listUnsavedSessions(dir, folders)) {
      // The others would be refused too.
      if ((await restoreUnsavedSession(path)) === 'refused') return;
    }
    const lastPrompted = getLastPromptedSessionFile(dir);
    const [newest] = await readLastPrompted(dir);
    if (newest !== undefined && findUnsavedFiles(lastPrompted, folders).length > 0)
      await recordLastPrompted(dir, newest);
    for (const folder of folders) {
      await deleteDeadLocks(dirname(getUnsavedPath(folder, lastPrompted)));
      deleteEmptyFolders(lastPrompted, folder);
    }
  }
}

/** Moves the unsaved lines of one session into its file. */
export async function restoreUnsavedSession(path: string): Promise<'restored' | 'refused' | 'open'> {
  const unsaved = openUnsavedLines(path);
  if (!unsaved.exists()) return 'restored';
  const lock = await lockSession(path);
  if (!lock.ok) return 'open';
  try {
    const modifiedMs = readSessionSummary(path)?.modifiedMs ?? Date.now();
    if (unsaved.read().length === 0) unsaved.clear();
    const file = createAppendFile(path, diskAppendFs, () => undefined, unsaved);
    await file.sync();
    await file.close();
    if (file.countPending() > 0) return 'refused';
    // Lists are sorted by the time of the last line.
    await utimes(path, new Date(modifiedMs), new Date(modifiedMs)).catch(() => undefined);
    return 'restored';
  } finally {
    await lock.lock.release();
    await deleteSessionLocks(path).catch(() => undefined);
  }
}

/**
 * Lists the session files to which unsaved lines of version 0.2 belong, whose files were named by the session only. If
 * there is no such session in this home folder, a complete one gets its file.
 */
async function listOldUnsavedSessions(ouroHome: string, folders: readonly string[]): Promise<readonly string[]> {
  const old = listOldUnsavedFiles(folders);
  if (old.length === 0) return [];
  const projects = join(ouroHome, 'projects');
  const dirs = (await readdir(projects).catch(() => [])).map((name) => join(projects, name));
  const targets = await Promise.all(
    old.map(async (path) => {
      const name = basename(path);
      const known = dirs.find((dir) => existsSync(join(dir, name)));
      if (known !== undefined) return join(known, name);
      const text = await readRegularFile(path, MAX_OLD_BYTES).catch(() => undefined);
      const [first] = parseSessionRecords(text ?? '').records;
      return first?.parentUuid === null ? join(getProjectDir(ouroHome, first.cwd), name) : undefined;
    }),
  );
  return targets.filter((target) => target !== undefined);
}

const MAX_OLD_BYTES = 100_000_000;
