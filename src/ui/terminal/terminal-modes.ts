import { joinPrintable, type Printable, printable } from '../../lib/printable.ts';
import { THEME_NAMES } from '../theme/theme.ts';
import type { ScreenOptions } from './screen-options.ts';

/** Terminal modes of the screen: the sequences that switch each on and off. */
const MODES: readonly (readonly [Printable, Printable])[] = [
  [printable`\u001b[22;2t`, printable`\u001b[23;2t`],
  [printable`\u001b[?2004h`, printable`\u001b[?2004l`],
  [printable`\u001b[?1004h`, printable`\u001b[?1004l`],
  [printable`\u001b[>1u`, printable`\u001b[<u`],
  [printable`\u001b[?2031h`, printable`\u001b[?2031l`],
  [printable`\u001b[6 q`, printable`\u001b[0 q`],
];

/** Switches on bracketed paste, focus reports, unambiguous keys and a bar cursor, and saves the window title. */
export const TERMINAL_MODES_ON = joinPrintable(MODES.map(([on]) => on));

/** Query for the background colour. Terminals that do not support it do not answer. */
export const BACKGROUND_QUERY = printable`\u001b]11;?\u0007`;

/** Column of the test symbol, so far to the right that the answer cannot be confused with a key. */
const SYMBOL_COLUMN = 21;
/** Cursor column in the answer if the symbol took two columns. */
export const WIDE_SYMBOL_COLUMN = SYMBOL_COLUMN + 2;
/** Draws a symbol that is two columns wide in some East Asian fonts, queries the cursor position, and erases it. */
const SYMBOL_WIDTH_QUERY = printable`\u001b[${SYMBOL_COLUMN}G●\u001b[6n\r\u001b[K`;

/** Switches all modes off, shows the cursor, and ends a synchronized update. */
export const TERMINAL_MODES_OFF = printable`\u001b[?2026l${joinPrintable(MODES.toReversed().map(([, off]) => off))}\u001b[?25h`;

/** Reports whether the colours depend on the background of the terminal. */
export function followsBackground({ depth, theme }: Pick<ScreenOptions, 'depth' | 'theme'>): boolean {
  return depth !== 'none' && !THEME_NAMES.some((name) => name === theme);
}

/** Returns the first bytes of a screen: its modes and the queries to the terminal. */
export function buildOpeningSequence(
  { depth, theme, ambiguousWidth }: Pick<ScreenOptions, 'depth' | 'theme' | 'ambiguousWidth'>,
  columns: number,
): Printable {
  const isWideEnough = ambiguousWidth === 'asked' && columns > WIDE_SYMBOL_COLUMN;
  return joinPrintable([
    TERMINAL_MODES_ON,
    ...(followsBackground({ depth, theme }) ? [BACKGROUND_QUERY] : []),
    ...(isWideEnough ? [SYMBOL_WIDTH_QUERY] : []),
  ]);
}
