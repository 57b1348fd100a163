import { NOTHING_PRINTED, type Printable, printed } from '../../lib/printable.ts';
import { textWidth } from '../../lib/text/text-width.ts';

/** What is redrawn, as it stands on the screen. The cursor is at the caret, which is in one of the rows. */
export type Frame = {
  readonly rows: readonly Printable[];
  readonly caret: { readonly x: number; readonly y: number };
};

/** The cursor stands at the start of an empty row. */
export const NO_FRAME: Frame = { rows: [], caret: { x: 0, y: 0 } };

/** Takes a frame away; the cursor is where it began. */
export function eraseFrame({ caret }: Pick<Frame, 'caret'>): Printable {
  return printed`${down(-caret.y)}\r\u001b[J`;
}

/** The same for a frame that the terminal has wrapped anew at a smaller width. */
export function eraseAfterResize(
  { rows, caret }: Pick<Frame, 'caret'> & { readonly rows: readonly string[] },
  columns: number,
): Printable {
  const above = rows.slice(0, caret.y).reduce((sum, row) => sum + physicalRows(textWidth(row), columns), 0);
  return eraseFrame({ caret: { x: 0, y: above + Math.floor(caret.x / Math.max(1, columns)) } });
}

/** So many rows down, or up. */
export function down(rows: number): Printable {
  if (rows === 0) return NOTHING_PRINTED;
  return rows > 0 ? printed`\u001b[${rows}B` : printed`\u001b[${-rows}A`;
}

function physicalRows(width: number, columns: number): number {
  return Math.max(1, Math.ceil(width / Math.max(1, columns)));
}
