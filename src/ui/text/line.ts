import type { ThemeToken } from '../theme/theme.ts';

/** How a piece of text looks: a colour by meaning, and attributes that survive without colour. */
export type Style = {
  readonly token?: ThemeToken;
  readonly background?: 'addBg' | 'delBg';
  readonly bold?: true;
  readonly dim?: true;
  readonly italic?: true;
  readonly underline?: true;
  readonly strike?: true;
  readonly inverse?: true;
};

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
  /** Stands before the indentation of every row: the bar of a quote. */
  readonly prefix?: readonly Span[];
};

/** A line that is written unbroken. */
export function terminalLine(...spans: readonly Span[]): LogicalLine {
  return { spans, wrap: 'terminal', indent: 0 };
}

/** A line of prose. */
export function proseLine(...spans: readonly Span[]): LogicalLine {
  return { spans, wrap: 'words', indent: 0 };
}

/** Text without any look of its own. */
export function plain(text: string): Span {
  return { text };
}

/** Text in a colour of the theme. */
export function toned(token: ThemeToken, text: string): Span {
  return { text, style: { token } };
}

/** What a line says, without its look. */
export function lineText(line: LogicalLine): string {
  return line.spans.map(({ text }) => text).join('');
}
