import { boundaryAtOrAfter, boundaryAtOrBefore, nextBoundary } from './boundaries.ts';
import { hasFolds, splitFolds } from './folds.ts';

/** Where a word starts and ends. */
export type WordRange = { readonly from: number; readonly to: number };

const wordSegmenter = new Intl.Segmenter('en', { granularity: 'word' });
const WINDOW = 1000;

/** The end of the word at or behind an offset. */
export function wordEndAfter(text: string, at: number): number {
  for (let from = at; from < text.length; from = boundaryAtOrAfter(text, Math.min(text.length, from + WINDOW))) {
    const found = wordsIn(text, from, boundaryAtOrAfter(text, from + WINDOW)).find(({ to }) => to > at);
    if (found) return Math.max(boundaryAtOrBefore(text, found.to), nextBoundary(text, at));
  }
  return text.length;
}

/** The start of the word before an offset. */
export function wordStartBefore(text: string, at: number): number {
  for (let to = at; to > 0; to = boundaryAtOrBefore(text, to - WINDOW)) {
    const found = wordsIn(text, boundaryAtOrBefore(text, to - WINDOW), to).findLast(({ from }) => from < at);
    if (found) return boundaryAtOrBefore(text, found.from);
  }
  return 0;
}

/** The start of the whitespace-separated word before an offset, as Ctrl+W means it. */
export function spaceWordStartBefore(text: string, at: number): number {
  let start = at;
  while (start > 0 && /\s/.test(text.charAt(start - 1))) start -= 1;
  while (start > 0 && !/\s/.test(text.charAt(start - 1))) start -= 1;
  return boundaryAtOrBefore(text, start);
}

/** The words between two offsets: Unicode words, cut again at the marks that divide a path or a name. */
function wordsIn(text: string, from: number, to: number): WordRange[] {
  const window = text.slice(from, to);
  const words: WordRange[] = [];
  let at = from;
  for (const piece of hasFolds(window) ? splitFolds(window) : [window]) {
    if (hasFolds(piece)) words.push({ from: at, to: at + piece.length });
    else for (const word of wordsOf(piece)) words.push({ from: at + word.from, to: at + word.to });
    at += piece.length;
  }
  return words;
}

function* wordsOf(text: string): Generator<WordRange> {
  for (const { segment, index, isWordLike } of wordSegmenter.segment(text)) {
    if (isWordLike !== true) continue;
    for (const part of segment.matchAll(/[^/._-]+/g)) {
      yield { from: index + part.index, to: index + part.index + part[0].length };
    }
  }
}
