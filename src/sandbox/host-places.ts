import { lstatSync, readdirSync, readFileSync, realpathSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import type { PathKind } from './plan.ts';

/** What stands under a path. */
export function kindOf(path: string): PathKind {
  const entry = lstatSync(path, { throwIfNoEntry: false });
  if (entry === undefined) return 'missing';
  if (entry.isSymbolicLink()) return 'link';
  return entry.isDirectory() ? 'directory' : 'file';
}

/** Where it really is; what is not there stays as it is spelled. */
export function follow(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}

/** The same, also for what is still to be made: its folder is followed. */
export function placeOf(path: string): string {
  const real = follow(path);
  if (real !== path || dirname(path) === path) return real;
  return join(placeOf(dirname(path)), basename(path));
}

/** Sockets with a place on the disk that somebody listens on, but for these. Nobody can tell which others come later. */
export function socketsBut(allowed: readonly string[]): readonly string[] {
  try {
    const places = readFileSync('/proc/net/unix', 'utf8').matchAll(/ (\/.+)$/gm);
    return [...new Set([...places].map(([, path = '']) => follow(path)))].filter(
      (path) => !allowed.includes(path) && lstatSync(path, { throwIfNoEntry: false })?.isSocket() === true,
    );
  } catch {
    return [];
  }
}

const MAX_DEPTH = 4;
const MAX_FOLDERS = 2_000;
const LARGE = ['node_modules', '.git', 'target', 'dist', 'build', '.venv', 'vendor/bundle'];

/** The git folders of repositories inside of the workspace, or files that stand for them, as deep as one keeps them. */
export function nestedRepositories(roots: readonly string[]): readonly string[] {
  const found: string[] = [];
  const pending = roots.map((folder) => ({ folder, depth: 0 }));
  for (let at = 0; at < pending.length && at < MAX_FOLDERS; at += 1) {
    const { folder = '', depth = 0 } = pending[at] ?? {};
    const entries = entriesOf(folder);
    if (depth > 0 && entries.some(({ name }) => name === '.git')) found.push(join(folder, '.git'));
    if (depth === MAX_DEPTH) continue;
    for (const { name, isFolder } of entries)
      if (isFolder && !LARGE.includes(name)) pending.push({ folder: join(folder, name), depth: depth + 1 });
  }
  return found;
}

function entriesOf(folder: string): readonly { readonly name: string; readonly isFolder: boolean }[] {
  try {
    const entries = readdirSync(folder, { withFileTypes: true });
    return entries.map((entry) => ({ name: entry.name, isFolder: entry.isDirectory() }));
  } catch {
    // Nobody may look into it, or it is gone: nothing in it is a repository for us.
    return [];
  }
}
