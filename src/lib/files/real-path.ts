import { realpath, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { ignoreMissingFile } from '../errors.ts';

const MAX_TRIES = 100;

/**
 * Returns the real path of an existing file or folder; `undefined` if there is none. Bun opens a file to find its path
 * and reports it as missing if it is replaced in this moment, so that is tried again.
 */
export async function findRealPath(path: string): Promise<string | undefined> {
  for (let tries = 0; tries < MAX_TRIES; tries += 1) {
    const found = await ignoreMissingFile(realpath(path));
    if (found !== undefined || (await ignoreMissingFile(stat(path))) === undefined) return found;
  }
  throw new Error(`${path} is replaced so often that its real path cannot be found.`);
}

/** Returns the real path of a file, or of its nearest existing ancestor with the rest of the path appended. */
export async function resolveRealTarget(path: string): Promise<string> {
  return (await findRealPath(path)) ?? join(await resolveRealTarget(dirname(path)), basename(path));
}
