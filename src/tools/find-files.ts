import { createRank } from '../lib/text/fuzzy.ts';
import type { Locator } from './search/locator.ts';

const MAX_PATHS = 100_000;
/** After this long the list is read anew in the background; the old one serves meanwhile. */
const FRESH_MS = 5_000;
/** Behind the `@`: the files that .gitignore leaves out. */
const IGNORED_SIGN = '!';

/** Paths for the `@` menu: an index that is built when first wanted and kept fresh behind the scenes. */
export function createFindFiles(locator: Locator, root: string, now: () => number) {
  const rank = createRank();
  const known = createIndex(() => listed(locator, root, 'plain'), now);
  const ignored = createIndex(async () => {
    const [all, plain] = await Promise.all([listed(locator, root, 'all'), known()]);
    const others = new Set(plain);
    return all.filter((path) => !others.has(path));
  }, now);

  return async (query: string, limit: number): Promise<readonly string[]> => {
    const isIgnored = query.startsWith(IGNORED_SIGN);
    const list = await (isIgnored ? ignored() : known());
    const words = isIgnored ? query.slice(IGNORED_SIGN.length) : query;
    return rank(words, list, limit).flatMap(({ index }) => list[index] ?? []);
  };
}

/** A list that is read when first wanted, and again behind the scenes when it is old. */
function createIndex(read: () => Promise<readonly string[]>, now: () => number) {
  let paths: readonly string[] | undefined;
  let readAt = 0;
  let reading: Promise<readonly string[]> | undefined;

  async function readAgain(): Promise<readonly string[]> {
    paths = await read();
    readAt = now();
    return paths;
  }

  return async (): Promise<readonly string[]> => {
    if (paths === undefined || now() - readAt > FRESH_MS) {
      reading ??= readAgain().finally(() => {
        reading = undefined;
      });
    }
    return paths ?? (await reading) ?? [];
  };
}

async function listed(locator: Locator, root: string, which: 'plain' | 'all'): Promise<readonly string[]> {
  const found: string[] = [];
  let rest = '';
  const take = (text: string) => {
    const lines = (rest + text).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) if (line !== '') found.push(line);
    return found.length < MAX_PATHS ? 'more' : 'enough';
  };
  const query = which === 'all' ? ({ root, excluded: [], ignored: 'listed' } as const) : { root, excluded: [] };
  await locator.listFiles(query, take, new AbortController().signal).catch(() => undefined);
  if (rest !== '') found.push(rest);
  return found.toSorted();
}
