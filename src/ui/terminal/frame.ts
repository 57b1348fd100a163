import { textWidth } from '../../lib/text/text-width.ts';

/** What is redrawn, as it stands on the screen. The cursor is at the caret, which is in one of the rows. */
export type Frame = {
  readonly rows: readonly string[];
  readonly caret: { readonly x: number; readonly y: number };
};

/** The cursor stands at the start of an empty row. */
export const NO_FRAME: Frame = { rows: [], caret: { x: 0, y: 0 } };

/** Takes a frame away; the cursor is where it began. */
export function eraseFrame({ caret }: Frame): string {
  return `${down(-caret.y)}\r\u001b[J`;
}

/** The same for a frame that the terminal has wrapped anew at a smaller width. */
export function eraseAfterResize({ rows, caret }: Frame, columns: number): string {
  const above = rows.slice(0, caret.y).reduce((sum, row) => sum + physicalRows(textWidth(row), columns), 0);
  return eraseFrame({ rows, caret: { x: 0, y: above + Math.floor(caret.x / Math.max(1, columns)) } });
}

/** So many rows down, or up. */
export function down(rows: number): string {
  if (rows === 0) return '';
  return rows > 0 ? `\u001b[${rows}B` : `\u001b[${-rows}A`;
}

function physicalRows(width: number, columns: number): number {
  return Math.max(1, Math.ceil(width / Math.max(1, columns)));
}
