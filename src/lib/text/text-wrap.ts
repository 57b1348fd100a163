import { graphemes, isPlainAscii, textWidth } from './text-width.ts';

/** A piece of text that is never split: where it starts, how wide it is, whether a row may end behind it. */
export type WrapCell = {
  readonly at: number;
  readonly width: number;
  readonly kind: 'letter' | 'space' | 'wide' | 'closing';
};

/** Half-open offsets of one row. */
export type TextRange = { readonly from: number; readonly to: number };

export type WrapOptions = {
  /** `trim` drops the spaces at a break, `keep` lets every space take its column. */
  readonly spaces: 'trim' | 'keep';
  /** What happens to a word wider than a row: broken at the edge or left whole. */
  readonly longWords: 'break' | 'keep';
};

const CLOSING = /^[、。，．！？；：）」』】》〉,.!?;:)\]}%’”]/u;

/** Rows filled to the edge, as a terminal does it. */
export function wrapHard(text: string, width: number): string[] {
  const starts = hardRowStarts(cellsOf(text), width);
  return starts.map((from, row) => text.slice(from, starts[row + 1] ?? text.length));
}

/** Offsets of the rows of one line of prose (no line breaks inside). */
export function wrapRanges(text: string, width: number, options: WrapOptions): TextRange[] {
  if (text.length <= width && isPlainAscii(text)) return [{ from: 0, to: text.length }];
  const starts = rowStarts(cellsOf(text), width, options);
  return starts.map((from, row) => {
    const next = starts[row + 1];
    if (options.spaces === 'keep') return { from, to: next ?? text.length };
    return trimmed(text, row === 0 ? { from, to: next } : { from: skipSpaces(text, from), to: next });
  });
}

/** Offsets at which rows start when a row breaks between words; the first is that of the first cell. */
export function rowStarts(cells: readonly WrapCell[], width: number, options: WrapOptions): number[] {
  const starts = [cells[0]?.at ?? 0];
  let rowFirst = 0;
  let breakAt = 0;
  let column = 0;
  for (const [index, cell] of cells.entries()) {
    const hangs = options.spaces === 'trim' && cell.kind === 'space';
    if (cell.kind === 'wide' && index > rowFirst) breakAt = index;
    // Twice when the word that moves down leaves no room for this cell in the next row either.
    while (column + cell.width > width && index > rowFirst && !hangs) {
      const next = breakAt > rowFirst ? breakAt : options.longWords === 'break' ? index : rowFirst;
      if (next === rowFirst) break;
      starts.push(cells[next]?.at ?? cell.at);
      rowFirst = next;
      column = widthBetween(cells, options, next, index);
    }
    column += cell.width;
    if (cell.kind === 'space') breakAt = index + 1;
    if (cell.kind === 'wide' && cells[index + 1]?.kind !== 'closing') breakAt = index + 1;
  }
  return starts;
}

function widthBetween(cells: readonly WrapCell[], options: WrapOptions, from: number, to: number): number {
  let first = from;
  if (options.spaces === 'trim') while (first < to && cells[first]?.kind === 'space') first += 1;
  let width = 0;
  for (let index = first; index < to; index += 1) width += cells[index]?.width ?? 0;
  return width;
}

function hardRowStarts(cells: readonly WrapCell[], width: number): number[] {
  const starts = [0];
  let column = 0;
  for (const cell of cells) {
    if (column > 0 && column + cell.width > width) {
      starts.push(cell.at);
      column = 0;
    }
    column += cell.width;
  }
  return starts;
}

function cellsOf(text: string): WrapCell[] {
  // Where nothing is wide, what closes is like any letter.
  if (isPlainAscii(text))
    return Array.from(text, (letter, at) => ({ at, width: 1, kind: letter === ' ' ? 'space' : 'letter' }));
  const cells: WrapCell[] = [];
  let at = 0;
  for (const grapheme of graphemes(text)) {
    const width = textWidth(grapheme);
    cells.push({ at, width, kind: kindOf(grapheme, width) });
    at += grapheme.length;
  }
  return cells;
}

/** How a grapheme behaves at the end of a row. */
export function kindOf(grapheme: string, width: number): WrapCell['kind'] {
  if (grapheme === ' ' || grapheme === '\t') return 'space';
  if (CLOSING.test(grapheme)) return 'closing';
  return width > 1 ? 'wide' : 'letter';
}

function trimmed(text: string, { from, to = text.length }: { from: number; to: number | undefined }): TextRange {
  let end = to;
  while (end > from && text.charAt(end - 1) === ' ') end -= 1;
  return { from, to: end };
}

function skipSpaces(text: string, from: number): number {
  let start = from;
  while (text.charAt(start) === ' ') start += 1;
  return start;
}
