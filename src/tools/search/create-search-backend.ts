import { readdir, stat } from 'node:fs/promises';
import { dirname, join, sep } from 'node:path';
import { ToolFailure } from '../../contracts/tool.ts';
import { getErrnoCode } from '../../lib/errors.ts';
import type { MountHealth } from '../../lib/files/mount-health.ts';
import { findBundledRipgrep } from '../../lib/processes/installed-files.ts';
import { resolveUndefinedOnAbort } from '../../lib/promises.ts';
import { formatDuration } from '../../lib/text/format.ts';
import { IGNORE_FILES } from '../../permissions/paths/search-exclusions.ts';
import { createRipgrepBackend, type RipgrepEnvironment } from './ripgrep-backend.ts';
import type { FileSearchBackend } from './search-backend.ts';

/** A search that takes longer is blocked, by a file in /proc or a dead network drive for example. */
const SEARCH_TIMEOUT_MS = 60_000;
/** A search that takes longer may wait for a pipe in place of an ignore file; most take milliseconds. */
const SLOW_AFTER_MS = 3_000;

/** Creates the search backend: the bundled ripgrep, else the one of the system, else fast-glob. */
export function createSearchBackend(
  env: RipgrepEnvironment,
  bundled = findBundledRipgrep,
  slowAfterMs = SLOW_AFTER_MS,
): FileSearchBackend {
  const sources = [
    async () => createRipgrepBackend('bundled', bundled(), env),
    async () => createRipgrepBackend('system', 'rg', env),
    loadWalkBackend,
  ];
  const found = new Set<string>();
  const mayBlock = async (root: string) =>
    (await hasBlockingIgnoreFile(root)) || (await hasAsync([...found].filter(isBelow(root)), isBlocking));
  const watched = endIfBlocked(tryInOrder(sources), slowAfterMs, (path) => found.add(path));
  return walkWhere(mayBlock, limitSearchTime(watched, SEARCH_TIMEOUT_MS));
}

/** Makes a search backend leave out mounts that do not answer. */
export function excludeHungMountsFromSearch(backend: FileSearchBackend, mounts: MountHealth): FileSearchBackend {
  // ripgrep looks at the target of each link, even of those that it does not follow.
  const safe = walkWhere(async () => {
    await mounts.check();
    return mounts.listHung().length > 0;
  }, backend);
  const exclude = async (excluded: readonly string[]) => {
    await mounts.check();
    return [...excluded, ...mounts.listHung()];
  };
  return {
    name: backend.name,
    listFiles: async (query, take, signal) =>
      safe.listFiles({ ...query, excluded: await exclude(query.excluded) }, take, signal),
    search: async (query, take, signal) =>
      safe.search({ ...query, excluded: await exclude(query.excluded) }, take, signal),
  };
}

/** Replaces a backend by the one of last resort in folders where it could block. */
function walkWhere(mayBlock: (root: string) => Promise<boolean>, backend: FileSearchBackend): FileSearchBackend {
  const select = async (root: string) =>
    (await mayBlock(root)) ? limitSearchTime(await loadWalkBackend(), SEARCH_TIMEOUT_MS) : backend;
  return {
    name: backend.name,
    listFiles: async (query, take, signal) => (await select(query.root)).listFiles(query, take, signal),
    search: async (query, take, signal) => (await select(query.root)).search(query, take, signal),
  };
}

/** Tells whether an ignore file in or above a folder is a pipe or a device, for which ripgrep would wait for ever. */
async function hasBlockingIgnoreFile(root: string): Promise<boolean> {
  const parent = dirname(root);
  const files = [...IGNORE_FILES, '.git/info/exclude'].map((name) => join(root, name));
  if (await hasAsync(files, isBlocking)) return true;
  return parent === root ? false : hasBlockingIgnoreFile(parent);
}

async function isBlocking(path: string): Promise<boolean> {
  const found = await stat(path).catch(() => undefined);
  return found !== undefined && !found.isFile() && !found.isDirectory();
}

async function hasAsync(paths: readonly string[], matches: (path: string) => Promise<boolean>): Promise<boolean> {
  return (await Promise.all(paths.map(matches))).includes(true);
}

const isBelow = (root: string) => (path: string) => path.startsWith(root.endsWith(sep) ? root : `${root}${sep}`);

