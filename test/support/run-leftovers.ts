import { lstatSync, readdirSync, type Stats } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import type { FileRun } from './file-leftovers.ts';
import { livingProcesses, type ProcessFacts, uptimeMs, waitUntilNone } from './processes.ts';
import { WAIT_MS } from './runs.ts';

/** The places that tests may leave files in. */
export type WatchedPlaces = {
  /** Folders in which new names of this user are leftovers. */
  readonly folders: readonly string[];
  /** Folders in which nothing may change. */
  readonly trees: readonly string[];
};

const PLACES: WatchedPlaces = {
  folders: ['/', '/tmp', '/var/tmp', '/dev/shm', tmpdir()],
  trees: [homedir(), join(import.meta.dirname, '../..')],
};
/** Paths that may change in the trees: libraries, builds, their caches, and git's index. */
const NOT_WATCHED = new Set(['node_modules', 'dist', '.npm', 'index']);

/**
 * Watches a run with nothing else beside it: what this user starts or writes meanwhile belongs to a test. Returns a
 * function that describes what is left at the end, with the test files that ran when it was made.
 */
export function watchRun(places = PLACES, waitMs = WAIT_MS): (runs: readonly FileRun[]) => Promise<readonly string[]> {
  const startedMs = uptimeMs();
  const before = readPlaces(places);
  return async (runs) => {
    const processes = await waitUntilNone(() => newProcesses(startedMs), waitMs);
    const bootedAtMs = Date.now() - uptimeMs();
    const after = readPlaces(places);
    return [
      ...processes.map((one) => `process ${one.pid}: ${one.command}${nameFiles(runs, bootedAtMs + one.startedMs)}`),
      ...[...after]
        .filter(([path, { stamp }]) => before.get(path)?.stamp !== stamp)
        .map(([path, { changedMs }]) => `file ${path}${nameFiles(runs, changedMs)}`),
      ...[...before.keys()].filter((path) => !after.has(path)).map((path) => `file ${path}, which was deleted`),
    ];
  };
}

/** Clocks of processes and files are that exact. */
const RESOLUTION_MS = 20;

function nameFiles(runs: readonly FileRun[], atMs: number): string {
  const running = runs.filter(({ fromMs, toMs }) => fromMs - RESOLUTION_MS <= atMs && atMs <= toMs + RESOLUTION_MS);
  return running.length === 0 ? '' : ` (of ${running.map(({ file }) => file).join(' or ')})`;
}

/** Returns processes that have begun since a time, as this user or, for root, as any. */
async function newProcesses(sinceMs: number): Promise<readonly ProcessFacts[]> {
  const living = await livingProcesses();
  return living.filter(({ pid, startedMs }) => startedMs + RESOLUTION_MS > sinceMs && isOwn(lstat(`/proc/${pid}`)));
}

function isOwn(entry: Stats | undefined): boolean {
  const user = process.getuid?.();
  return entry !== undefined && (user === 0 || user === entry.uid);
}

type Entry = { readonly stamp: string; readonly changedMs: number };

function readPlaces({ folders, trees }: WatchedPlaces): ReadonlyMap<string, Entry> {
  const found = new Map<string, Entry>();
  for (const folder of new Set(folders))
    for (const { path, entry } of listEntries(folder))
      if (isOwn(entry)) found.set(path, { stamp: 'exists', changedMs: entry.ctimeMs });
  for (const tree of trees) addTree(tree);
  return found;

  function addTree(folder: string): void {
    for (const { path, entry } of listEntries(folder)) {
      const content = entry.isDirectory() ? '' : `${entry.size} ${entry.mtimeMs}`;
      found.set(path, { stamp: `${entry.mode} ${content}`, changedMs: entry.ctimeMs });
      if (entry.isDirectory()) addTree(path);
    }
  }
}

function listEntries(folder: string): readonly { readonly path: string; readonly entry: Stats }[] {
  return listNames(folder).flatMap((name) => {
    const path = join(folder, name);
    const entry = NOT_WATCHED.has(name) ? undefined : lstat(path);
    return entry === undefined ? [] : [{ path, entry }];
  });
}

function listNames(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

function lstat(path: string): Stats | undefined {
  try {
    return lstatSync(path);
  } catch {
    return undefined;
  }
}
