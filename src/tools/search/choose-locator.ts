import { errnoOf } from '../../lib/errno.ts';
import type { Locator } from './locator.ts';
import { type ChildEnvironment, createRipgrepLocator } from './ripgrep.ts';

/** The bundled ripgrep, the system's where that is missing, and our own walker where there is none. */
export function createLocator(env: ChildEnvironment): Locator {
  return firstAvailable([
    async () => createRipgrepLocator('bundled', await bundledProgram(), env),
    async () => createRipgrepLocator('system', 'rg', env),
    // Loaded only where it is needed.
    async () => (await import('./walker.ts')).createWalkerLocator(),
  ]);
}

/** Tries each in turn until one can be started. */
export function firstAvailable(sources: readonly (() => Promise<Locator>)[]): Locator {
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

async function bundledProgram(): Promise<string> {
  // The package throws when it has no binary for this machine.
  const { rgPath } = await import('@vscode/ripgrep').catch((cause: unknown) => {
    throw Object.assign(new Error('ripgrep is not bundled', { cause }), { code: 'ENOENT' });
  });
  return rgPath;
}

function isMissing(thrown: unknown): boolean {
  const code = errnoOf(thrown);
  return code === 'ENOENT' || code === 'EACCES' || code === 'ENOEXEC' || code === 'ENOTDIR';
}
