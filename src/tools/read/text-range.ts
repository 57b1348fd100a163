import { detectLineEnding, splitLines } from '../../lib/text/lines.ts';

/** Number of lines that are read by default. */
export const DEFAULT_READ_LINE_LIMIT = 2000;
const MAX_LINE_CHARS = 2000;

/** The lines that a call asks for. A negative offset counts from the end of the file. */
export type LineRangeRequest = {
  readonly offset: number | undefined;
  readonly limit: number | undefined;
  /** Byte limit of the rendered lines; the first line is always included. */
  readonly maxBytes: number;
};

/** Lines of a text, rendered for the model. */
export type RenderedLineRange = {
  /** Numbered lines and notes, for the model. */
  readonly content: string;
  /** The same lines without numbers and notes, for hosts. */
  readonly plain: string;
  readonly startLine: number;
  readonly shownLines: number;
  readonly totalLines: number;
  readonly partial: boolean;
};

/** Renders numbered lines of a text within the limits, with notes about what was omitted. */
export function renderLineRange(text: string, request: LineRangeRequest): RenderedLineRange {
  const lines = splitLines(text);
  const { offset = 1, maxBytes } = request;
  const startLine = offset < 0 ? Math.max(1, lines.length + offset + 1) : Math.max(1, offset);
  const wanted = request.limit ?? (offset < 0 ? -offset : DEFAULT_READ_LINE_LIMIT);
  const shown: string[] = [];
  const plainLines: string[] = [];
  let bytes = 0;
  let clippedCount = 0;
  for (let number = startLine; number <= lines.length && shown.length < wanted; number += 1) {
    const line = replaceControls(lines[number - 1] ?? '');
    const clipped =
      line.length > MAX_LINE_CHARS ? `${clip(line)}… [${line.length - MAX_LINE_CHARS} more characters]` : line;
    bytes += Buffer.byteLength(clipped) + NUMBER_BYTES;
    if (bytes > maxBytes && shown.length > 0) break;
    if (clipped !== line) clippedCount += 1;
    shown.push(`${number}→${clipped}`);
    plainLines.push(clipped);
  }
  const lastLine = startLine + shown.length - 1;
  const partial = lastLine < lines.length && (shown.length < wanted || request.limit === undefined);
  const notes = [
    ...(lastLine < lines.length && shown.length > 0
      ? [
          `${partial ? 'PARTIAL: l' : 'L'}ines ${startLine} to ${lastLine} of ${lines.length}.${describeRest(partial, lastLine)}`,
        ]
      : []),
    ...(clippedCount > 0
      ? [
          `${clippedCount} long line${clippedCount === 1 ? ' was' : 's were'} cut at ${MAX_LINE_CHARS} characters; use Grep or cut to see the rest.`,
        ]
      : []),
    ...describeEndings(text),
  ];
  const content = notes.length === 0 ? shown.join('\n') : `${shown.join('\n')}\n\n[${notes.join(' ')}]`;
  return {
    content,
    plain: plainLines.join('\n'),
    startLine,
    shownLines: shown.length,
    totalLines: lines.length,
    partial,
  };
}

/** Size of a line number, its arrow and the line end. */
const NUMBER_BYTES = 8;

function describeRest(partial: boolean, lastLine: number): string {
  return partial ? ` Go on with offset ${lastLine + 1}.` : '';
}

function describeEndings(text: string): readonly string[] {
  const ending = detectLineEnding(text);
  if (ending === '\r\n') return ['Lines end in CRLF; edits keep that.'];
  return ending === 'mixed' ? ['Line endings are mixed; edits keep each.'] : [];
}

/** Replaces control characters by visible symbols. */
function replaceControls(line: string): string {
  return line
    .replace(/[\x00-\x08\x0b-\x1f\x7f-\x9f]/g, (character) => {
      const code = character.charCodeAt(0);
      return code < 32 ? String.fromCharCode(0x2400 + code) : `\\x${code.toString(16)}`;
    })
    .toWellFormed();
}

function clip(line: string): string {
  const prefix = line.slice(0, MAX_LINE_CHARS);
  return prefix.isWellFormed() ? prefix : prefix.slice(0, -1);
}
