import { sliceWidth, textWidth } from '../../lib/text/text-width.ts';
import type { Style, ThemeToken } from '../theme/theme.ts';

/** Text of one look; `href` is where it leads on terminals that know links. */
export type Span = { readonly text: string; readonly style?: Style; readonly href?: string };

/**
 * A line as it is meant, before any terminal has a say. `terminal` lines are written unbroken, so that they
 * reflow and copy as one; `words` lines are prose and broken between words.
 */
export type LogicalLine = {
  readonly spans: readonly Span[];
  readonly wrap: 'terminal' | 'words';
  /** Columns before every row. */
  readonly indent: number;
  /** Stands at the end of the indentation of the first row: a bullet, a number. */
  readonly label?: Span;
  /** Blanks that hold words together (U+00A0) break no row; they are drawn as any other. */
  readonly glued?: true;
  /** Stands before the indentation of every row: the bar of a quote. */
  readonly prefix?: readonly Span[];
};

/** A line of code in colours. After a `settled` line nothing is open: the next one can be read without it. */
export type CodeLine = { readonly spans: readonly Span[]; readonly settled: boolean };

/** Colours code; undefined when the language is not known. */
export type Highlight = (code: string, language: string) => readonly CodeLine[] | undefined;

/** A line that is written unbroken. */
export function terminalLine(...spans: readonly Span[]): LogicalLine {
  return { spans, wrap: 'terminal', indent: 0 };
}

/** A line of prose. */
export function proseLine(...spans: readonly Span[]): LogicalLine {
  return { spans, wrap: 'words', indent: 0 };
}

/** The same words, which stay on one row where a line is `glued`. */
export function held(text: string): string {
  return text.replaceAll(' ', '\u00a0');
}

/** Text without any look of its own. */
export function plain(text: string): Span {
  return { text };
}

/** Text in a colour of the theme. */
export function toned(token: ThemeToken, text: string): Span {
  return { text, style: { token } };
}

/** A line that takes one row: what does not fit is left out. The last two columns stay free. */
export function fitLine(line: LogicalLine, width: number): LogicalLine {
  const room = Math.max(1, width - line.indent - 2);
  if (spansWidth(line.spans) <= room) return line;
  let left = room - 1;
  const spans = line.spans.flatMap((span) => {
    if (left <= 0) return [];
    const text = sliceWidth(span.text, 0, left);
    left -= textWidth(text);
    return [{ ...span, text }];
  });
  return { ...line, spans: [...spans, { text: '…' }] };
}

/** How many columns spans take side by side. */
export function spansWidth(spans: readonly Span[]): number {
  return spans.reduce((width, { text }) => width + textWidth(text), 0);
}

/** What a line says, without its look. */
export function lineText(line: LogicalLine): string {
  return line.spans.map(({ text }) => text).join('');
}

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
