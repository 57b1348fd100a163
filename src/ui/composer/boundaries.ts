import { hasFolds, splitFolds } from './folds.ts';

const graphemeSegmenter = new Intl.Segmenter('en', { granularity: 'grapheme' });

// Carriage returns never enter a draft, so in ASCII every character is a grapheme.
const NOT_ASCII = /[^\x00-\x7f]/;

// How far a boundary is looked for. A draft of a megabyte must not be segmented for one keypress.
const BACK = 512;
const AHEAD = 256;

/** The grapheme boundary behind a boundary, or the end of the text. */
export function nextBoundary(text: string, at: number): number {
  if (at >= text.length) return text.length;
  if (isAscii(text, at) && (at + 1 === text.length || isAscii(text, at + 1))) return at + 1;
  let ahead = AHEAD;
  for (;;) {
    const to = Math.min(text.length, at + ahead);
    const first = boundariesIn(text, at, to)[1] ?? to;
    if (first < to || to === text.length || ahead > AHEAD * 64) return first;
    ahead *= 4;
  }
}

/** The grapheme boundary before a boundary, or the start of the text. */
export function previousBoundary(text: string, at: number): number {
  if (at <= 0) return 0;
  if (isAscii(text, at - 1) && (at === 1 || isAscii(text, at - 2))) return at - 1;
  return boundariesIn(text, certainBoundary(text, at - 1), at).at(-2) ?? 0;
}

/** The boundary nearest to any offset, at it or before it. */
export function boundaryAtOrBefore(text: string, offset: number): number {
  if (offset <= 0) return 0;
  if (offset >= text.length) return text.length;
  if (isAscii(text, offset) && isAscii(text, offset - 1)) return offset;
  const from = certainBoundary(text, offset - 1);
  return boundariesIn(text, from, Math.min(text.length, offset + AHEAD)).findLast((at) => at <= offset) ?? from;
}

/** The boundary nearest to any offset, at it or behind it. */
export function boundaryAtOrAfter(text: string, offset: number): number {
  const before = boundaryAtOrBefore(text, offset);
  return before >= offset ? before : nextBoundary(text, before);
}

/** Every boundary from one boundary to another, both included. */
export function boundariesIn(text: string, from: number, to: number): number[] {
  const window = text.slice(from, to);
  if (!NOT_ASCII.test(window)) return Array.from({ length: window.length + 1 }, (_, index) => from + index);
  const boundaries = [from];
  let at = from;
  for (const piece of hasFolds(window) ? splitFolds(window) : [window]) {
    for (const { index, segment } of graphemeSegmenter.segment(piece)) boundaries.push(at + index + segment.length);
    at += piece.length;
  }
  return boundaries;
}

/** Where the logical line around an offset starts. */
export function lineStart(text: string, at: number): number {
  return at === 0 ? 0 : text.lastIndexOf('\n', at - 1) + 1;
}

/** Where the logical line around an offset ends, before its newline. */
export function lineEnd(text: string, at: number): number {
  const end = text.indexOf('\n', at);
  return end === -1 ? text.length : end;
}

/** An offset before `at` that is surely a boundary: between two ASCII characters. */
function certainBoundary(text: string, at: number): number {
  const limit = Math.max(0, at - BACK);
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
