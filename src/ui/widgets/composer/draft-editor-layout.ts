import { getTextWidth, isPlainAscii, truncateEnd } from '../../../lib/text/text-width.ts';
import { classifyWrapGrapheme, findWrappedRowStarts, type WrapGrapheme } from '../../../lib/text/text-wrap.ts';
import type { DraftEditorState } from './draft-editor-state.ts';
import { formatPlaceholder, getPlaceholderIdAt } from './paste-placeholders.ts';
import { findBoundaryAtOrBefore, findLineEnd, findLineStart, listGraphemeBoundaries } from './text-boundaries.ts';

/** One row on screen, as half-open offsets into the text. A `soft` row continues in the next row without a newline. */
export type VisualRow = { readonly from: number; readonly to: number; readonly end: 'line' | 'soft' };

/** A piece of a row. Placeholders are separate pieces so that they can be styled. */
type RowPiece = { readonly kind: 'text' | 'placeholder'; readonly text: string };

/** The part of the editor state that the layout depends on. */
type LayoutInput = Pick<DraftEditorState, 'text' | 'width' | 'placeholders'>;

// Longer logical lines are laid out in chunks of this size, each starting a new row, so that a key press in a line of
// a megabyte costs as much as one in a short line.
const CHUNK = 4096;
const TAB = '    ';
const WRAP_OPTIONS = { spaces: 'keep', longWords: 'break' } as const;

type Chunk = VisualRow;

/** Returns the row and column of an offset. A soft break belongs to the row after it. */
export function locateOffset(laid: LayoutInput, offset: number): { readonly row: VisualRow; readonly column: number } {
  const rows = layOutChunk(laid, findChunk(laid.text, offset));
  const row = rows.findLast(({ from }) => from <= offset) ?? { from: 0, to: 0, end: 'line' };
  return { row, column: countColumns(laid, row.from, offset) };
}

/** Returns the offset at a column of a row, or the closest one before it. */
export function findOffsetInRow(laid: LayoutInput, row: VisualRow, column: number): number {
  let at = row.from;
  let reached = 0;
  for (const boundary of listGraphemeBoundaries(laid.text, row.from, row.to).slice(1)) {
    reached += measureGrapheme(laid, laid.text.slice(at, boundary));
    if (reached > column) break;
    if (boundary === row.to && row.end === 'soft') break;
    at = boundary;
  }
  return at;
}

/** Iterates over the rows above a row, nearest first. */
export function* iterateRowsAbove(laid: LayoutInput, row: VisualRow): Generator<VisualRow> {
  let chunk = findChunk(laid.text, row.from);
  yield* layOutChunk(laid, chunk)
    .filter(({ from }) => from < row.from)
    .reverse();
  while (chunk.from > 0) {
    chunk = findChunk(laid.text, chunk.from - 1);
    yield* layOutChunk(laid, chunk).reverse();
  }
}

/** Iterates over the rows below a row, nearest first. */
export function* iterateRowsBelow(laid: LayoutInput, row: VisualRow): Generator<VisualRow> {
  let chunk = findChunk(laid.text, row.from);
  yield* layOutChunk(laid, chunk).filter(({ from }) => from > row.from);
  for (let next = findNextStart(chunk); next <= laid.text.length; next = findNextStart(chunk)) {
    chunk = findChunk(laid.text, next);
    yield* layOutChunk(laid, chunk);
  }
}

/** Counts the rows that start between two offsets. */
function countRows(laid: LayoutInput, from: number, to: number): number {
  let count = 0;
  let at = from;
  while (at < to) {
    const chunk = findChunk(laid.text, at);
    count += layOutChunk(laid, chunk).filter((row) => row.from >= from && row.from < to).length;
    at = findNextStart(chunk);
  }
  return count;
}

/** Returns the pieces of a row, in order. */
export function getRowPieces(laid: LayoutInput, row: VisualRow): RowPiece[] {
  const pieces: RowPiece[] = [];
  let at = row.from;
  let plain = '';
  for (const boundary of listGraphemeBoundaries(laid.text, row.from, row.to).slice(1)) {
    const grapheme = laid.text.slice(at, boundary);
    at = boundary;
    if (getPlaceholderIdAt(grapheme, 0) === undefined) {
      plain += getDisplayText(laid, grapheme);
      continue;
    }
    if (plain !== '') pieces.push({ kind: 'text', text: plain });
    pieces.push({ kind: 'placeholder', text: getDisplayText(laid, grapheme) });
    plain = '';
  }
  if (plain !== '') pieces.push({ kind: 'text', text: plain });
  return pieces;
}

function findChunk(text: string, offset: number): Chunk {
  const start = findLineStart(text, offset);
  const end = findLineEnd(text, offset);
  if (end - start <= CHUNK) return { from: start, to: end, end: 'line' };
  const getChunkEdge = (index: number) => findBoundaryAtOrBefore(text, start + index * CHUNK);
  const last = Math.ceil((end - start) / CHUNK) - 1;
  let index = Math.min(last, Math.floor((offset - start) / CHUNK));
  if (index < last && getChunkEdge(index + 1) <= offset) index += 1;
  return index >= last
    ? { from: getChunkEdge(index), to: end, end: 'line' }
    : { from: getChunkEdge(index), to: getChunkEdge(index + 1), end: 'soft' };
}

