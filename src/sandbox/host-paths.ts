import { lstatSync, readFileSync, readlinkSync, realpathSync, type Stats } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import type { PathKind } from './plan.ts';

export function getPathKind(path: string): PathKind {
  const entry = readEntry(path);
  if (entry === undefined) return 'missing';
  if (entry.isSymbolicLink()) return 'link';
  return entry.isDirectory() ? 'directory' : 'file';
}

function readEntry(path: string): Stats | undefined {
  try {
    return lstatSync(path, { throwIfNoEntry: false });
  } catch {
    // A parent is a file, or not accessible.
    return undefined;
  }
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
      (path) => !allowed.includes(path) && lstatSync(path, { throwIfNoEntry: false })?.isSocket() === true,
    );
  } catch {
    return [];
  }
}
