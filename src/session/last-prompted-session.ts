import { constants } from 'node:fs';
import { mkdir, stat, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { readRegularFile } from '../lib/files/read-regular-file.ts';
import { getLastPromptedSessionFile } from './paths.ts';
import {
  createUnsavedFolders,
  deleteUnsavedFiles,
  findUnsavedFiles,
  getUnsavedPath,
  listUnsavedFolders,
} from './unsaved-lines.ts';

/** Opening a pipe fails instead of waiting for a reader. */
const WRITE_FLAGS = constants.O_WRONLY | constants.O_CREAT | constants.O_TRUNC | constants.O_NONBLOCK;

/**
 * Records which session of a directory was prompted last: the times of session files fail after a clock change.
 * A record that the disk does not accept is stored on another one.
 */
export async function recordLastPrompted(dir: string, sessionId: string, parents?: readonly string[]): Promise<void> {
  const file = getLastPromptedSessionFile(dir);
  if (await tryWrite(file, sessionId)) return deleteUnsavedFiles(file, parents);
  for (const folder of createUnsavedFolders(file, parents)) {
    const path = getUnsavedPath(folder, file);
    await mkdir(dirname(path), { recursive: true, mode: 0o700 }).catch(() => undefined);
    if (await tryWrite(path, sessionId)) return;
  }
}

/** Returns the recorded session ids of a directory, the last prompted one first. */
export async function readLastPrompted(dir: string, parents?: readonly string[]): Promise<readonly string[]> {
  const file = getLastPromptedSessionFile(dir);
  const paths = [...findUnsavedFiles(file, listUnsavedFolders(parents)), file];
  const records = await Promise.all(
    paths.map(async (path) => {
      const id = (await readRegularFile(path).catch(() => undefined)) ?? '';
      const stats = await stat(path).catch(() => undefined);
      return { id, modifiedMs: stats?.mtimeMs ?? 0 };
    }),
  );
  return records
    .filter(({ id }) => /^[\w-]+$/.test(id))
    .toSorted((a, b) => b.modifiedMs - a.modifiedMs)
    .map(({ id }) => id);
}

const tryWrite = (path: string, text: string): Promise<boolean> =>
  writeFile(path, text, { mode: 0o600, flag: WRITE_FLAGS }).then(
    () => true,
    () => false,
  );
