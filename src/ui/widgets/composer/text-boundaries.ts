import { hasPlaceholders, splitAtPlaceholders } from './paste-placeholders.ts';

const graphemeSegmenter = new Intl.Segmenter('en', { granularity: 'grapheme' });

// Carriage returns never enter a draft, so in ASCII every character is a grapheme.
const NOT_ASCII = /[^\x00-\x7f]/;

// Search window in characters. A draft of a megabyte must not be segmented for one key press.
const LOOK_BEHIND = 512;
const LOOK_AHEAD = 256;

/** Returns the grapheme boundary after a boundary, or the end of the text. */
export function findNextBoundary(text: string, at: number): number {
  if (at >= text.length) return text.length;
  if (isAscii(text, at) && (at + 1 === text.length || isAscii(text, at + 1))) return at + 1;
  let ahead = LOOK_AHEAD;
  for (;;) {
    const to = Math.min(text.length, at + ahead);
    const first = listGraphemeBoundaries(text, at, to)[1] ?? to;
    if (first < to || to === text.length || ahead > LOOK_AHEAD * 64) return first;
    ahead *= 4;
  }
}

/** Returns the grapheme boundary before a boundary, or the start of the text. */
export function findPreviousBoundary(text: string, at: number): number {
  if (at <= 0) return 0;
  if (isAscii(text, at - 1) && (at === 1 || isAscii(text, at - 2))) return at - 1;
  return listGraphemeBoundaries(text, findAsciiBoundary(text, at - 1), at).at(-2) ?? 0;
}

/** Returns the closest grapheme boundary at or before an offset. */
export function findBoundaryAtOrBefore(text: string, offset: number): number {
  if (offset <= 0) return 0;
  if (offset >= text.length) return text.length;
  if (isAscii(text, offset) && isAscii(text, offset - 1)) return offset;
  const from = findAsciiBoundary(text, offset - 1);
  return (
    listGraphemeBoundaries(text, from, Math.min(text.length, offset + LOOK_AHEAD)).findLast((at) => at <= offset) ??
    from
  );
}

/** Returns the closest grapheme boundary at or after an offset. */
export function findBoundaryAtOrAfter(text: string, offset: number): number {
  const before = findBoundaryAtOrBefore(text, offset);
  return before >= offset ? before : findNextBoundary(text, before);
}

/** Lists the grapheme boundaries between two boundaries, both included. */
export function listGraphemeBoundaries(text: string, from: number, to: number): number[] {
  const window = text.slice(from, to);
  if (!NOT_ASCII.test(window)) return Array.from({ length: window.length + 1 }, (_, index) => from + index);
  const boundaries = [from];
  let at = from;
  for (const piece of hasPlaceholders(window) ? splitAtPlaceholders(window) : [window]) {
    for (const { index, segment } of graphemeSegmenter.segment(piece)) boundaries.push(at + index + segment.length);
    at += piece.length;
  }
  return boundaries;
}

/** Returns the start of the logical line around an offset. */
export function findLineStart(text: string, at: number): number {
  return at === 0 ? 0 : text.lastIndexOf('\n', at - 1) + 1;
}

/** Returns the end of the logical line around an offset, before its newline. */
export function findLineEnd(text: string, at: number): number {
  const end = text.indexOf('\n', at);
  return end === -1 ? text.length : end;
}

/** Returns an offset before `at` that is certainly a boundary, as it lies between two ASCII characters. */
function findAsciiBoundary(text: string, at: number): number {
  const limit = Math.max(0, at - LOOK_BEHIND);
  for (let offset = at; offset > limit; offset -= 1) {
    if (isAscii(text, offset) && isAscii(text, offset - 1)) return offset;
  }
  return limit > 0 && isLowSurrogate(text.charCodeAt(limit)) ? limit - 1 : limit;
}

function isAscii(text: string, at: number): boolean {
  return text.charCodeAt(at) < 0x80;
}

function isLowSurrogate(unit: number): boolean {
  return unit >= 0xdc00 && unit <= 0xdfff;
}

/** The offsets of a word. */
type WordRange = { readonly from: number; readonly to: number };

const wordSegmenter = new Intl.Segmenter('en', { granularity: 'word' });
// Size of the text that is segmented at a time.
const WINDOW = 1000;

/** Returns the end of the word at or after an offset. */
export function findWordEnd(text: string, at: number): number {
  for (let from = at; from < text.length; from = findBoundaryAtOrAfter(text, Math.min(text.length, from + WINDOW))) {
    const found = listWords(text, from, findBoundaryAtOrAfter(text, from + WINDOW)).find(({ to }) => to > at);
    if (found) return Math.max(findBoundaryAtOrBefore(text, found.to), findNextBoundary(text, at));
  }
  return text.length;
}

/** Returns the start of the word before an offset. */
export function findWordStart(text: string, at: number): number {
  for (let to = at; to > 0; to = findBoundaryAtOrBefore(text, to - WINDOW)) {
    const found = listWords(text, findBoundaryAtOrBefore(text, to - WINDOW), to).findLast(({ from }) => from < at);
    if (found) return findBoundaryAtOrBefore(text, found.from);
  }
  return 0;
}

/** Returns the start of the whitespace-separated word before an offset, as Ctrl+W defines it. */
export function findSpaceWordStart(text: string, at: number): number {
  let start = at;
  while (start > 0 && /\s/.test(text.charAt(start - 1))) start -= 1;
  while (start > 0 && !/\s/.test(text.charAt(start - 1))) start -= 1;
  return findBoundaryAtOrBefore(text, start);
}

/** Lists the words between two offsets: Unicode words, split further at `/`, `.`, `_` and `-`. */
function listWords(text: string, from: number, to: number): WordRange[] {
  const window = text.slice(from, to);
  const words: WordRange[] = [];
  let at = from;
  for (const piece of hasPlaceholders(window) ? splitAtPlaceholders(window) : [window]) {
    if (hasPlaceholders(piece)) words.push({ from: at, to: at + piece.length });
    else for (const word of segmentWords(piece)) words.push({ from: at + word.from, to: at + word.to });
    at += piece.length;
  }
  return words;
}

function* segmentWords(text: string): Generator<WordRange> {
  for (const { segment, index, isWordLike } of wordSegmenter.segment(text)) {
    if (isWordLike !== true) continue;
    for (const part of segment.matchAll(/[^/._-]+/g)) {
      yield { from: index + part.index, to: index + part.index + part[0].length };
    }
  }
}
