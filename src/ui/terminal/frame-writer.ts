import { asPrintable, NOTHING_PRINTED, type Printable } from '../../lib/printable.ts';
import { down, eraseFrame, type Frame, NO_FRAME } from './frame.ts';
import { insertAbove } from './insert-above.ts';
import { changedRow, filledRow } from './row-bytes.ts';

/** Goes from one frame to the next; `lines` become history above it, each written once and unbroken. */
export function frameBytes(
  before: Frame,
  after: Frame,
  lines: readonly Printable[],
  size: { readonly columns: number; readonly rows: number },
): Printable {
  if (lines.length === 0) return changes(before, after);
  const inserted = insertAbove(lines, before, after, size);
  if (inserted !== undefined) return inserted;
  const text = lines.map((line) => `${filledRow(line, size.columns)}\r\n`).join('');
  return asPrintable(`${eraseFrame(before)}${text}${changes(NO_FRAME, after)}`);
}

/** Writes the rows that differ, adds those that are new, erases those that are gone. */
function changes(before: Frame, after: Frame): Printable {
  let at = before.caret.y;
  let text = '';
  for (const [y, row] of after.rows.entries()) {
    const old = before.rows[y];
    if (old === row) continue;
    if (old === undefined && y > 0) {
      // Only a line feed makes room at the end of the screen.
      text += `${down(y - 1 - at)}\r\n${filledRow(row)}`;
    } else text += `${down(y - at)}\r${old === undefined ? filledRow(row) : changedRow(old, row)}`;
    at = y;
  }
  if (before.rows.length > after.rows.length) {
    text += `${down(after.rows.length - at)}\r\u001b[J`;
    at = after.rows.length;
  }
  const isAtRest =
    text === '' && before.caret.x === after.caret.x && before.caret.y === after.caret.y && before !== NO_FRAME;
  return isAtRest ? NOTHING_PRINTED : asPrintable(`${text}${down(after.caret.y - at)}\u001b[${after.caret.x + 1}G`);
}
