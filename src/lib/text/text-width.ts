import stringWidth from 'string-width';

const graphemeSegmenter = new Intl.Segmenter('en', { granularity: 'grapheme' });
const NOT_PRINTABLE_ASCII = /[^\x20-\x7e]/;

/** Returns whether a text is printable ASCII only, so that each character is one grapheme and one column wide. */
export function isPlainAscii(text: string): boolean {
  return !NOT_PRINTABLE_ASCII.test(text);
}

/** Splits a text into the characters that a reader sees. */
export function splitGraphemes(text: string): string[] {
  if (isPlainAscii(text)) return text.split('');
  const segments: string[] = [];
  for (const { segment } of graphemeSegmenter.segment(text)) segments.push(segment);
  return segments;
}

/** Returns the width of a text in terminal columns. ANSI sequences and control characters have no width. */
export function getTextWidth(text: string): number {
  return stringWidth(text);
}

/** Returns the part of a text between two columns, without wide characters that cross an edge. */
export function sliceColumns(text: string, fromColumn: number, toColumn: number): string {
  if (isPlainAscii(text)) return text.slice(Math.max(0, fromColumn), Math.max(0, toColumn));
  let column = 0;
  let slice = '';
  for (const grapheme of splitGraphemes(text)) {
    const end = column + stringWidth(grapheme);
    if (end > toColumn) break;
    if (column >= fromColumn) slice += grapheme;
    column = end;
  }
  return slice;
}

/** Replaces tabs by spaces up to the next tab stop. */
export function expandTabs(text: string, tabWidth: number): string {
  if (!text.includes('\t')) return text;
  let column = 0;
  let expanded = '';
  for (const piece of text.split(/(\t)/)) {
    const replacement = piece === '\t' ? ' '.repeat(tabWidth - (column % tabWidth)) : piece;
    expanded += replacement;
    column += stringWidth(replacement);
  }
  return expanded;
}

/** Pads a text with spaces at the end to a width. A longer text is returned unchanged. */
export function padToWidth(text: string, width: number): string {
  return text + ' '.repeat(Math.max(0, width - stringWidth(text)));
}

/** Cuts a text at the end so that it fits a width together with its `…`. */
export function truncateEnd(text: string, width: number): string {
  if (getTextWidth(text) <= width) return text;
  return width <= 0 ? '' : `${sliceColumns(text, 0, width - 1)}…`;
}
