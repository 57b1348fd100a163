import { sliceWidth, textWidth } from './text-width.ts';

/** Cut at the end so that the text with its `…` fits. */
export function truncateEnd(text: string, width: number): string {
  if (textWidth(text) <= width) return text;
  return width <= 0 ? '' : `${sliceWidth(text, 0, width - 1)}…`;
}

/** The first and last of many lines, and how many are left out between them. */
export type HeadTail = {
  readonly head: readonly string[];
  readonly hidden: number;
  readonly tail: readonly string[];
};

/** Keeps the ends of a long output; nothing is hidden when one line would be all that is won. */
export function headTail(lines: readonly string[], keep: { readonly head: number; readonly tail: number }): HeadTail {
  const hidden = lines.length - keep.head - keep.tail;
  if (hidden <= 1) return { head: lines, hidden: 0, tail: [] };
  return { head: lines.slice(0, keep.head), hidden, tail: lines.slice(lines.length - keep.tail) };
}
