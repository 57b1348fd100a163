import { formatBytes } from '../../lib/text/format.ts';
import { lineEndingOf, splitLines } from '../../lib/text/lines.ts';

export const DEFAULT_LINES = 2000;
const MAX_LINE_CHARS = 2000;
const MAX_BYTES = 256 * 1024;

export type TextRange = {
  /** What the model reads: numbered lines and what is to be said about them. */
  readonly content: string;
  /** The same lines bare, for hosts. */
  readonly plain: string;
  readonly startLine: number;
  readonly shownLines: number;
  readonly totalLines: number;
  readonly partial: boolean;
};

/** Numbered lines of a text, within the limits. Whatever is left out is said. */
export function showRange(text: string, from: { readonly offset: number; readonly limit: number }): TextRange {
  const lines = splitLines(text);
  const startLine = Math.max(1, from.offset);
  const shown: string[] = [];
  const plain: string[] = [];
  let bytes = 0;
  let cut = 0;
  for (let number = startLine; number <= lines.length && shown.length < from.limit; number += 1) {
    const line = visible(lines[number - 1] ?? '');
    const short =
      line.length > MAX_LINE_CHARS ? `${clip(line)}… [${line.length - MAX_LINE_CHARS} more characters]` : line;
    bytes += Buffer.byteLength(short) + 8;
    if (bytes > MAX_BYTES && shown.length > 0) break;
    if (short !== line) cut += 1;
    shown.push(`${number}→${short}`);
    plain.push(short);
  }
  const next = startLine + shown.length;
  const partial = next <= lines.length;
  const notes = [
    ...(partial ? [partialNote(startLine, next - 1, lines.length, bytes)] : []),
    ...(cut > 0
      ? [
          `${cut} long line${cut === 1 ? ' was' : 's were'} cut at ${MAX_LINE_CHARS} characters; use Grep or cut to see the rest.`,
        ]
      : []),
    ...endingNote(text),
  ];
  const content = notes.length === 0 ? shown.join('\n') : `${shown.join('\n')}\n\n[${notes.join(' ')}]`;
  return { content, plain: plain.join('\n'), startLine, shownLines: shown.length, totalLines: lines.length, partial };
}

function partialNote(first: number, last: number, total: number, bytes: number): string {
  const why = bytes > MAX_BYTES ? ` (${formatBytes(MAX_BYTES)} reached)` : '';
  return `PARTIAL: lines ${first} to ${last} of ${total}${why}. Go on with offset ${last + 1}.`;
}

function endingNote(text: string): readonly string[] {
  const ending = lineEndingOf(text);
  if (ending === '\r\n') return ['Lines end in CRLF; edits keep that.'];
  return ending === 'mixed' ? ['Line endings are mixed; edits keep each.'] : [];
}

/** Control characters as symbols: never raw. */
function visible(line: string): string {
  return line
    .replace(/[\x00-\x08\x0b-\x1f\x7f-\x9f]/g, (character) => {
      const code = character.charCodeAt(0);
      return code < 32 ? String.fromCharCode(0x2400 + code) : `\\x${code.toString(16)}`;
    })
    .toWellFormed();
}

function clip(line: string): string {
  const cut = line.slice(0, MAX_LINE_CHARS);
  return cut.isWellFormed() ? cut : cut.slice(0, -1);
}
