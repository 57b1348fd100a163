import { stripVTControlCharacters } from 'node:util';
import type { FrameShape } from './erase-after-resize.ts';

/** Text whose width every terminal agrees on. */
const CERTAIN = /^[\x20-\x7e]*$/;

/**
 * Writes lines above a frame while it becomes another one. What both frames have in common at their end is moved, not
 * drawn anew. Only where it is certain how many rows the lines take and that all of it is on the screen; else undefined.
 */
export function insertAbove(
  lines: readonly string[],
  before: FrameShape,
  after: FrameShape,
  size: { readonly columns: number; readonly rows: number },
): string | undefined {
  const taken = rowsOf(lines, size.columns);
  const [old, next] = [before.widths, after.widths];
  if (taken === undefined || old.length === 0) return undefined;
  const kept = commonEnd(old, next);
  const head = next.slice(0, next.length - kept);
  const gone = old.length - kept;
  const shift = taken + head.length - gone;
  // A frame ends with an empty row of its own, and it moves with the rest.
  if (old.length + 1 + Math.max(0, shift) > size.rows) return undefined;
  const text = [...lines.map((line) => rowText(line, size.columns)), ...head.map((row) => `\u001b[K${row}\n`)].join('');
  const toCaret = `${by(after.caret.y - head.length)}\u001b[${after.caret.x + 1}G`;
  // The same in fewer bytes; it stands in nearly every row.
  return `${moveEnd(before, gone, shift)}${text.replaceAll('\u001b[0m', '\u001b[m')}${toCaret}`;
}

/** Moves the end of a frame by so many rows, and goes to where the frame began. */
function moveEnd({ widths, caret }: FrameShape, gone: number, shift: number): string {
  const height = widths.length + 1;
  if (shift > 0) {
    const room = `${by(height - 1 - caret.y)}${'\n'.repeat(shift)}`;
    return `${room}${by(gone + 1 - height - shift)}\u001b[${shift}L${by(-gone)}`;
  }
  const toTop = `${by(-caret.y)}\r`;
  if (shift === 0) return toTop;
  return `${toTop}${by(gone + shift)}\u001b[${-shift}M${by(-gone - shift)}`;
}

/** A line over rows that hold something else. */
function rowText(line: string, columns: number): string {
  const width = stripVTControlCharacters(line).length;
  // Behind a full row the cursor still stands on its last column: erasing would take that away.
  const rest = width > columns && width % Math.max(1, columns) !== 0 ? '\u001b[K' : '';
  return `\u001b[K${line}${rest}\n`;
}

function commonEnd(before: readonly string[], after: readonly string[]): number {
  let length = 0;
  while (length < Math.min(before.length, after.length) && before.at(-1 - length) === after.at(-1 - length))
    length += 1;
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

/** So many rows down, or up. */
function by(rows: number): string {
  if (rows === 0) return '';
  return rows > 0 ? `\u001b[${rows}B` : `\u001b[${-rows}A`;
}
