import stringWidth from 'string-width';

const graphemeSegmenter = new Intl.Segmenter('en', { granularity: 'grapheme' });
const NOT_PRINTABLE_ASCII = /[^\x20-\x7e]/;

/** True when every character is one column wide and one grapheme by itself. */
export function isPlainAscii(text: string): boolean {
  return !NOT_PRINTABLE_ASCII.test(text);
}

/** The user-perceived characters of a text, in order; joined again they are the text. */
export function graphemes(text: string): string[] {
  if (isPlainAscii(text)) return text.split('');
  const found: string[] = [];
  for (const { segment } of graphemeSegmenter.segment(text)) found.push(segment);
  return found;
}

/** Terminal columns a text takes on one line; ANSI sequences and control characters take none. */
export function textWidth(text: string): number {
  return stringWidth(text);
}

/** The part of a text between two columns. A wide character that straddles an edge is left out. */
export function sliceWidth(text: string, fromColumn: number, toColumn: number): string {
  if (isPlainAscii(text)) return text.slice(Math.max(0, fromColumn), Math.max(0, toColumn));
  let column = 0;
  let slice = '';
  for (const grapheme of graphemes(text)) {
    const end = column + stringWidth(grapheme);
    if (end > toColumn) break;
    if (column >= fromColumn) slice += grapheme;
    column = end;
  }
  return slice;
}

/** Tabs become spaces up to the next tab stop. */
export function expandTabs(text: string, tabWidth: number): string {
  if (!text.includes('\t')) return text;
  let column = 0;
  let expanded = '';
  for (const piece of text.split(/(\t)/)) {
    const shown = piece === '\t' ? ' '.repeat(tabWidth - (column % tabWidth)) : piece;
    expanded += shown;
    column += stringWidth(shown);
  }
  return expanded;
}

/** The text with spaces behind it up to a width; a longer text stays as it is. */
export function padWidth(text: string, width: number): string {
  return text + ' '.repeat(Math.max(0, width - stringWidth(text)));
}