/** Ends a slow search if it waits for a pipe or device in place of an ignore file. */
function endIfBlocked(
  backend: FileSearchBackend,
  slowAfterMs: number,
  onFound: (path: string) => void,
): FileSearchBackend {
  return wrapSearches(backend, async (root, action, signal) => {
    const end = new AbortController();
    const timer = setTimeout(async () => {
      const path = await findBlockingIgnoreFile(root, end.signal);
      if (path === undefined || end.signal.aborted) return;
      onFound(path);
      end.abort(
        new ToolFailure(`The search waited for ${path}, which is a pipe or device. Search again: it is not read then.`),
      );
    }, slowAfterMs);
    try {
      await action(AbortSignal.any([signal, end.signal]));
    } finally {
      clearTimeout(timer);
      end.abort();
    }
  });
}

/** Finds an ignore file below a folder that is a pipe or a device. */
async function findBlockingIgnoreFile(root: string, signal: AbortSignal): Promise<string | undefined> {
  const folders = [root];
  for (let folder = folders.pop(); folder !== undefined && !signal.aborted; folder = folders.pop()) {
    const entries = await readdir(folder, { withFileTypes: true }).catch(() => []);
    for (const entry of entries) {
      const path = join(folder, entry.name);
      if (entry.isDirectory()) folders.push(path);
      else if (IGNORE_FILES.includes(entry.name) && (await isBlocking(path))) return path;
    }
  }
  return undefined;
}

/** Loads the backend of last resort, which most processes never need. */
const loadWalkBackend = async (): Promise<FileSearchBackend> => (await import('./walk-backend.ts')).createWalkBackend();

/** Adds a time limit to a search backend. @internal Exported for tests. */
export function limitSearchTime(locator: FileSearchBackend, limitMs: number): FileSearchBackend {
  return wrapSearches(locator, async (_, action, signal) => {
    const timeout = AbortSignal.timeout(limitMs);
    const either = AbortSignal.any([signal, timeout]);
    try {
      // A blocked read cannot be cancelled, so it is not awaited.
      await resolveUndefinedOnAbort(action(either), either);
    } catch (thrown) {
      if (!either.aborted) throw thrown;
    }
    signal.throwIfAborted();
    if (!timeout.aborted) return;
    throw new ToolFailure(
      `The search was ended after ${formatDuration(limitMs)}. Narrow it with path, glob or type, and leave out folders that are slow to read.`,
    );
  });
}

/** Runs every search of a backend through a function, with its folder. */
function wrapSearches(
  backend: FileSearchBackend,
  run: (root: string, action: (signal: AbortSignal) => Promise<void>, signal: AbortSignal) => Promise<void>,
): FileSearchBackend {
  return {
    name: backend.name,
    listFiles: (query, take, signal) => run(query.root, (inner) => backend.listFiles(query, take, inner), signal),
    search: (query, take, signal) => run(query.root, (inner) => backend.search(query, take, inner), signal),
  };
}

/** Creates a backend that tries each source in turn until one can be started. */
function tryInOrder(sources: readonly (() => Promise<FileSearchBackend>)[]): FileSearchBackend {
  let current = 0;
  let chosen: Promise<FileSearchBackend> | undefined;
  const attempt = async (action: (locator: FileSearchBackend) => Promise<void>): Promise<void> => {
    const source = sources[current];
    if (source === undefined) throw new Error('No search backend is available.');
    const attempted = current;
    try {
      chosen ??= source();
      await action(await chosen);
    } catch (thrown) {
      if (!isMissing(thrown)) throw thrown;
      // A parallel search may have switched to the next source already.
      if (current === attempted) {
        current += 1;
        chosen = undefined;
      }
      await attempt(action);
    }
  };
  return {
    name: 'first available',
    listFiles: (query, take, signal) => attempt((locator) => locator.listFiles(query, take, signal)),
    search: (query, take, signal) => attempt((locator) => locator.search(query, take, signal)),
  };
}

function isMissing(thrown: unknown): boolean {
  const code = getErrnoCode(thrown);
  return code === 'ENOENT' || code === 'EACCES' || code === 'ENOEXEC' || code === 'ENOTDIR';
}
