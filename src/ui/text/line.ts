import { getTextWidth, sliceColumns } from '../../lib/text/text-width.ts';
import type { TextStyle, ThemeToken } from '../theme/theme.ts';

/** Text in one style; `href` is its target on terminals with hyperlinks. */
export type StyledSpan = { readonly text: string; readonly style?: TextStyle; readonly href?: string };

/**
 * A line before it is fitted to a terminal. `terminal` lines are written unbroken and wrapped by the terminal, so
 * that they reflow and copy as one line; `words` lines are prose, wrapped between words.
 */
export type LogicalLine = {
  readonly spans: readonly StyledSpan[];
  readonly wrap: 'terminal' | 'words';
  /** Spaces before every row. */
  readonly indent: number;
  /** Bullet or number at the end of the indentation of the first row. */
  readonly label?: StyledSpan;
  /** No-break spaces (U+00A0) in the line prevent wrapping and are drawn as normal spaces. */
  readonly hasNoBreakSpaces?: true;
  /** Prefix before the indentation of every row: the bar of a quote. */
  readonly prefix?: readonly StyledSpan[];
};

/** A highlighted line of code. `settled`: no comment or string is open at its end, so the next line needs no context. */
export type CodeLine = { readonly spans: readonly StyledSpan[]; readonly isClosed: boolean };

/** Highlights code. Returns undefined for an unknown language. */
export type HighlightCode = (code: string, language: string) => readonly CodeLine[] | undefined;

/** Creates a line that the terminal wraps. */
export function createStyledLine(...spans: readonly StyledSpan[]): LogicalLine {
  return { spans, wrap: 'terminal', indent: 0 };
}

/** Creates a line of prose, wrapped between words. */
export function createProseLine(...spans: readonly StyledSpan[]): LogicalLine {
  return { spans, wrap: 'words', indent: 0 };
}

/** Replaces spaces by no-break spaces, which keep the text on one row where the line is `glued`. */
export function insertNoBreakSpaces(text: string): string {
  return text.replaceAll(' ', '\u00a0');
}

/** Creates a span without style. */
export function plain(text: string): StyledSpan {
  return { text };
}

/** Creates a span in the color of a theme token. */
export function colored(token: ThemeToken, text: string): StyledSpan {
  return { text, style: { token } };
}

/** Truncates a line to one row. The last two columns stay free. */
export function truncateLine(line: LogicalLine, width: number): LogicalLine {
  const room = Math.max(1, width - line.indent - 2);
  if (measureSpans(line.spans) <= room) return line;
  let freeColumns = room - 1;
  const spans = line.spans.flatMap((span) => {
    if (freeColumns <= 0) return [];
    const text = sliceColumns(span.text, 0, freeColumns);
    freeColumns -= getTextWidth(text);
    return [{ ...span, text }];
  });
  return { ...line, spans: [...spans, { text: '…' }] };
}

/** Returns the width of spans side by side, in columns. */
export function measureSpans(spans: readonly StyledSpan[]): number {
  return spans.reduce((width, { text }) => width + getTextWidth(text), 0);
}

/** Returns the text of a line without styles. */
export function getLineText(line: LogicalLine): string {
  return line.spans.map(({ text }) => text).join('');
}

/** Returns the part of spans between two offsets of their text. */
export function sliceSpans(spans: readonly StyledSpan[], from: number, to: number): StyledSpan[] {
  const slice: StyledSpan[] = [];
  let offset = 0;
  for (const span of spans) {
    const text = span.text.slice(Math.max(0, from - offset), Math.max(0, to - offset));
    if (text !== '') slice.push({ ...span, text });
    offset += span.text.length;
    if (offset >= to) break;
  }
  return slice;
}
