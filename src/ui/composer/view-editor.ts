import type { EditorState } from './editor-state.ts';
import { behind, countRows, locate, type RowPiece, rowPieces, rowsAbove, rowsBelow, type VisualRow } from './layout.ts';

/** The part of a draft that is on screen. */
export type EditorView = {
  readonly rows: readonly { readonly row: VisualRow; readonly pieces: readonly RowPiece[] }[];
  /** Where the terminal's cursor belongs, relative to the first shown row. The column may equal the width. */
  readonly caret: { readonly row: number; readonly column: number };
  /** Rows out of sight, for `↑ 12 more`; logical lines when the text out of sight is very long. */
  readonly above: number;
  readonly below: number;
  /** The offset of the first shown row: hand it back as `top` so that the text does not jump. */
  readonly top: number;
};

// Beyond this many characters the hidden rows are not laid out, only their lines counted.
const COUNT_EXACTLY = 8192;

/** Lays out what fits into a height, always with the row of the caret in it. */
export function viewEditor(state: EditorState, window: { readonly height: number; readonly top?: number }): EditorView {
  const height = Math.max(1, window.height);
  const { row: caretRow, column } = locate(state, state.caret);
  const top = window.top ?? 0;
  const upper: VisualRow[] = [];
  for (const above of rowsAbove(state, caretRow)) {
    if (upper.length + 1 >= height || (above.from < top && above.to <= top)) break;
    upper.unshift(above);
  }
  const lower: VisualRow[] = [];
  for (const below of rowsBelow(state, caretRow)) {
    if (upper.length + 1 + lower.length >= height) break;
    lower.push(below);
  }
  for (const above of rowsAbove(state, upper[0] ?? caretRow)) {
    if (upper.length + 1 + lower.length >= height) break;
    upper.unshift(above);
  }
  const shownRows = [...upper, caretRow, ...lower];
  const first = upper[0] ?? caretRow;
  const end = behind(lower.at(-1) ?? caretRow);
  return {
    rows: shownRows.map((row) => ({ row, pieces: rowPieces(state, row) })),
    caret: { row: upper.length, column },
    above: hidden(state, 0, first.from),
    below: end > state.text.length ? 0 : hidden(state, end, state.text.length + 1),
    top: first.from,
  };
}

function hidden(state: EditorState, from: number, to: number): number {
  if (to - from <= COUNT_EXACTLY) return countRows(state, from, to);
  let count = to > state.text.length ? 1 : 0;
  for (let at = state.text.indexOf('\n', from); at !== -1 && at < to; at = state.text.indexOf('\n', at + 1)) count += 1;
  return count;
}
