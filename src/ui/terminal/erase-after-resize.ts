import { textWidth } from '../../lib/text/text-width.ts';

/** What has to be known of the last frame to find it again. */
export type FrameShape = {
  readonly widths: readonly string[];
  readonly caret: { readonly x: number; readonly y: number };
};

/**
 * Erases a frame that the terminal has wrapped anew at a smaller width, and leaves the cursor where a renderer that
 * counts the rows it wrote expects it.
 */
export function eraseAfterResize({ widths, caret }: FrameShape, columns: number): string {
  const above = widths.slice(0, caret.y).reduce((rows, row) => rows + physicalRows(textWidth(row), columns), 0);
  const up = above + Math.floor(caret.x / Math.max(1, columns));
  const toTop = up === 0 ? '\r' : `\r\u001b[${up}A`;
  const back = caret.y === 0 ? '' : `\u001b[${caret.y}B`;
  return `${toTop}\u001b[J${back}`;
}

function physicalRows(width: number, columns: number): number {
  return Math.max(1, Math.ceil(width / Math.max(1, columns)));
}
