import { ToolFailure } from '../../contracts/tool.ts';
import { untilAborted } from '../../lib/abort.ts';
import { errnoOf } from '../../lib/files/errno.ts';
import { bundledRipgrep } from '../../lib/processes/installed-file.ts';
import { formatDuration } from '../../lib/text/format.ts';
import type { Locator } from './locator.ts';
import { type ChildEnvironment, createRipgrepLocator } from './ripgrep.ts';

/** A search that takes longer than this is waiting for something (a file of /proc, a dead network drive). */
const LIMIT_MS = 60_000;

/** The bundled ripgrep, the system's where that is missing, and fast-glob where there is none. */
export function createLocator(env: ChildEnvironment, bundled = bundledRipgrep): Locator {
  const sources = [
    async () => createRipgrepLocator('bundled', bundled(), env),
    async () => createRipgrepLocator('system', 'rg', env),
    // Loaded only where it is needed.
    async () => (await import('./walker.ts')).createWalkerLocator(),
  ];
  return withTimeLimit(firstAvailable(sources), LIMIT_MS);
}

/**
 * The same locator, that always comes back.
 * @internal Exported for tests.
 */
export function withTimeLimit(locator: Locator, limitMs: number): Locator {
  const limited = async (work: (signal: AbortSignal) => Promise<void>, signal: AbortSignal): Promise<void> => {
    const limit = AbortSignal.timeout(limitMs);
    const both = AbortSignal.any([signal, limit]);
    try {
      // A read that hangs cannot be told to stop; nobody waits for it.
      await untilAborted(work(both), both);
    } catch (thrown) {
      if (!both.aborted) throw thrown;
    }
    signal.throwIfAborted();
    if (!limit.aborted) return;
    throw new ToolFailure(
      `The search was ended after ${formatDuration(limitMs)}. Narrow it with path, glob or type, and leave out folders that are slow to read.`,
    );
  };
  return {
    name: locator.name,
    listFiles: (query, take, signal) => limited((both) => locator.listFiles(query, take, both), signal),
    search: (query, take, signal) => limited((both) => locator.search(query, take, both), signal),
  };
}

/** Tries each in turn until one can be started. */
function firstAvailable(sources: readonly (() => Promise<Locator>)[]): Locator {
  let current = 0;
  let chosen: Promise<Locator> | undefined;
  const attempt = async (work: (locator: Locator) => Promise<void>): Promise<void> => {
    const source = sources[current];
    if (source === undefined) throw new Error('No way to search files is available.');
    const tried = current;
    try {
      chosen ??= source();
      await work(await chosen);
    } catch (thrown) {
      if (!isMissing(thrown)) throw thrown;
      // Somebody else may have moved on already.
      if (current === tried) {
        current += 1;
        chosen = undefined;
      }
      await attempt(work);
    }
  };
  return {
    name: 'first available',
    listFiles: (query, take, signal) => attempt((locator) => locator.listFiles(query, take, signal)),
    search: (query, take, signal) => attempt((locator) => locator.search(query, take, signal)),
  };
}

function isMissing(thrown: unknown): boolean {
  const code = errnoOf(thrown);
  return code === 'ENOENT' || code === 'EACCES' || code === 'ENOEXEC' || code === 'ENOTDIR';
}
