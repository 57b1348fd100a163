import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** Returns the root of the repository that encloses a folder, or the folder itself. Runs nothing. */
export function findRepositoryRoot(folder: string): string {
  return findEnclosingRepository(folder) ?? folder;
}

/** Returns the root of the repository that encloses a folder; `undefined` outside of one. */
export function findEnclosingRepository(folder: string): string | undefined {
  for (let at = folder; ; at = dirname(at)) {
    if (existsSync(join(at, '.git'))) return at;
    if (at === dirname(at)) return undefined;
  }
}
