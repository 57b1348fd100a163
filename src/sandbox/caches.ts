import { randomUUID } from 'node:crypto';
import { mkdirSync, utimesSync } from 'node:fs';
import { chmod, lstat, readdir, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';

/** What no command of a workspace has used for so long is brought anew more cheaply than it is kept. */
const CACHE_DAYS = 30;
const DAY_MS = 86_400_000;
const LEAVING = '.old-';

/** A command is about to use these caches: they are there, and they are not old. */
export function touchCaches(folder: string, nowMs: number): void {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const now = new Date(nowMs);
  utimesSync(folder, now, now);
}

/** Deletes the caches of other workspaces that nothing used for a month, and what an earlier try has left of some. */
export async function clearOldCaches(own: string, nowMs: number): Promise<void> {
  const all = dirname(own);
  for (const name of await readdir(all)) {
    const folder = join(all, name);
    if (folder === own) continue;
    const isLeft = name.includes(LEAVING);
    const entry = await lstat(folder).catch(() => undefined);
    if (entry === undefined || (!isLeft && nowMs - entry.mtimeMs < CACHE_DAYS * DAY_MS)) continue;
    const gone = isLeft ? folder : `${folder}${LEAVING}${randomUUID().slice(0, 8)}`;
    // Out of the way in one step: who begins to use it from now on begins with a new one.
    if (!isLeft) await rename(folder, gone);
    await removeAll(gone);
  }
}

/** What was made in a box may be closed to everybody; it is ours all the same. */
async function removeAll(path: string): Promise<void> {
  try {
    await rm(path, { recursive: true, force: true });
  } catch {
    await openUp(path);
    await rm(path, { recursive: true, force: true });
  }
}

async function openUp(folder: string): Promise<void> {
  if (!(await lstat(folder)).isDirectory()) return;
  await chmod(folder, 0o700);
  for (const { name } of (await readdir(folder, { withFileTypes: true })).filter((entry) => entry.isDirectory()))
    await openUp(join(folder, name));
}
