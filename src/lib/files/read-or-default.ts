import { readdirSync, realpathSync } from 'node:fs';
import { readRegularFileSync } from './read-regular-file.ts';

/** Lists the names in a folder; none if it cannot be read. */
export function listFolderNames(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

/** Reads a text file; empty if it cannot be read. */
export function readTextOrEmpty(path: string): string {
  try {
    return readRegularFileSync(path).toString('utf8');
  } catch {
    return '';
  }
}

/** Resolves the symbolic links of a path; returns a broken path unchanged. */
export function resolveRealPath(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}
