import type { Taker } from '../search/locator.ts';

// Enough to sort by path and to page, little enough to hold.
const MAX_RECORDS = 20_000;
const MAX_CHARS = 8 * 1024 * 1024;

export type Collected = { readonly text: () => string; readonly isCut: () => boolean; readonly take: Taker };

/** Keeps what a search says until there is more than anybody will read; then the search is ended. */
export function createCollector(recordEnd: '\n' | '\0', wantedRecords: number): Collected {
  const limit = Math.max(MAX_RECORDS, wantedRecords);
  const chunks: string[] = [];
  let records = 0;
  let chars = 0;
  let isCut = false;
  return {
    text() {
      const text = chunks.join('');
      // The last record of a search that was ended may be half of one.
      return isCut ? text.slice(0, text.lastIndexOf(recordEnd) + 1) : text;
    },
    isCut: () => isCut,
    take(chunk) {
      chunks.push(chunk);
      chars += chunk.length;
      for (let at = chunk.indexOf(recordEnd); at !== -1; at = chunk.indexOf(recordEnd, at + 1)) records += 1;
      isCut = records > limit || chars > MAX_CHARS;
      return isCut ? 'enough' : 'more';
    },
  };
}
