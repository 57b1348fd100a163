import { getTextWidth, isPlainAscii, splitGraphemes } from './text-width.ts';

/** A grapheme for wrapping: its offset in the text, its width, and its behaviour at the end of a row. */
export type WrapGrapheme = {
  readonly at: number;
  readonly width: number;
  readonly kind: 'letter' | 'space' | 'wide' | 'closing';
};

/** The offsets of one row; `to` is exclusive. */
export type RowTextRange = { readonly from: number; readonly to: number };

/** The treatment of spaces and long words at a break. */
export type WordWrapOptions = {
  /** `trim` drops the spaces at a break, `keep` gives every space its column. */
  readonly spaces: 'trim' | 'keep';
  /** Treatment of a word that is wider than a row: broken at the edge or kept whole. */
  readonly longWords: 'break' | 'keep';
};

const CLOSING = /^[、。，．！？；：）」』】》〉,.!?;:)\]}%’”]/u;

/** Wraps a text at the edge, as a terminal does. */
export function wrapHard(text: string, width: number): string[] {
  const starts = findHardRowStarts(createCells(text), width);
  return starts.map((from, row) => text.slice(from, starts[row + 1] ?? text.length));
}

/** Wraps one line of text (without line breaks) at words. Returns the offsets of its rows. */
export function wrapRanges(text: string, width: number, options: WordWrapOptions): RowTextRange[] {
  if (text.length <= width && isPlainAscii(text)) return [{ from: 0, to: text.length }];
  const starts = findWrappedRowStarts(createCells(text), width, options);
  return starts.map((from, row) => {
    const next = starts[row + 1];
    if (options.spaces === 'keep') return { from, to: next ?? text.length };
    return trimEndSpaces(text, row === 0 ? { from, to: next } : { from: skipSpaces(text, from), to: next });
  });
}

/** Returns the offsets at which rows start when cells are wrapped at words. */
export function findWrappedRowStarts(
  cells: readonly WrapGrapheme[],
  width: number,
  options: WordWrapOptions,
): number[] {
  const starts = [cells[0]?.at ?? 0];
  let rowFirst = 0;
  let breakAt = 0;
  let column = 0;
  for (const [index, cell] of cells.entries()) {
    const mayOverflow = options.spaces === 'trim' && cell.kind === 'space';
    if (cell.kind === 'wide' && index > rowFirst) breakAt = index;
    // Runs twice if the moved word leaves no room for this cell in the next row either.
    while (column + cell.width > width && index > rowFirst && !mayOverflow) {
      const next = breakAt > rowFirst ? breakAt : options.longWords === 'break' ? index : rowFirst;
      if (next === rowFirst) break;
      starts.push(cells[next]?.at ?? cell.at);
      rowFirst = next;
      column = measureCells(cells, options, next, index);
    }
    column += cell.width;
    if (cell.kind === 'space') breakAt = index + 1;
    if (cell.kind === 'wide' && cells[index + 1]?.kind !== 'closing') breakAt = index + 1;
  }
  return starts;
}

function measureCells(cells: readonly WrapGrapheme[], options: WordWrapOptions, from: number, to: number): number {
  let first = from;
  if (options.spaces === 'trim') while (first < to && cells[first]?.kind === 'space') first += 1;
  let width = 0;
  for (let index = first; index < to; index += 1) width += cells[index]?.width ?? 0;
  return width;
}

function findHardRowStarts(cells: readonly WrapGrapheme[], width: number): number[] {
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

function createCells(text: string): WrapGrapheme[] {
  // Closing punctuation only matters after wide characters.
  if (isPlainAscii(text))
    return Array.from(text, (letter, at) => ({ at, width: 1, kind: letter === ' ' ? 'space' : 'letter' }));
  const cells: WrapGrapheme[] = [];
  let at = 0;
  for (const grapheme of splitGraphemes(text)) {
    const width = getTextWidth(grapheme);
    cells.push({ at, width, kind: classifyWrapGrapheme(grapheme, width) });
    at += grapheme.length;
  }
  return cells;
}

/** Returns the behaviour of a grapheme at the end of a row. */
export function classifyWrapGrapheme(grapheme: string, width: number): WrapGrapheme['kind'] {
  if (grapheme === ' ' || grapheme === '\t') return 'space';
  if (CLOSING.test(grapheme)) return 'closing';
  return width > 1 ? 'wide' : 'letter';
}

function trimEndSpaces(
  text: string,
  { from, to = text.length }: { from: number; to: number | undefined },
): RowTextRange {
  let end = to;
  while (end > from && text.charAt(end - 1) === ' ') end -= 1;
  return { from, to: end };
}

function skipSpaces(text: string, from: number): number {
  let start = from;
  while (text.charAt(start) === ' ') start += 1;
  return start;
}
