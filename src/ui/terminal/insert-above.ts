import { stripVTControlCharacters } from 'node:util';
import { asPrintable, type Printable } from '../../lib/printable.ts';
import { down, type Frame } from './frame.ts';
import { changedRow, filledRow } from './row-bytes.ts';

/** Text whose width every terminal agrees on. */
const CERTAIN = /^[\x20-\x7e]*$/;

/**
 * Writes lines above a frame while it becomes another one. What both frames have in common at their end is moved, not
 * drawn anew. Only where it is certain how many rows the lines take and that all of it is on the screen; else undefined.
 */
export function insertAbove(
  lines: readonly Printable[],
  before: Frame,
  after: Frame,
  size: { readonly columns: number; readonly rows: number },
): Printable | undefined {
  const taken = rowsOf(lines, size.columns);
  const [old, next] = [before.rows, after.rows];
  if (taken === undefined || old.length === 0) return undefined;
  const kept = commonEnd(old, next);
  const head = next.slice(0, next.length - kept);
  const gone = old.length - kept;
  const shift = taken + head.length - gone;
  if (old.length + Math.max(0, shift) > size.rows) return undefined;
  const written = [
    ...lines.map((line) => rowText(line, size.columns)),
    ...head.map((row) => `\u001b[K${filledRow(row)}`),
  ];
  // Behind the last row of all there may be no other.
  const at = kept === 0 ? head.length - 1 : head.length;
  const text = written.join('\n') + (kept === 0 ? '' : '\n');
  const end = keptRows(old.slice(gone), next.slice(head.length), at);
  const toCaret = `${down(after.caret.y - end.at)}\u001b[${after.caret.x + 1}G`;
  // The same in fewer bytes; it stands in nearly every row.
  const shorter = `${text}${end.text}`.replaceAll('\u001b[0m', '\u001b[m');
  return asPrintable(`${moveEnd(before, gone, shift)}${shorter}${toCaret}`);
}

/** What has changed in rows that were moved, and in which row of the frame the cursor is then. */
function keptRows(
  old: readonly string[],
  next: readonly string[],
  top: number,
): { readonly text: string; readonly at: number } {
  let at = top;
  let text = '';
  for (const [index, row] of next.entries()) {
    const before = old[index];
    if (before === undefined || before === row) continue;
    text += `${down(top + index - at)}\r${changedRow(before, row)}`;
    at = top + index;
  }
  return { text, at };
}

/** Moves the end of a frame by so many rows, and goes to where the frame began. */
function moveEnd({ rows, caret }: Frame, gone: number, shift: number): string {
  const height = rows.length;
  if (shift > 0) {
    const room = `${down(height - 1 - caret.y)}${'\n'.repeat(shift)}`;
    return `${room}${down(gone + 1 - height - shift)}\u001b[${shift}L${down(-gone)}`;
  }
  const toTop = `${down(-caret.y)}\r`;
  if (shift === 0) return toTop;
  return `${toTop}${down(gone + shift)}\u001b[${-shift}M${down(-gone - shift)}`;
}

/** A line over rows that hold something else. */
function rowText(line: string, columns: number): string {
  const width = stripVTControlCharacters(line).length;
  // Behind a full row the cursor still stands on its last column: erasing would take that away.
  const rest = width > columns && width % Math.max(1, columns) !== 0 ? '\u001b[K' : '';
  const filled = filledRow(line, columns);
  return `\u001b[K${filled}${filled === line ? rest : ''}`;
}

/** How many rows at the end are the same, or so nearly that the little that differs is written over them. */
function commonEnd(before: readonly string[], after: readonly string[]): number {
  let length = 0;
  for (; length < Math.min(before.length, after.length); length += 1) {
    const [old = '', row = ''] = [before.at(-1 - length), after.at(-1 - length)];
    if (old !== row && changedRow(old, row).length * 2 > row.length) break;
  }
  return length;
}

function rowsOf(lines: readonly string[], columns: number): number | undefined {
  let rows = 0;
  for (const line of lines) {
    const text = stripVTControlCharacters(line);
    if (!CERTAIN.test(text)) return undefined;
    rows += Math.max(1, Math.ceil(text.length / Math.max(1, columns)));
  }
  return rows;
}
