import { lstatSync, readdirSync, readFileSync, readlinkSync, realpathSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import type { PathKind } from './plan.ts';

/** What stands under a path. */
export function kindOf(path: string): PathKind {
  const entry = lstatSync(path, { throwIfNoEntry: false });
  if (entry === undefined) return 'missing';
  if (entry.isSymbolicLink()) return 'link';
  return entry.isDirectory() ? 'directory' : 'file';
}

const MAX_LINKS = 40;

/** Where it really is, or would be: a link to nothing leads there all the same. What is not there stays as it is spelled. */
export function follow(path: string, links = 0): string {
  try {
    return realpathSync(path);
  } catch {
    if (links >= MAX_LINKS || kindOf(path) !== 'link') return path;
    return follow(resolve(dirname(path), readlinkSync(path)), links + 1);
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

/** What a look through the workspace finds: git folders of repositories, or files that stand for them; what is denied. */
export type Seen = {
  readonly nested: readonly string[];
  readonly hidden: readonly string[];
  readonly kept: readonly string[];
};

type Denied = { readonly [use in 'read' | 'write']: (path: string) => boolean };

/** As deep as one keeps such things. What lies below a place that is found is not looked at. */
export function lookThrough(roots: readonly string[], denied: Denied): Seen {
  const nested: string[] = [];
  const hidden: string[] = [];
  const kept: string[] = [];
  const pending = roots.map((folder) => ({ folder, depth: 0 }));
  for (let at = 0; at < pending.length && at < MAX_FOLDERS; at += 1) {
    const { folder = '', depth = 0 } = pending[at] ?? {};
    const entries = entriesOf(folder);
    if (depth > 0 && entries.some(({ name }) => name === '.git')) nested.push(join(folder, '.git'));
    for (const { name, isFolder } of entries) {
      const path = join(folder, name);
      if (denied.read(path)) hidden.push(path);
      else if (denied.write(path)) kept.push(path);
      else if (isFolder && depth < MAX_DEPTH && !LARGE.includes(name)) pending.push({ folder: path, depth: depth + 1 });
    }
  }
  return { nested, hidden, kept };
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
