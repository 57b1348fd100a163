import type { Span } from './line.ts';

/** The part of a line of spans between two offsets of its text. */
export function sliceSpans(spans: readonly Span[], from: number, to: number): Span[] {
  const slice: Span[] = [];
  let at = 0;
  for (const span of spans) {
    const text = span.text.slice(Math.max(0, from - at), Math.max(0, to - at));
    if (text !== '') slice.push({ ...span, text });
    at += span.text.length;
    if (at >= to) break;
  }
  return slice;
}
