import { randomUUID } from 'node:crypto';
import { mkdirSync, utimesSync } from 'node:fs';
import { chmod, lstat, readdir, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';

/** Caches unused for this long are deleted. */
const MAX_AGE_DAYS = 30;
const DAY_MS = 86_400_000;
/** Marks a cache folder that is being deleted. */
const DELETING = '.old-';

/** Creates the cache folder of a workspace if needed, and marks it as used now. */
export function prepareSandboxCacheFolder(folder: string, nowMs: number): void {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const now = new Date(nowMs);
  utimesSync(folder, now, now);
}

/** Deletes caches of other workspaces unused for a month, and the rest of unfinished deletions. */
export async function deleteOldSandboxCaches(current: string, nowMs: number): Promise<void> {
  const parent = dirname(current);
  for (const name of await readdir(parent)) {
    const folder = join(parent, name);
    if (folder === current) continue;
    const isUnfinished = name.includes(DELETING);
    const entry = await lstat(folder).catch(() => undefined);
    if (entry === undefined || (!isUnfinished && nowMs - entry.mtimeMs < MAX_AGE_DAYS * DAY_MS)) continue;
    const doomed = isUnfinished ? folder : `${folder}${DELETING}${randomUUID().slice(0, 8)}`;
    // Renamed first: a command that starts meanwhile creates a new folder.
    if (!isUnfinished) await rename(folder, doomed);
    await deleteFolder(doomed);
  }
}

/** Deletes a folder, after adding permissions where a sandboxed command removed them. */
export async function deleteFolder(path: string): Promise<void> {
  try {
    await rm(path, { recursive: true, force: true });
  } catch {
    await makeWritable(path);
    await rm(path, { recursive: true, force: true });
  }
}

async function makeWritable(folder: string): Promise<void> {
  if (!(await lstat(folder)).isDirectory()) return;
  await chmod(folder, 0o700);
  for (const { name } of (await readdir(folder, { withFileTypes: true })).filter((entry) => entry.isDirectory()))
    await makeWritable(join(folder, name));
}

/** Environment variables that set the cache folder of package managers, with the subfolder for each. */
const CACHE_VARIABLES = {
  npm_config_cache: 'npm',
  YARN_CACHE_FOLDER: 'yarn',
  BUN_INSTALL_CACHE_DIR: 'bun',
  PIP_CACHE_DIR: 'pip',
  UV_CACHE_DIR: 'uv',
  GOCACHE: 'go-build',
  CCACHE_DIR: 'ccache',
  COMPOSER_CACHE_DIR: 'composer',
  GRADLE_USER_HOME: 'gradle',
} as const;

/** Returns the cache variables for a cache folder, except those that are already set. */
export function createSandboxCacheVariables(folder: string, set: readonly string[]): Readonly<Record<string, string>> {
  const unset = Object.entries(CACHE_VARIABLES).filter(([name]) => !set.includes(name));
  return Object.fromEntries(unset.map(([name, subfolder]) => [name, `${folder}/${subfolder}`]));
}
