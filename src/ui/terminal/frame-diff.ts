import { stripVTControlCharacters } from 'node:util';
import { EMPTY_PRINTABLE, markAsPrintable, type Printable, printable } from '../../lib/printable.ts';
import { getTextWidth } from '../../lib/text/text-width.ts';
import { encodeNewRow, encodeRowChange } from './encode-row.ts';

/** Returns the bytes that replace one frame by the next. `lines` are written above it as history, each exactly once. */
export function diffFrames(
  before: ScreenFrame,
  after: ScreenFrame,
  lines: readonly Printable[],
  size: { readonly columns: number; readonly rows: number },
): Printable {
  if (lines.length === 0) return diffRows(before, after);
  const inserted = insertAbove(lines, before, after, size);
  if (inserted !== undefined) return inserted;
  const text = lines.map((line) => `${encodeNewRow(line, size.columns)}\r\n`).join('');
  return markAsPrintable(`${eraseFrame(before)}${text}${diffRows(EMPTY_FRAME, after)}`);
}

/** Returns the bytes for changed, new and removed rows. */
function diffRows(before: ScreenFrame, after: ScreenFrame): Printable {
  let at = before.caret.y;
  let text = '';
  for (const [y, row] of after.rows.entries()) {
    const old = before.rows[y];
    if (old === row) continue;
    if (old === undefined && y > 0) {
      // Only a line feed scrolls at the end of the screen.
      text += `${moveCursorDown(y - 1 - at)}\r\n${encodeNewRow(row)}`;
    } else text += `${moveCursorDown(y - at)}\r${old === undefined ? encodeNewRow(row) : encodeRowChange(old, row)}`;
    at = y;
  }
  if (before.rows.length > after.rows.length) {
    text += `${moveCursorDown(after.rows.length - at)}\r\u001b[J`;
    at = after.rows.length;
  }
  const isUnchanged =
    text === '' && before.caret.x === after.caret.x && before.caret.y === after.caret.y && before !== EMPTY_FRAME;
  return isUnchanged
    ? EMPTY_PRINTABLE
    : markAsPrintable(`${text}${moveCursorDown(after.caret.y - at)}\u001b[${after.caret.x + 1}G`);
}

/** The redrawn part of the screen. The cursor is at the caret, which is in one of the rows. */
export type ScreenFrame = {
  readonly rows: readonly Printable[];
  readonly caret: { readonly x: number; readonly y: number };
};

/** An empty frame: the cursor is at the start of an empty row. */
export const EMPTY_FRAME: ScreenFrame = { rows: [], caret: { x: 0, y: 0 } };

/** Erases a frame and moves the cursor to its start. */
export function eraseFrame({ caret }: Pick<ScreenFrame, 'caret'>): Printable {
  return printable`${moveCursorDown(-caret.y)}\r\u001b[J`;
}

/** Erases a frame that the terminal has rewrapped at a smaller width. */
export function eraseAfterResize(
  { rows, caret }: Pick<ScreenFrame, 'caret'> & { readonly rows: readonly string[] },
  columns: number,
): Printable {
  const above = rows.slice(0, caret.y).reduce((sum, row) => sum + countWrappedRows(getTextWidth(row), columns), 0);
  return eraseFrame({ caret: { x: 0, y: above + Math.floor(caret.x / Math.max(1, columns)) } });
}

/** Moves the cursor down by a number of rows; up for a negative number. */
function moveCursorDown(rows: number): Printable {
  if (rows === 0) return EMPTY_PRINTABLE;
  return rows > 0 ? printable`\u001b[${rows}B` : printable`\u001b[${-rows}A`;
}

function countWrappedRows(width: number, columns: number): number {
  return Math.max(1, Math.ceil(width / Math.max(1, columns)));
}

/** Text that has the same width in every terminal. */
const KNOWN_WIDTH = /^[\x20-\x7e]*$/;

/**
 * Returns the bytes that write lines above a frame while it becomes another one. Rows that both frames share at their
 * end are moved and not redrawn. Returns undefined where the number of rows is uncertain or they exceed the screen.
 */
