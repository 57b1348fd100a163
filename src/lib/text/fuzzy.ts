import uFuzzy from '@leeoniya/ufuzzy';

/** An item of a list that matches: its place in the list, and which stretches of it to print bold. */
export type Match = { readonly index: number; readonly ranges: readonly (readonly [from: number, to: number])[] };

/** Ranks the items of a list for what was typed, best first. An empty query keeps the order of the list. */
export type Rank = (query: string, items: readonly string[], limit: number) => readonly Match[];

// With more hits than this a ranking costs more than it tells: the shortest are ranked, the rest is left out.
const RANKED = 2000;

/** A ranker for menus and pickers: letters may be left out, across the marks of a path too. */
export function createRank(): Rank {
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
    const wanted = query.trim();
    if (wanted === '') return items.slice(0, limit).map((_, index) => ({ index, ranges: [] }));
    const haystack = [...items];
    const hits = search.filter(haystack, wanted);
    // A query without a letter, such as `../`, is no query for the searcher.
    if (hits === null) return plainMatches(wanted, items, limit);
    const near = hits.length <= RANKED ? hits : shortest(hits, items);
    const info = search.info(near, haystack, wanted);
    return search
      .sort(info, haystack, wanted)
      .slice(0, limit)
      .map((order) => ({ index: info.idx[order] ?? 0, ranges: pairs(info.ranges[order] ?? []) }));
  };
}

function plainMatches(wanted: string, items: readonly string[], limit: number): Match[] {
  const matches: Match[] = [];
  for (const [index, item] of items.entries()) {
    const at = item.indexOf(wanted);
    if (at !== -1) matches.push({ index, ranges: [[at, at + wanted.length]] });
    if (matches.length === limit) break;
  }
  return matches;
}

/** The searcher wants the order of the list kept within what it is given. */
function shortest(hits: readonly number[], items: readonly string[]): number[] {
  const lengthOf = (index: number) => items[index]?.length ?? 0;
  return [...hits]
    .sort((a, b) => lengthOf(a) - lengthOf(b))
    .slice(0, RANKED)
    .sort((a, b) => a - b);
}

function pairs(offsets: readonly number[]): (readonly [number, number])[] {
  const found: (readonly [number, number])[] = [];
  for (let at = 0; at + 1 < offsets.length; at += 2) found.push([offsets[at] ?? 0, offsets[at + 1] ?? 0]);
  return found;
}
