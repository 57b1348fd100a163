import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** The top of the repository a folder is in, by where `.git` lies; the folder itself outside of one. Runs nothing. */
export function repositoryRoot(folder: string): string {
  return enclosingRepository(folder) ?? folder;
}

/** The same, and nothing outside of one. */
export function enclosingRepository(folder: string): string | undefined {
  for (let at = folder; ; at = dirname(at)) {
    if (existsSync(join(at, '.git'))) return at;
    if (at === dirname(at)) return undefined;
  }
}
