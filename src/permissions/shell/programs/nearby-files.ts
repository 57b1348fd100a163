import { createHash } from 'node:crypto';
import { dirname, join } from 'node:path/posix';
import type { PermissionFs } from '../../permission-fs.ts';
import { readTextFile } from './git-repository.ts';

const MAX_NAMES = 100;

/** Finds the files of these names in the nearest folder above that has one. */
export function findNearest(folder: string, names: readonly string[], fs: PermissionFs): readonly string[] {
  const found = names.map((name) => join(folder, name)).filter((path) => isThere(fs, path));
  return found.length > 0 || folder === dirname(folder) ? found : findNearest(dirname(folder), names, fs);
}

/** Returns whether there is a file or folder. */
export function isThere(fs: PermissionFs, path: string): boolean {
  try {
    return fs.lstat(path) !== undefined;
  } catch {
    return false;
  }
}

/** Reads a file that is most often missing: errors are slow. */
export const readPresentFile = (fs: PermissionFs, path: string) =>
  isThere(fs, path) ? (readTextFile(fs, path) ?? '') : '';

/** Lists the names in a folder, up to a limit; none if it cannot be read. */
export function listNames(fs: PermissionFs, folder: string): readonly string[] {
  try {
    return fs.readdir(folder).slice(0, MAX_NAMES);
  } catch {
    return [];
  }
}

/** Computes the hash of a text. */
export const computeHash = (text: string) => createHash('sha256').update(text).digest('hex');
