import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import type { CheckpointPathState, FileAccessMetadata } from '../contracts/session.ts';
import { readExtendedAttributes } from '../lib/files/extended-attributes.ts';
import { createMountHealth, type MountHealth } from '../lib/files/mount-health.ts';
import { encodeFsPath } from '../lib/files/non-utf8-paths.ts';
import { removeIfExists, type SingleFileContentStore } from './content-store.ts';
import {
  readWorkspaceEntry,
  WORKSPACE_WALK_LIMITS,
  type WorkspaceEntry,
  type WorkspaceWalkLimits,
  type WorkspaceWalkResult,
  walkWorkspace,
} from './walk-workspace.ts';

/** The state of the workspace at one moment; every content is stored. */
export type WorkspaceSnapshot = {
  readonly files: ReadonlyMap<string, CheckpointPathState>;
  /** Folders that were skipped, with the reason. */
  readonly unknown: ReadonlyMap<string, string>;
};

/** The stored state of a file, valid as long as its metadata is unchanged. */
type CachedFile = {
  readonly entry: Extract<WorkspaceEntry, { kind: 'file' }>;
  readonly state: Extract<CheckpointPathState, { kind: 'file' }>;
  readonly atMs: number;
};

/** A change this close to the read could leave the same timestamps. */
const CLOCK_RESOLUTION_MS = 50;
const SLICE_MS = 10;

/** Captures the state of files. */
export type WorkspaceSnapshotTaker = ReturnType<typeof createWorkspaceSnapshotTaker>;

/** Creates a snapshot taker that reads only files whose metadata changed since they were last read. */
export function createWorkspaceSnapshotTaker(
  store: SingleFileContentStore,
  skip: readonly string[],
  limits: WorkspaceWalkLimits = WORKSPACE_WALK_LIMITS,
  mounts: MountHealth = createMountHealth(),
) {
  const cache = new Map<string, CachedFile>();

  function captureState(path: string, entry: WorkspaceEntry | undefined): CheckpointPathState {
    if (entry === undefined) return { kind: 'absent' };
    if (entry.kind === 'link' || entry.kind === 'not-kept') return entry;
    if (entry.kind !== 'file') return { ...entry, ...readAttributes(path) };
    const cached = cache.get(path);
    if (cached !== undefined && isUnchanged(cached, entry)) return cached.state;
    const atMs = Date.now();
    try {
      const hash = store.put(readFileSync(encodeFsPath(path)));
      const state = { kind: 'file', mode: entry.mode, hash, owner: entry.owner, ...readAttributes(path) } as const;
      cache.set(path, { entry, state, atMs });
      return state;
    } catch {
      return { kind: 'not-kept', why: 'it could not be read or stored' };
    }
  }

  async function captureAll(found: WorkspaceWalkResult): Promise<Map<string, CheckpointPathState>> {
    const files = new Map<string, CheckpointPathState>();
    let sliceEnds = performance.now() + SLICE_MS;
    for (const [path, entry] of found.entries) {
      if (performance.now() > sliceEnds) {
        await new Promise((resolve) => setImmediate(resolve));
        sliceEnds = performance.now() + SLICE_MS;
      }
      files.set(path, captureState(path, entry));
    }
    return files;
  }

  /** Returns the current state of one path. */
  const captureAt = (path: string) => captureState(path, readWorkspaceEntry(path, limits));

  return {
    async take(roots: readonly string[]): Promise<WorkspaceSnapshot> {
      const found = await walkWorkspace(roots, skip, limits, mounts);
      const files = await captureAll(found);
      store.flush();
      return { files, unknown: found.unknown };
    },
    captureState: captureAt,
    /** Tells whether a path is still in this state. */
    isInState: (path: string, before: CheckpointPathState): boolean => isSameFileState(captureAt(path), before),
  };
}

function isUnchanged({ entry: cached, atMs }: CachedFile, current: Extract<WorkspaceEntry, { kind: 'file' }>): boolean {
  if (cached.size !== current.size || cached.ino !== current.ino) return false;
  if (cached.mtimeMs !== current.mtimeMs || cached.ctimeMs !== current.ctimeMs) return false;
  return current.ctimeMs + CLOCK_RESOLUTION_MS < atMs && current.mtimeMs + CLOCK_RESOLUTION_MS < atMs;
}

function readAttributes(path: string): Pick<FileAccessMetadata, 'attributes'> {
  const found = [...readExtendedAttributes(path)].toSorted(([a], [b]) => (a < b ? -1 : 1));
  if (found.length === 0) return {};
  return { attributes: Object.fromEntries(found.map(([name, value]) => [name, value.toString('base64')])) };
}

/** Tells whether two states of a path are equal. */
export function isSameFileState(a: CheckpointPathState, b: CheckpointPathState): boolean {
  if (a.kind === 'file') return b.kind === 'file' && a.hash === b.hash && isSameFileAccess(a, b);
  if (a.kind === 'folder') return b.kind === 'folder' && isSameFileAccess(a, b);
  if (a.kind === 'pipe') return b.kind === 'pipe' && isSameFileAccess(a, b);
  if (a.kind === 'link') return b.kind === 'link' && a.target === b.target;
  if (a.kind === 'not-kept') return b.kind === 'not-kept' && a.why === b.why;
  return b.kind === 'absent';
}

/** Compares mode, owner and attributes; an owner that was not recorded counts as equal. */
export function isSameFileAccess(a: FileAccessMetadata, b: FileAccessMetadata): boolean {
  if (a.mode !== b.mode) return false;
  if (a.owner === undefined || b.owner === undefined) return true;
  return a.owner === b.owner && JSON.stringify(a.attributes) === JSON.stringify(b.attributes);
}

/** Snapshots stored on disk while their command runs, so that a crash does not lose them. */
export type SnapshotManifests = ReturnType<typeof createSnapshotManifests>;

const accessFields = {
  mode: z.number(),
  owner: z.string().exactOptional(),
  attributes: z.record(z.string(), z.string()).exactOptional(),
};

const fileBefore = z.lazy(() =>
  z.discriminatedUnion('kind', [
    z.object({ kind: z.literal('absent') }),
    z.object({ kind: z.literal('file'), hash: z.string(), ...accessFields }),
    z.object({ kind: z.literal('link'), target: z.string() }),
    z.object({ kind: z.literal('folder'), ...accessFields }),
    z.object({ kind: z.literal('pipe'), ...accessFields }),
    z.object({ kind: z.literal('not-kept'), why: z.string() }),
  ]),
);

const manifest = z.lazy(() =>
  z.object({
    files: z.array(z.tuple([z.string(), fileBefore])),
    unknown: z.array(z.tuple([z.string(), z.string()])),
  }),
);

/** Creates the manifest files of a session in `folder`. */
export function createSnapshotManifests(folder: string) {
  const pathOf = (name: string) => join(folder, `${name}.json`);
  return {
    save(name: string, { files, unknown }: WorkspaceSnapshot) {
      mkdirSync(folder, { recursive: true, mode: 0o700 });
      writeFileSync(pathOf(name), JSON.stringify({ files: [...files], unknown: [...unknown] }), { mode: 0o600 });
    },
    load(name: string): WorkspaceSnapshot | undefined {
      try {
        const parsed = manifest.parse(JSON.parse(readFileSync(pathOf(name), 'utf8')));
        return { files: new Map(parsed.files), unknown: new Map(parsed.unknown) };
      } catch {
        // Missing or incomplete: the command had not started.
        return undefined;
      }
    },
    drop: (name: string) => removeIfExists(pathOf(name)),
  };
}
