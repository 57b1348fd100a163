import { isPlainAscii, textWidth } from '../../lib/text/text-width.ts';
import { kindOf, rowStarts, type WrapCell } from '../../lib/text/text-wrap.ts';
import { truncateEnd } from '../../lib/text/truncate.ts';
import { boundariesIn, boundaryAtOrBefore, lineEnd, lineStart } from './boundaries.ts';
import type { EditorState } from './editor-state.ts';
import { foldIdAt, foldLabel } from './folds.ts';

/** One row on screen: half-open offsets into the text. `soft` rows go on in the next row without a newline. */
export type VisualRow = { readonly from: number; readonly to: number; readonly end: 'line' | 'soft' };

/** What a row shows. Folds are told apart so that they can be coloured. */
export type RowPiece = { readonly kind: 'text' | 'fold'; readonly text: string };

/** What layout needs of an editor. */
export type Laid = Pick<EditorState, 'text' | 'width' | 'folds'>;

// A longer logical line is laid out in pieces of this size, each starting a row: one keypress
// in a line of a megabyte then costs as much as one in a short line.
const CHUNK = 4096;
const TAB = '    ';
const ROW_OPTIONS = { spaces: 'keep', longWords: 'break' } as const;

type Chunk = VisualRow;

/** The row an offset is in, and its column there. A break inside a line belongs to the row behind it. */
export function locate(laid: Laid, offset: number): { readonly row: VisualRow; readonly column: number } {
  const rows = rowsOf(laid, chunkAt(laid.text, offset));
  const row = rows.findLast(({ from }) => from <= offset) ?? { from: 0, to: 0, end: 'line' };
  return { row, column: columnsBetween(laid, row.from, offset) };
}

/** The offset at a column of a row, or the nearest one before it. */
export function offsetInRow(laid: Laid, row: VisualRow, column: number): number {
  let at = row.from;
  let reached = 0;
  for (const boundary of boundariesIn(laid.text, row.from, row.to).slice(1)) {
    reached += shownWidth(laid, laid.text.slice(at, boundary));
    if (reached > column) break;
    if (boundary === row.to && row.end === 'soft') break;
    at = boundary;
  }
  return at;
}

/** The rows above a row, nearest first. */
export function* rowsAbove(laid: Laid, row: VisualRow): Generator<VisualRow> {
  let chunk = chunkAt(laid.text, row.from);
  yield* rowsOf(laid, chunk)
    .filter(({ from }) => from < row.from)
    .reverse();
  while (chunk.from > 0) {
    chunk = chunkAt(laid.text, chunk.from - 1);
    yield* rowsOf(laid, chunk).reverse();
  }
}

/** The rows below a row, nearest first. */
export function* rowsBelow(laid: Laid, row: VisualRow): Generator<VisualRow> {
  let chunk = chunkAt(laid.text, row.from);
  yield* rowsOf(laid, chunk).filter(({ from }) => from > row.from);
  for (let next = behind(chunk); next <= laid.text.length; next = behind(chunk)) {
    chunk = chunkAt(laid.text, next);
    yield* rowsOf(laid, chunk);
  }
}

/** How many rows start between two offsets. */
export function countRows(laid: Laid, from: number, to: number): number {
  let count = 0;
  let at = from;
  while (at < to) {
    const chunk = chunkAt(laid.text, at);
    count += rowsOf(laid, chunk).filter((row) => row.from >= from && row.from < to).length;
    at = behind(chunk);
  }
  return count;
}

/** What a row shows, in order. */
export function rowPieces(laid: Laid, row: VisualRow): RowPiece[] {
  const pieces: RowPiece[] = [];
  let at = row.from;
  let plain = '';
  for (const boundary of boundariesIn(laid.text, row.from, row.to).slice(1)) {
    const grapheme = laid.text.slice(at, boundary);
    at = boundary;
    if (foldIdAt(grapheme, 0) === undefined) {
      plain += shown(laid, grapheme);
      continue;
    }
    if (plain !== '') pieces.push({ kind: 'text', text: plain });
    pieces.push({ kind: 'fold', text: shown(laid, grapheme) });
    plain = '';
  }
  if (plain !== '') pieces.push({ kind: 'text', text: plain });
  return pieces;
}

function chunkAt(text: string, offset: number): Chunk {
  const start = lineStart(text, offset);
  const end = lineEnd(text, offset);
  if (end - start <= CHUNK) return { from: start, to: end, end: 'line' };
  const edge = (index: number) => boundaryAtOrBefore(text, start + index * CHUNK);
  const last = Math.ceil((end - start) / CHUNK) - 1;
  let index = Math.min(last, Math.floor((offset - start) / CHUNK));
  if (index < last && edge(index + 1) <= offset) index += 1;
  return index >= last
    ? { from: edge(index), to: end, end: 'line' }
    : { from: edge(index), to: edge(index + 1), end: 'soft' };
}

/** Where what follows a row or chunk starts; past the end of the text when nothing follows. */
export function behind({ to, end }: VisualRow): number {
  return end === 'line' ? to + 1 : to;
}

function rowsOf(laid: Laid, chunk: Chunk): VisualRow[] {
  const content = laid.text.slice(chunk.from, chunk.to);
  if (content.length <= laid.width && isPlainAscii(content)) return [chunk];
  const starts = rowStarts(cellsOf(laid, chunk), laid.width, ROW_OPTIONS);
  return starts.map((from, index) => {
    const next = starts[index + 1];
    return next === undefined ? { from, to: chunk.to, end: chunk.end } : { from, to: next, end: 'soft' };
  });
}

function cellsOf(laid: Laid, chunk: Chunk): WrapCell[] {
  const boundaries = boundariesIn(laid.text, chunk.from, chunk.to);
  return boundaries.slice(0, -1).map((at, index) => {
    const grapheme = laid.text.slice(at, boundaries[index + 1]);
    const width = shownWidth(laid, grapheme);
    return { at, width, kind: kindOf(grapheme, width) };
  });
}

function columnsBetween(laid: Laid, from: number, to: number): number {
  const boundaries = boundariesIn(laid.text, from, to);
  let columns = 0;
  for (const [index, at] of boundaries.entries())
    columns += shownWidth(laid, laid.text.slice(at, boundaries[index + 1] ?? at));
  return columns;
}

function shownWidth(laid: Laid, grapheme: string): number {
  if (grapheme.length === 1 && grapheme >= ' ' && grapheme <= '~') return 1;
  return textWidth(shown(laid, grapheme));
}

/** A grapheme as it is drawn; nothing is drawn without a column, or the caret would get lost in it. */
function shown(laid: Laid, grapheme: string): string {
  if (grapheme === '\t') return TAB.slice(0, laid.width);
  const id = foldIdAt(grapheme, 0);
  const fold = id === undefined ? undefined : laid.folds.get(id);
  if (id !== undefined) return truncateEnd(fold ? foldLabel(fold) : '[lost paste]', laid.width);
  if (grapheme === '' || textWidth(grapheme) > 0) return grapheme;
  const code = grapheme.codePointAt(0) ?? 0;
  return `‹U+${code.toString(16).toUpperCase().padStart(4, '0')}›`.slice(0, laid.width);
}
