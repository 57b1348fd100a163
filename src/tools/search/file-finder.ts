import { createLazy } from '../../lib/memoize.ts';
import type { FileSearchBackend } from './search-backend.ts';

const MAX_PATHS = 100_000;
/** Age after which the list is read again in the background; the old list is used meanwhile. */
const MAX_AGE_MS = 5_000;
/** Prefix after the `@` that selects files excluded by .gitignore. */
const IGNORED_PREFIX = '!';

/** Creates the file search of the `@` menu, with an index that is built on first use and refreshed in the background. */
export function createFileFinder(locator: FileSearchBackend, root: string, now: () => number) {
  // Loaded for the first search: the start needs neither the module nor its patterns.
  const loadRanker = createLazy(async () => (await import('../../lib/text/fuzzy-search.ts')).createFuzzyRanker());
  const index = createIndex(() => listFiles(locator, root, 'plain'), now);
  const ignoredIndex = createIndex(async () => {
    const [all, indexedPaths] = await Promise.all([listFiles(locator, root, 'all'), index()]);
    const others = new Set(indexedPaths);
    return all.filter((path) => !others.has(path));
  }, now);

  return async (query: string, limit: number): Promise<readonly string[]> => {
    const isIgnored = query.startsWith(IGNORED_PREFIX);
    const list = await (isIgnored ? ignoredIndex() : index());
    const text = isIgnored ? query.slice(IGNORED_PREFIX.length) : query;
    const rank = await loadRanker();
    return rank(text, list, limit).flatMap(({ index }) => list[index] ?? []);
  };
}

/** Creates a list that is read on first use and refreshed in the background when it is old. */
function createIndex(readPaths: () => Promise<readonly string[]>, now: () => number) {
  let paths: readonly string[] | undefined;
  let readAt = 0;
  let reading: Promise<readonly string[]> | undefined;

  async function refresh(): Promise<readonly string[]> {
    paths = await readPaths();
    readAt = now();
    return paths;
  }

  return async (): Promise<readonly string[]> => {
    if (paths === undefined || now() - readAt > MAX_AGE_MS) {
      reading ??= refresh().finally(() => {
        reading = undefined;
      });
    }
    return paths ?? (await reading) ?? [];
  };
}

async function listFiles(locator: FileSearchBackend, root: string, which: 'plain' | 'all'): Promise<readonly string[]> {
  const found: string[] = [];
  let partialLine = '';
  const onChunk = (text: string) => {
    const lines = (partialLine + text).split('\n');
    partialLine = lines.pop() ?? '';
    for (const line of lines) if (line !== '') found.push(line);
    return found.length < MAX_PATHS ? 'more' : 'enough';
  };
  const query = which === 'all' ? ({ root, excluded: [], ignored: 'listed' } as const) : { root, excluded: [] };
  await locator.listFiles(query, onChunk, new AbortController().signal).catch(() => undefined);
  if (partialLine !== '') found.push(partialLine);
  return found.toSorted();
}
