import { watch } from 'node:fs';
import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';

const MAX_DEPTH = 4;
const MAX_ENTRIES = 2_000;

/** Creates a detector of changes to files and folders, by their size and modification time. */
export function createFileChangeDetector(paths: readonly string[]) {
  let fingerprint: Promise<string> = createFingerprint(paths);
  return {
    /** Returns whether something changed since the last call. */
    async hasChanged(): Promise<boolean> {
      const before = await fingerprint;
      fingerprint = createFingerprint(paths);
      return before !== (await fingerprint);
    },
    /** Resolves when the state to compare with is known; earlier changes may be missed. */
    async whenReady() {
      await fingerprint;
    },
  };
}

async function createFingerprint(paths: readonly string[]): Promise<string> {
  const lists = await Promise.all(
    paths.map(async (path) => {
      const entries: string[] = [];
      await collectEntries(path, MAX_DEPTH, entries);
      return entries;
    }),
  );
  return lists.flat().join('\n');
}

async function collectEntries(path: string, depth: number, entries: string[]): Promise<void> {
  const stats = await stat(path).catch(() => undefined);
  if (stats === undefined || entries.length > MAX_ENTRIES) return;
  entries.push(`${path} ${stats.mtimeMs} ${stats.size}`);
  if (!stats.isDirectory() || depth === 0) return;
  const names = await readdir(path).catch(() => []);
  for (const name of names.toSorted()) await collectEntries(join(path, name), depth - 1, entries);
}

/** Editors write a file in several steps. */
const DEBOUNCE_MS = 50;

/** Watches a folder or a file in it, with debounced changes, if it exists; returns the stop function. */
export function watchFolder(folder: string, onChange: () => void, file?: string): () => void {
  let timer: ReturnType<typeof setTimeout> | undefined;
  try {
    const watcher = watch(folder, { persistent: false }, (_, name) => {
      if (file !== undefined && name !== null && name !== file) return;
      clearTimeout(timer);
      timer = setTimeout(onChange, DEBOUNCE_MS);
    });
    // The folder was removed.
    watcher.on('error', () => watcher.close());
    return () => {
      clearTimeout(timer);
      watcher.close();
    };
  } catch {
    return () => undefined;
  }
}
