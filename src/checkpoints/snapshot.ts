import { readFileSync } from 'node:fs';
import type { FileAccess, FileBefore } from '../contracts/session.ts';
import { attributesOf } from '../lib/files/attributes.ts';
import { diskPath } from '../lib/files/byte-names.ts';
import type { Pack } from './pack.ts';
import { type Entry, entryAt, type Found, WALK_LIMITS, type WalkLimits, walkWorkspace } from './walk-workspace.ts';

/** What stood in the workspace at one moment, with every content kept. */
export type Snapshot = {
  readonly files: ReadonlyMap<string, FileBefore>;
  /** Folders that were not looked at, and why. */
  readonly unknown: ReadonlyMap<string, string>;
};

/** What is known of a file's content: true as long as its facts are these. */
type Known = {
  readonly entry: Extract<Entry, { kind: 'file' }>;
  readonly state: Extract<FileBefore, { kind: 'file' }>;
  readonly atMs: number;
};

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
    if (entry.kind === 'link' || entry.kind === 'not-kept') return entry;
    if (entry.kind !== 'file') return { ...entry, ...attributesAt(path) };
    const old = known.get(path);
    if (old !== undefined && isUnchanged(old, entry)) return old.state;
    const atMs = Date.now();
    try {
      const hash = store.put(readFileSync(diskPath(path)));
      const state = { kind: 'file', mode: entry.mode, hash, owner: entry.owner, ...attributesAt(path) } as const;
      known.set(path, { entry, state, atMs });
      return state;
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

function attributesAt(path: string): Pick<FileAccess, 'attributes'> {
  const found = [...attributesOf(path)].toSorted(([a], [b]) => (a < b ? -1 : 1));
  if (found.length === 0) return {};
  return { attributes: Object.fromEntries(found.map(([name, value]) => [name, value.toString('base64')])) };
}

/** Nothing that could be seen has changed. */
export function isEqual(a: FileBefore, b: FileBefore): boolean {
  if (a.kind === 'file') return b.kind === 'file' && a.hash === b.hash && isSameAccess(a, b);
  if (a.kind === 'folder') return b.kind === 'folder' && isSameAccess(a, b);
  if (a.kind === 'pipe') return b.kind === 'pipe' && isSameAccess(a, b);
  if (a.kind === 'link') return b.kind === 'link' && a.target === b.target;
  if (a.kind === 'not-kept') return b.kind === 'not-kept' && a.why === b.why;
  return b.kind === 'absent';
}

/** What was not written down is taken to be the same. */
export function isSameAccess(a: FileAccess, b: FileAccess): boolean {
  if (a.mode !== b.mode) return false;
  if (a.owner === undefined || b.owner === undefined) return true;
  return a.owner === b.owner && JSON.stringify(a.attributes) === JSON.stringify(b.attributes);
}
