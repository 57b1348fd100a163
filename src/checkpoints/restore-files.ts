import { chmodSync } from 'node:fs';
import { dirname, sep } from 'node:path';
import type { CheckpointPathState, RewoundPath } from '../contracts/session.ts';
import { getErrnoCode, getErrorMessage } from '../lib/errors.ts';
import { type FileLocks, FileStaysLocked } from '../lib/files/file-locks.ts';
import { encodeFsPath } from '../lib/files/non-utf8-paths.ts';
import { createEventLoopYielder } from '../lib/promises.ts';
import { formatCount } from '../lib/text/format.ts';
import type { ContentStore } from './content-store.ts';
import {
  isBelowSymlink,
  lstat,
  type RestoreContext,
  removePath,
  restoreFolderAccess,
  restorePath,
} from './restore-path.ts';
import { isSameFileState } from './workspace-snapshot.ts';

/** The outcome of a restore. */
export type RestoreResult = {
  readonly restored: readonly string[];
  readonly removed: readonly string[];
  /** One message per path that could not be restored. */
  readonly problems: readonly string[];
  /** Paths that a later attempt can restore: the system failed, for example on a full disk, or they were not reached. */
  readonly failed: readonly string[];
};

/** A path with the state it was found in, and the state it must get. */
export type PendingRestore = RewoundPath & { readonly after: CheckpointPathState };

/** Dependencies of `restoreFiles`. */
export type RestoreDeps = {
  readonly store: ContentStore;
  readonly captureState: (path: string) => CheckpointPathState;
  /** Folder for notes about unfinished writes. */
  readonly unfinished: string | undefined;
  readonly locks: FileLocks;
};

/**
 * Restores every path from the state it was found in to its recorded state. Never writes through a symbolic link, and
 * never leaves a partial file. Yields to the event loop between paths, so a path that changed meanwhile is left alone,
 * and an abort leaves the rest for a later attempt.
 */
export async function restoreFiles(
  plan: readonly PendingRestore[],
  { store, captureState, unfinished, locks }: RestoreDeps,
  signal: AbortSignal,
): Promise<RestoreResult> {
  const restored: string[] = [];
  const removed: string[] = [];
  const problems: string[] = [];
  const failed = new Set<string>();
  const openedFolders = new Map<string, number>();
  const context: RestoreContext = { store, unfinished, opened: openedFolders };
  const yieldIfDue = createEventLoopYielder();
  let skipped = 0;

  const attempt = (path: string, action: () => void, completed: string[]) => {
    try {
      action();
      completed.push(path);
    } catch (thrown) {
      problems.push(`${path}: ${getErrorMessage(thrown)}`);
      if (getErrnoCode(thrown) !== undefined) failed.add(path);
    }
  };
  const change = async ({ path, before }: PendingRestore, action: () => void, completed: string[]) => {
    if (isChangedMeanwhile(path, before, captureState)) {
      problems.push(`${path}: another program changed it during this undo, so it is left unchanged.`);
      failed.add(path);
    } else attempt(path, action, completed);
  };
  const changeIfFree = async (item: PendingRestore, action: () => void, completed: string[]) => {
    await yieldIfDue();
    if (signal.aborted) {
      skipped += 1;
      failed.add(item.path);
      return;
    }
    try {
      await locks.run([item.path], () => change(item, action, completed), signal);
    } catch (thrown) {
      if (thrown instanceof FileStaysLocked) problems.push(thrown.message);
      else if (signal.aborted) skipped += 1;
      else throw thrown;
      failed.add(item.path);
    }
  };

  for (const { path, after } of plan) {
    if (after.kind === 'not-kept') problems.push(`${path}: its content was not stored (${after.why}).`);
  }
  const sorted = plan.toSorted(deepestFirst);
  // Deepest first, so that folders are empty when they are removed.
  for (const item of sorted) {
    if (item.after.kind === 'absent') await changeIfFree(item, () => removePath(item.path, openedFolders), removed);
  }
  // Outermost first, so that folders exist before their contents.
  for (const item of sorted.toReversed()) {
    const { path, after } = item;
    if (after.kind === 'absent' || after.kind === 'not-kept') continue;
    await changeIfFree(item, () => restorePath(path, after, context), restored);
  }
  // Folder modes last: a read-only folder would have prevented the writes above.
  for (const [path, mode] of openedFolders)
    if (lstat(path) !== undefined) attempt(path, () => chmodSync(encodeFsPath(path), mode), []);
  for (const { path, after } of sorted) {
    if (after.kind === 'folder' && !failed.has(path)) attempt(path, () => restoreFolderAccess(path, after), []);
  }
  if (skipped > 0) problems.unshift(`Stopped: ${formatCount(skipped, 'path')} of ${plan.length} not reached.`);
  const failedOrAbove = addParents(failed);
  return {
    restored,
    removed,
    problems,
    failed: plan.map(({ path }) => path).filter((path) => failedOrAbove.has(path)),
  };
}

/** Tells whether a file is no longer in the state it was found in; hard links change with each other. */
function isChangedMeanwhile(
  path: string,
  found: CheckpointPathState,
  captureState: RestoreDeps['captureState'],
): boolean {
  if (found.kind !== 'file' && found.kind !== 'absent' && found.kind !== 'link') return false;
  if (found.kind === 'file' && (lstat(path)?.nlink ?? 1) > 1) return false;
  // The restore refuses this path with a reason of its own.
  if (isBelowSymlink(dirname(path))) return false;
  return !isSameFileState(captureState(path), found);
}

/** Adds the folders above each path: a folder cannot be removed before the files in it are. */
function addParents(paths: ReadonlySet<string>): ReadonlySet<string> {
  const all = new Set<string>();
  for (const path of paths) {
    for (let at = path; !all.has(at); at = dirname(at)) all.add(at);
  }
  return all;
}

const deepestFirst = ({ path: a }: RewoundPath, { path: b }: RewoundPath) => depth(b) - depth(a) || (a < b ? -1 : 1);
const depth = (path: string) => path.split(sep).length;
