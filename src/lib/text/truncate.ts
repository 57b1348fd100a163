import { sliceWidth, textWidth } from './text-width.ts';

/** Cut at the end so that the text with its `…` fits. */
export function truncateEnd(text: string, width: number): string {
  if (textWidth(text) <= width) return text;
  return width <= 0 ? '' : `${sliceWidth(text, 0, width - 1)}…`;
}
