import type { LineEnding } from '../../lib/text/lines.ts';

/** A text with every line ending folded to `\n`, and the way back to where things really are. */
export type FoldedText = {
  readonly text: string;
  /** Where a place in the folded text is in the original. */
  toOriginal(at: number): number;
  /** The endings between two places of the folded text, in order. */
  endingsWithin(from: number, to: number): readonly LineEnding[];
  /** The ending a new line at this place should have. */
  endingNear(at: number): LineEnding;
};

/** Folds CRLF, and a lone CR where the text has no other ending. */
export function foldText(original: string): FoldedText {
  const onlyCr = !original.includes('\n') && original.includes('\r');
  if (onlyCr) return plainFold(original.replaceAll('\r', '\n'), '\r');
  if (!original.includes('\r\n')) return plainFold(original, '\n');
  const text = original.replaceAll('\r\n', '\n');
  const pairs: number[] = [];
  for (let at = original.indexOf('\r\n'); at !== -1; at = original.indexOf('\r\n', at + 2))
    pairs.push(at - pairs.length);
  const pairsBefore = (at: number) => lowerBound(pairs, at);
  const endingAt = (at: number): LineEnding => (pairs[pairsBefore(at)] === at ? '\r\n' : '\n');
  return {
    text,
    toOriginal: (at) => at + pairsBefore(at),
    endingsWithin(from, to) {
      const endings: LineEnding[] = [];
      for (let at = text.indexOf('\n', from); at !== -1 && at < to; at = text.indexOf('\n', at + 1))
        endings.push(endingAt(at));
      return endings;
    },
    endingNear(at) {
      const next = text.indexOf('\n', at);
      return endingAt(next === -1 ? text.lastIndexOf('\n') : next);
    },
  };
}

/** One kind of ending only: places are the same in both texts. */
function plainFold(text: string, ending: LineEnding): FoldedText {
  return {
    text,
    toOriginal: (at) => at,
    endingsWithin: (from, to) => Array.from({ length: text.slice(from, to).split('\n').length - 1 }, () => ending),
    endingNear: () => ending,
  };
}

function lowerBound(sorted: readonly number[], wanted: number): number {
  let low = 0;
  let high = sorted.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((sorted[middle] ?? 0) < wanted) low = middle + 1;
    else high = middle;
  }
  return low;
}
