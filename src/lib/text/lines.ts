export type LineEnding = '\n' | '\r\n' | '\r';

/** The one ending a text uses, `mixed` for several, `none` for a single line. A lone `\r` counts only where nothing else does. */
export function lineEndingOf(text: string): LineEnding | 'mixed' | 'none' {
  const crlf = countOf(text, '\r\n');
  const feeds = countOf(text, '\n');
  if (feeds === 0) return text.includes('\r') ? '\r' : 'none';
  if (crlf === 0) return '\n';
  return crlf === feeds ? '\r\n' : 'mixed';
}

/** The lines without their endings. The empty piece after a final newline is not a line. */
export function splitLines(text: string): string[] {
  if (text === '') return [];
  const lines = text.split(lineEndingOf(text) === '\r' ? '\r' : /\r?\n/);
  if (lines.at(-1) === '') lines.pop();
  return lines;
}

function countOf(text: string, wanted: string): number {
  let count = 0;
  for (let at = text.indexOf(wanted); at !== -1; at = text.indexOf(wanted, at + wanted.length)) count += 1;
  return count;
}