/** Returns the start of the text after a row or chunk; past the end of the text after the last one. */
function findNextStart({ to, end }: VisualRow): number {
  return end === 'line' ? to + 1 : to;
}

function layOutChunk(laid: LayoutInput, chunk: Chunk): VisualRow[] {
  const content = laid.text.slice(chunk.from, chunk.to);
  if (content.length <= laid.width && isPlainAscii(content)) return [chunk];
  const starts = findWrappedRowStarts(createCells(laid, chunk), laid.width, WRAP_OPTIONS);
  return starts.map((from, index) => {
    const next = starts[index + 1];
    return next === undefined ? { from, to: chunk.to, end: chunk.end } : { from, to: next, end: 'soft' };
  });
}

function createCells(laid: LayoutInput, chunk: Chunk): WrapGrapheme[] {
  const boundaries = listGraphemeBoundaries(laid.text, chunk.from, chunk.to);
  return boundaries.slice(0, -1).map((at, index) => {
    const grapheme = laid.text.slice(at, boundaries[index + 1]);
    const width = measureGrapheme(laid, grapheme);
    return { at, width, kind: classifyWrapGrapheme(grapheme, width) };
  });
}

function countColumns(laid: LayoutInput, from: number, to: number): number {
  const boundaries = listGraphemeBoundaries(laid.text, from, to);
  let columns = 0;
  for (const [index, at] of boundaries.entries())
    columns += measureGrapheme(laid, laid.text.slice(at, boundaries[index + 1] ?? at));
  return columns;
}

function measureGrapheme(laid: LayoutInput, grapheme: string): number {
  if (grapheme.length === 1 && grapheme >= ' ' && grapheme <= '~') return 1;
  return getTextWidth(getDisplayText(laid, grapheme));
}

/** Returns a grapheme as it is drawn. Everything takes at least one column, so that the caret stays visible. */
function getDisplayText(laid: LayoutInput, grapheme: string): string {
  if (grapheme === '\t') return TAB.slice(0, laid.width);
  const id = getPlaceholderIdAt(grapheme, 0);
  const placeholder = id === undefined ? undefined : laid.placeholders.get(id);
  if (id !== undefined) return truncateEnd(placeholder ? formatPlaceholder(placeholder) : '[lost paste]', laid.width);
  if (grapheme === '' || getTextWidth(grapheme) > 0) return grapheme;
  const code = grapheme.codePointAt(0) ?? 0;
  return `‹U+${code.toString(16).toUpperCase().padStart(4, '0')}›`.slice(0, laid.width);
}

/** The visible part of a draft. */
type EditorViewport = {
  readonly rows: readonly { readonly row: VisualRow; readonly pieces: readonly RowPiece[] }[];
  /** Position of the terminal cursor, relative to the first shown row. The column may equal the width. */
  readonly caret: { readonly row: number; readonly column: number };
  /** Hidden rows, for `↑ 12 more`; logical lines when the hidden text is very long. */
  readonly above: number;
  readonly below: number;
  /** Offset of the first shown row. Passed back as `top`, it keeps the text from jumping. */
  readonly top: number;
};

// Hidden text that is longer is not laid out; only its lines are counted.
const MAX_EXACT_COUNT = 8192;

/** Lays out the rows that fit into a height, always including the row of the caret. */
export function layoutDraftEditor(
  state: DraftEditorState,
  window: { readonly height: number; readonly top?: number },
): EditorViewport {
  const height = Math.max(1, window.height);
  const { row: caretRow, column } = locateOffset(state, state.caret);
  const top = window.top ?? 0;
  const upper: VisualRow[] = [];
  for (const above of iterateRowsAbove(state, caretRow)) {
    if (upper.length + 1 >= height || (above.from < top && above.to <= top)) break;
    upper.unshift(above);
  }
  const lower: VisualRow[] = [];
  for (const below of iterateRowsBelow(state, caretRow)) {
    if (upper.length + 1 + lower.length >= height) break;
    lower.push(below);
  }
  for (const above of iterateRowsAbove(state, upper[0] ?? caretRow)) {
    if (upper.length + 1 + lower.length >= height) break;
    upper.unshift(above);
  }
  const shownRows = [...upper, caretRow, ...lower];
  const first = upper[0] ?? caretRow;
  const end = findNextStart(lower.at(-1) ?? caretRow);
  return {
    rows: shownRows.map((row) => ({ row, pieces: getRowPieces(state, row) })),
    caret: { row: upper.length, column },
    above: countHidden(state, 0, first.from),
    below: end > state.text.length ? 0 : countHidden(state, end, state.text.length + 1),
    top: first.from,
  };
}

function countHidden(state: DraftEditorState, from: number, to: number): number {
  if (to - from <= MAX_EXACT_COUNT) return countRows(state, from, to);
  let count = to > state.text.length ? 1 : 0;
  for (let at = state.text.indexOf('\n', from); at !== -1 && at < to; at = state.text.indexOf('\n', at + 1)) count += 1;
  return count;
}
