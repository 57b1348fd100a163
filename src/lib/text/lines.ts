/** The characters that end a line. */
export type LineEnding = '\n' | '\r\n' | '\r';

/** Returns the line ending of a text: `mixed` for several, `none` for one line. `\r` counts only without any `\n`. */
export function detectLineEnding(text: string): LineEnding | 'mixed' | 'none' {
  const crlf = countOccurrences(text, '\r\n');
  const feeds = countNewlines(text);
  if (feeds === 0) return text.includes('\r') ? '\r' : 'none';
  if (crlf === 0) return '\n';
  return crlf === feeds ? '\r\n' : 'mixed';
}

/** Splits a text into lines without their endings. A final newline does not start another line. */
export function splitLines(text: string): string[] {
  if (text === '') return [];
  const lines = text.split(detectLineEnding(text) === '\r' ? '\r' : /\r?\n/);
  if (lines.at(-1) === '') lines.pop();
  return lines;
}

/** Splits a text into words: long lists of names are easier to read as a text. */
export const splitWords = (text: string): readonly string[] => text.match(/\S+/g) ?? [];

/** Returns the 1-based line number of an offset. */
export function getLineNumber(text: string, offset: number): number {
  return countNewlines(text.slice(0, offset)) + 1;
}

/** Counts the newlines of a text. */
export function countNewlines(text: string): number {
  return countOccurrences(text, '\n');
}

function countOccurrences(text: string, needle: string): number {
  let count = 0;
  for (let at = text.indexOf(needle); at !== -1; at = text.indexOf(needle, at + needle.length)) count += 1;
  return count;
}
