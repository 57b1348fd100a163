import { readdirSync, statSync } from 'node:fs';
import type { HungMountFinder } from '../lib/files/mount-health.ts';

const MAX_DEPTH = 12;
const MAX_FOLDERS = 2_000;
const SKIPPED_FOLDERS = ['node_modules', '.git', 'target', '.venv'];
/** A folder that changed this shortly before it was read may have changed again with the same time stamp. */
const STAMP_GRANULARITY_MS = 50;
/** The workspace, the folders of toolchains and those of the system are scanned with different tests. */
const MAX_CACHES = 4;

/** The result of a workspace scan. */
export type SandboxFolderScan = {
  /** `.git` paths of nested repositories. */
  readonly nestedGitPaths: readonly string[];
  /** Paths per test that they match. A folder that matches `unreadable` is not entered. */
  readonly unreadablePaths: readonly string[];
  readonly unwritablePaths: readonly string[];
  /** Named pipes, through which a read-only mount still lets data pass. */
  readonly pipes: readonly string[];
};

/** The tests of a scan. `key` changes whenever a test may give another answer for the same path. */
export type FolderScanTests = {
  readonly key: string;
  /** The depth to which folders are entered, if it is less than usual. */
  readonly maxDepth?: number;
  readonly isUnreadable: (path: string, kind: 'file' | 'other') => boolean;
  readonly isUnwritable: (path: string) => boolean;
};

/** Scans folders, to a limited number of folders. */
export type ScanFolders = (roots: readonly string[], tests: FolderScanTests) => SandboxFolderScan;

/** The content of a folder that matters to a scan. Paths are absolute. */
type FolderContent = SandboxFolderScan & { readonly folders: readonly string[] };
type CachedFolder = { readonly stamp: number; readonly readAtMs: number; readonly content: FolderContent };

/** Creates a scanner that reads a folder again only if it has changed, and enters no mount that does not answer. */
export function createFolderScanner(
  now: () => number,
  { findHung }: HungMountFinder = { findHung: () => undefined },
): ScanFolders {
  /** The known folders by the key of the tests, the last used key last. */
  const caches = new Map<string, Map<string, CachedFolder>>();

  function selectCache(key: string): Map<string, CachedFolder> {
    const cache = caches.get(key) ?? new Map<string, CachedFolder>();
    caches.delete(key);
    caches.set(key, cache);
    for (const old of [...caches.keys()].slice(0, -MAX_CACHES)) caches.delete(old);
    return cache;
  }

  function scanFolder(folder: string, tests: FolderScanTests, cache: Map<string, CachedFolder>): FolderContent {
    if (findHung(folder) !== undefined) return EMPTY;
    try {
      const { mtimeMs: stamp } = statSync(folder);
      const known = cache.get(folder);
      if (known?.stamp === stamp && stamp < known.readAtMs - STAMP_GRANULARITY_MS) return known.content;
      const readAtMs = now();
      const content = readFolder(folder, tests);
      cache.set(folder, { stamp, readAtMs, content });
      return content;
    } catch {
      // Unreadable or deleted: nothing in it can be found.
      return EMPTY;
    }
  }

  return (roots, tests) => {
    const cache = selectCache(tests.key);
    const { maxDepth = MAX_DEPTH } = tests;
    const contents: FolderContent[] = [];
    const pending = roots.map((folder) => ({ folder, depth: 0 }));
    for (let index = 0; index < pending.length && index < MAX_FOLDERS; index += 1) {
      const { folder = '', depth = 0 } = pending[index] ?? {};
      const content = scanFolder(folder, tests, cache);
      // The repository of a root itself is not nested.
      contents.push(depth > 0 ? content : { ...content, nestedGitPaths: [] });
      if (depth < maxDepth) for (const inner of content.folders) pending.push({ folder: inner, depth: depth + 1 });
    }
    return {
      nestedGitPaths: contents.flatMap(({ nestedGitPaths }) => nestedGitPaths),
      unreadablePaths: contents.flatMap(({ unreadablePaths }) => unreadablePaths),
      unwritablePaths: contents.flatMap(({ unwritablePaths }) => unwritablePaths),
      pipes: contents.flatMap(({ pipes }) => pipes),
    };
  };
}

const EMPTY: FolderContent = { nestedGitPaths: [], unreadablePaths: [], unwritablePaths: [], pipes: [], folders: [] };

function readFolder(folder: string, tests: FolderScanTests): FolderContent {
  const found = { nestedGitPaths: [], unreadablePaths: [], unwritablePaths: [], pipes: [], folders: [] };
  const content: { readonly [name in keyof FolderContent]: string[] } = found;
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = `${folder === '/' ? '' : folder}/${entry.name}`;
    if (entry.name === '.git') content.nestedGitPaths.push(path);
    if (tests.isUnreadable(path, entry.isFile() ? 'file' : 'other')) content.unreadablePaths.push(path);
    else if (tests.isUnwritable(path)) content.unwritablePaths.push(path);
    else if (entry.isFIFO()) content.pipes.push(path);
    else if (entry.isDirectory() && !SKIPPED_FOLDERS.includes(entry.name)) content.folders.push(path);
  }
  return content;
}
