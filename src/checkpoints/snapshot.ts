import { readFileSync } from 'node:fs';
import type { FileBefore } from '../contracts/session.ts';
import type { Pack } from './pack.ts';
import { type Entry, entryAt, type Found, WALK_LIMITS, type WalkLimits, walkWorkspace } from './walk-workspace.ts';

/** What stood in the workspace at one moment, with every content kept. */
export type Snapshot = {
  readonly files: ReadonlyMap<string, FileBefore>;
  /** Folders that were not looked at, and why. */
  readonly unknown: ReadonlyMap<string, string>;
};

/** What is known of a file's content: true as long as its facts are these. */
type Known = { readonly entry: Extract<Entry, { kind: 'file' }>; readonly hash: string; readonly atMs: number };

/** A change within the clock's grain of being read could have the same facts. */
const GRAIN_MS = 50;
const SLICE_MS = 10;

export type Snapshots = {
  take(roots: readonly string[]): Promise<Snapshot>;
  /** One path as it stands now. */
  at(path: string): FileBefore;
  /** Is the path as it was then? */
  isSame(path: string, before: FileBefore): boolean;
};

/** Takes snapshots that read only what has changed since the last one. */
export function createSnapshots(store: Pack, skip: readonly string[], limits: WalkLimits = WALK_LIMITS): Snapshots {
  const known = new Map<string, Known>();

  function keep(path: string, entry: Entry | undefined): FileBefore {
    if (entry === undefined) return { kind: 'absent' };
    if (entry.kind !== 'file') return entry;
    const old = known.get(path);
    if (old !== undefined && isUnchanged(old, entry)) return { kind: 'file', mode: entry.mode, hash: old.hash };
    const atMs = Date.now();
    try {
      const hash = store.put(readFileSync(path));
      known.set(path, { entry, hash, atMs });
      return { kind: 'file', mode: entry.mode, hash };
    } catch {
      return { kind: 'not-kept', why: 'it could not be read or kept' };
    }
  }

  async function keepAll(found: Found): Promise<Map<string, FileBefore>> {
    const files = new Map<string, FileBefore>();
    let sliceEnds = performance.now() + SLICE_MS;
    for (const [path, entry] of found.entries) {
      if (performance.now() > sliceEnds) {
        await new Promise((resolve) => setImmediate(resolve));
        sliceEnds = performance.now() + SLICE_MS;
      }
      files.set(path, keep(path, entry));
    }
    return files;
  }

  const at = (path: string) => keep(path, entryAt(path, limits));

  return {
    async take(roots) {
      const found = await walkWorkspace(roots, skip, limits);
      const files = await keepAll(found);
      store.flush();
      return { files, unknown: found.unknown };
    },
    at,
    isSame: (path, before) => isEqual(at(path), before),
  };
}

function isUnchanged({ entry: old, atMs }: Known, now: Extract<Entry, { kind: 'file' }>): boolean {
  if (old.size !== now.size || old.ino !== now.ino) return false;
  if (old.mtimeMs !== now.mtimeMs || old.ctimeMs !== now.ctimeMs) return false;
  return now.ctimeMs + GRAIN_MS < atMs && now.mtimeMs + GRAIN_MS < atMs;
}

/** Nothing that could be seen has changed. */
export function isEqual(a: FileBefore, b: FileBefore): boolean {
  if (a.kind === 'file') return b.kind === 'file' && a.hash === b.hash && a.mode === b.mode;
  if (a.kind === 'folder') return b.kind === 'folder' && a.mode === b.mode;
  if (a.kind === 'pipe') return b.kind === 'pipe' && a.mode === b.mode;
  if (a.kind === 'link') return b.kind === 'link' && a.target === b.target;
  if (a.kind === 'not-kept') return b.kind === 'not-kept' && a.why === b.why;
  return b.kind === 'absent';
}
