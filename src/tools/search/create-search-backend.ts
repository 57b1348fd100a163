import { ToolFailure } from '../../contracts/tool.ts';
import { getErrnoCode } from '../../lib/errors.ts';
import type { MountHealth } from '../../lib/files/mount-health.ts';
import { findBundledRipgrep } from '../../lib/processes/installed-files.ts';
import { abandonOnAbort } from '../../lib/promises.ts';
import { formatDuration } from '../../lib/text/format.ts';
import { createRipgrepBackend, type RipgrepEnvironment } from './ripgrep-backend.ts';
import type { SearchBackend } from './search-backend.ts';

/** A search that takes longer is blocked, by a file in /proc or a dead network drive for example. */
const SEARCH_TIMEOUT_MS = 60_000;

/** Creates the search backend: the bundled ripgrep, else the one of the system, else fast-glob. */
export function createSearchBackend(env: RipgrepEnvironment, bundled = findBundledRipgrep): SearchBackend {
  const sources = [
    async () => createRipgrepBackend('bundled', bundled(), env),
    async () => createRipgrepBackend('system', 'rg', env),
    loadWalkBackend,
  ];
  return limitSearchTime(tryInOrder(sources), SEARCH_TIMEOUT_MS);
}

/** Makes a search backend leave out mounts that do not answer. */
export function excludeHungMounts(backend: SearchBackend, mounts: MountHealth): SearchBackend {
  const select = async (excluded: readonly string[]) => {
    await mounts.check();
    const hung = mounts.listHung();
    // ripgrep looks at the target of each link, even of those that it does not follow.
    const safe = hung.length === 0 ? backend : limitSearchTime(await loadWalkBackend(), SEARCH_TIMEOUT_MS);
    return { safe, excluded: [...excluded, ...hung] };
  };
  return {
    name: backend.name,
    async listFiles(query, take, signal) {
      const { safe, excluded } = await select(query.excluded);
      await safe.listFiles({ ...query, excluded }, take, signal);
    },
    async search(query, take, signal) {
      const { safe, excluded } = await select(query.excluded);
      await safe.search({ ...query, excluded }, take, signal);
    },
  };
}

/** Loads the backend of last resort, which most processes never need. */
async function loadWalkBackend(): Promise<SearchBackend> {
  return (await import('./walk-backend.ts')).createWalkBackend();
}

/**
 * Adds a time limit to a search backend.
 *
 * @internal Exported for tests.
 */
export function limitSearchTime(locator: SearchBackend, limitMs: number): SearchBackend {
  const runWithLimit = async (action: (signal: AbortSignal) => Promise<void>, signal: AbortSignal): Promise<void> => {
    const timeout = AbortSignal.timeout(limitMs);
    const either = AbortSignal.any([signal, timeout]);
    try {
      // A blocked read cannot be cancelled, so it is not awaited.
      await abandonOnAbort(action(either), either);
    } catch (thrown) {
      if (!either.aborted) throw thrown;
    }
    signal.throwIfAborted();
    if (!timeout.aborted) return;
    throw new ToolFailure(
      `The search was ended after ${formatDuration(limitMs)}. Narrow it with path, glob or type, and leave out folders that are slow to read.`,
    );
  };
  return {
    name: locator.name,
    listFiles: (query, take, signal) => runWithLimit((either) => locator.listFiles(query, take, either), signal),
    search: (query, take, signal) => runWithLimit((either) => locator.search(query, take, either), signal),
  };
}

/** Creates a backend that tries each source in turn until one can be started. */
function tryInOrder(sources: readonly (() => Promise<SearchBackend>)[]): SearchBackend {
  let current = 0;
  let chosen: Promise<SearchBackend> | undefined;
  const attempt = async (action: (locator: SearchBackend) => Promise<void>): Promise<void> => {
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
