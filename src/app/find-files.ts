import { createRank } from '../lib/fuzzy.ts';
import type { Locator } from '../tools/search/locator.ts';

const MAX_PATHS = 100_000;
/** After this long the list is read anew in the background; the old one serves meanwhile. */
const FRESH_MS = 5_000;

/** Paths for the `@` menu: an index that is built when first wanted and kept fresh behind the scenes. */
export function createFindFiles(locator: Locator, root: string, now: () => number) {
  const rank = createRank();
  let paths: readonly string[] | undefined;
  let readAt = 0;
  let reading: Promise<readonly string[]> | undefined;

  async function read(): Promise<readonly string[]> {
    const found: string[] = [];
    let rest = '';
    const take = (text: string) => {
      const lines = (rest + text).split('\n');
      rest = lines.pop() ?? '';
      for (const line of lines) if (line !== '') found.push(line);
      return found.length < MAX_PATHS ? 'more' : 'enough';
    };
    await locator.listFiles({ root, excluded: [] }, take, new AbortController().signal).catch(() => undefined);
    if (rest !== '') found.push(rest);
    paths = found.toSorted();
    readAt = now();
    return paths;
  }

  return async (query: string, limit: number): Promise<readonly string[]> => {
    if (paths === undefined || now() - readAt > FRESH_MS) {
      reading ??= read().finally(() => {
        reading = undefined;
      });
    }
    const list = paths ?? (await reading) ?? [];
    return rank(query, list, limit).flatMap(({ index }) => list[index] ?? []);
  };
}
