import { graphemes, sliceWidth, textWidth } from './text-width.ts';

/** Cut at the end so that the text with its `…` fits. */
export function truncateEnd(text: string, width: number): string {
  if (textWidth(text) <= width) return text;
  return width <= 0 ? '' : `${sliceWidth(text, 0, width - 1)}…`;
}

/** Cut at the start: for paths, where the end says most. */
export function truncateStart(text: string, width: number): string {
  if (textWidth(text) <= width) return text;
  return width <= 0 ? '' : `…${lastColumns(text, width - 1)}`;
}

/** Cut in the middle: both the beginning and the end stay readable. */
export function truncateMiddle(text: string, width: number): string {
  if (textWidth(text) <= width) return text;
  if (width <= 0) return '';
  const head = Math.ceil((width - 1) / 2);
  return `${sliceWidth(text, 0, head)}…${lastColumns(text, width - 1 - head)}`;
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

function lastColumns(text: string, width: number): string {
  let room = width;
  let kept = '';
  for (const grapheme of graphemes(text).reverse()) {
    room -= textWidth(grapheme);
    if (room < 0) break;
    kept = grapheme + kept;
  }
  return kept;
}
