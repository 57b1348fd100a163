import uFuzzy from '@leeoniya/ufuzzy';

/** A matching item: its index in the list, and the ranges of its text to highlight. */
export type FuzzyMatch = { readonly index: number; readonly ranges: readonly (readonly [from: number, to: number])[] };

/** Ranks the items that match a query, best first. An empty query keeps the order of the list. */
export type FuzzyRanker = (query: string, items: readonly string[], limit: number) => readonly FuzzyMatch[];

/** Of more hits only the shortest are ranked: ranking all of them would be slow. */
const MAX_RANKED = 2000;

/** Creates a fuzzy ranker for menus and pickers. A query may omit characters, also across the separators of a path. */
export function createFuzzyRanker(): FuzzyRanker {
  const search = new uFuzzy({
    unicode: true,
    interSplit: "[^\\p{L}\\d']+",
    intraSplit: '\\p{Ll}\\p{Lu}',
    intraBound: '\\p{L}\\d|\\d\\p{L}|\\p{Ll}\\p{Lu}',
    intraChars: '.',
    intraContr: "'\\p{L}{1,2}\\b",
    intraIns: 40,
  });
  return (query, items, limit) => {
    const needle = query.trim();
    if (needle === '') return items.slice(0, limit).map((_, index) => ({ index, ranges: [] }));
    const haystack = [...items];
    const hits = search.filter(haystack, needle);
    // uFuzzy ignores a query without letters, such as `../`.
    if (hits === null) return findSubstring(needle, items, limit);
    const ranked = hits.length <= MAX_RANKED ? hits : takeShortest(hits, items);
    const info = search.info(ranked, haystack, needle);
    return search
      .sort(info, haystack, needle)
      .slice(0, limit)
      .map((order) => ({ index: info.idx[order] ?? 0, ranges: toRanges(info.ranges[order] ?? []) }));
  };
}

function findSubstring(needle: string, items: readonly string[], limit: number): FuzzyMatch[] {
  const matches: FuzzyMatch[] = [];
  for (const [index, item] of items.entries()) {
    const at = item.indexOf(needle);
    if (at !== -1) matches.push({ index, ranges: [[at, at + needle.length]] });
    if (matches.length === limit) break;
  }
  return matches;
}

/** Returns the hits with the shortest texts, in list order as uFuzzy requires. */
function takeShortest(hits: readonly number[], items: readonly string[]): number[] {
  const getLength = (index: number) => items[index]?.length ?? 0;
  return [...hits]
    .sort((a, b) => getLength(a) - getLength(b))
    .slice(0, MAX_RANKED)
    .sort((a, b) => a - b);
}

function toRanges(offsets: readonly number[]): (readonly [number, number])[] {
  const ranges: (readonly [number, number])[] = [];
  for (let at = 0; at + 1 < offsets.length; at += 2) ranges.push([offsets[at] ?? 0, offsets[at + 1] ?? 0]);
  return ranges;
}