function insertAbove(
  lines: readonly Printable[],
  before: ScreenFrame,
  after: ScreenFrame,
  size: { readonly columns: number; readonly rows: number },
): Printable | undefined {
  const lineRows = countRows(lines, size.columns);
  const [old, next] = [before.rows, after.rows];
  if (lineRows === undefined || old.length === 0) return undefined;
  const shared = countSharedEnd(old, next);
  const head = next.slice(0, next.length - shared);
  const removed = old.length - shared;
  const shift = lineRows + head.length - removed;
  if (old.length + Math.max(0, shift) > size.rows) return undefined;
  const written = [
    ...lines.map((line) => overwriteRow(line, size.columns)),
    ...head.map((row) => `\u001b[K${encodeNewRow(row)}`),
  ];
  // After the last row of the screen there may be no further row.
  const at = shared === 0 ? head.length - 1 : head.length;
  const text = written.join('\n') + (shared === 0 ? '' : '\n');
  const end = updateSharedRows(old.slice(removed), next.slice(head.length), at);
  const toCaret = `${moveCursorDown(after.caret.y - end.at)}\u001b[${after.caret.x + 1}G`;
  // The short form of the reset saves bytes, as nearly every row contains one.
  const shorter = `${text}${end.text}`.replaceAll('\u001b[0m', '\u001b[m');
  return markAsPrintable(`${moveSharedRows(before, removed, shift)}${shorter}${toCaret}`);
}

/** Returns the bytes for changes in moved rows, and the row of the cursor afterwards. */
function updateSharedRows(
  old: readonly string[],
  next: readonly string[],
  top: number,
): { readonly text: string; readonly at: number } {
  let at = top;
  let text = '';
  for (const [index, row] of next.entries()) {
    const before = old[index];
    if (before === undefined || before === row) continue;
    text += `${moveCursorDown(top + index - at)}\r${encodeRowChange(before, row)}`;
    at = top + index;
  }
  return { text, at };
}

/** Moves the end of a frame by `shift` rows, and the cursor to the start of the frame. */
function moveSharedRows({ rows, caret }: ScreenFrame, removed: number, shift: number): string {
  const height = rows.length;
  if (shift > 0) {
    const room = `${moveCursorDown(height - 1 - caret.y)}${'\n'.repeat(shift)}`;
    return `${room}${moveCursorDown(removed + 1 - height - shift)}\u001b[${shift}L${moveCursorDown(-removed)}`;
  }
  const toTop = `${moveCursorDown(-caret.y)}\r`;
  if (shift === 0) return toTop;
  return `${toTop}${moveCursorDown(removed + shift)}\u001b[${-shift}M${moveCursorDown(-removed - shift)}`;
}

/** Returns the bytes that write a line over non-empty rows. */
function overwriteRow(line: string, columns: number): string {
  const width = stripVTControlCharacters(line).length;
  // After a full row the cursor is still on its last column, which erasing would clear.
  const rest = width > columns && width % Math.max(1, columns) !== 0 ? '\u001b[K' : '';
  const filled = encodeNewRow(line, columns);
  return `\u001b[K${filled}${filled === line ? rest : ''}`;
}

/** Counts the rows at the end that are equal, or so similar that rewriting the difference is cheaper. */
function countSharedEnd(before: readonly string[], after: readonly string[]): number {
  let length = 0;
  for (; length < Math.min(before.length, after.length); length += 1) {
    const [old = '', row = ''] = [before.at(-1 - length), after.at(-1 - length)];
    if (old !== row && encodeRowChange(old, row).length * 2 > row.length) break;
  }
  return length;
}

/** Counts the rows that lines take; undefined if the width of a line is uncertain. */
function countRows(lines: readonly string[], columns: number): number | undefined {
  let rows = 0;
  for (const line of lines) {
    const text = stripVTControlCharacters(line);
    if (!KNOWN_WIDTH.test(text)) return undefined;
    rows += Math.max(1, Math.ceil(text.length / Math.max(1, columns)));
  }
  return rows;
}
