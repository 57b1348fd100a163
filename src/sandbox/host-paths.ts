import {
  accessSync,
  chmodSync,
  constants,
  lstatSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  rmSync,
  type Stats,
} from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { getErrnoCode } from '../lib/errors.ts';
import { listFolderNames } from '../lib/files/read-or-default.ts';
import type { FolderAccess, PathKind } from './plan.ts';

/** Returns the kind of a path without following links. */
export function getPathKind(path: string): PathKind {
  const entry = lstatIfReachable(path);
  if (entry === undefined) return 'missing';
  if (entry.isSymbolicLink()) return 'link';
  return entry.isDirectory() ? 'directory' : 'file';
}

/** Returns what is at a path; `undefined` if it is missing, or if a parent of it is a file or not accessible. */
export function lstatIfReachable(path: string): Stats | undefined {
  try {
    return lstatSync(path, { throwIfNoEntry: false });
  } catch {
    return undefined;
  }
}

/** Returns whether the user can create entries in an existing folder. */
export function getFolderAccess(folder: string): FolderAccess {
  try {
    accessSync(folder, constants.W_OK | constants.X_OK);
    return 'open';
  } catch (thrown) {
    const isOwn = lstatIfReachable(folder)?.uid === process.getuid?.();
    return isOwn && getErrnoCode(thrown) === 'EACCES' ? 'locked' : 'closed';
  }
}

/** Adds permissions of the owner that a command may have removed. Links are not followed. */
export function addOwnerPermissions(path: string, bits: number): void {
  const entry = lstatIfReachable(path);
  if (entry === undefined || entry.isSymbolicLink() || (entry.mode & bits) === bits) return;
  chmodSync(path, (entry.mode & 0o7777) | bits);
}

/** Deletes what a command left at a path, also if it removed the permissions for that. */
export function forceRemove(path: string): void {
  try {
    rmSync(path, { recursive: true, force: true });
  } catch {
    addOwnerPermissions(dirname(path), 0o700);
    unlockTree(path);
    rmSync(path, { recursive: true, force: true });
  }
}

function unlockTree(folder: string): void {
  if (getPathKind(folder) !== 'directory') return;
  addOwnerPermissions(folder, 0o700);
  for (const name of listFolderNames(folder)) unlockTree(join(folder, name));
}

const MAX_LINKS = 40;

/** Resolves all links of a path, broken ones too. A path that does not exist is returned unchanged. */
export function resolveAllLinks(path: string, links = 0): string {
  // Looked up first: most paths of a plan are missing, and an exception costs ten times as much.
  if (getPathKind(path) === 'missing') return path;
  try {
    return realpathSync(path);
  } catch {
    if (links >= MAX_LINKS || getPathKind(path) !== 'link') return path;
    return resolveAllLinks(resolve(dirname(path), readlinkSync(path)), links + 1);
  }
}

/** Resolves a path that may not exist yet: links of its parent folders are resolved. */
export function resolveFuturePath(path: string): string {
  const real = resolveAllLinks(path);
  if (real !== path || dirname(path) === path) return real;
  return join(resolveFuturePath(dirname(path)), basename(path));
}

/** Lists the listening Unix sockets on disk except the allowed ones. Sockets created later are not included. */
export function listForbiddenSockets(allowed: readonly string[]): readonly string[] {
  try {
    const matches = readFileSync('/proc/net/unix', 'utf8').matchAll(/ (\/.+)$/gm);
    return [...new Set([...matches].map(([, path = '']) => resolveAllLinks(path)))].filter(
      (path) => !allowed.includes(path) && lstatIfReachable(path)?.isSocket() === true,
    );
  } catch {
    return [];
  }
}
