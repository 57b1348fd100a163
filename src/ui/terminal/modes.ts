import { THEME_NAMES } from '../theme/theme.ts';
import type { ScreenOptions } from './screen-options.ts';

/** What the screen switches on in the terminal, and how each is switched off again. */
const MODES: readonly (readonly [string, string])[] = [
  ['\u001b[22;2t', '\u001b[23;2t'],
  ['\u001b[?2004h', '\u001b[?2004l'],
  ['\u001b[?1004h', '\u001b[?1004l'],
  ['\u001b[>1u', '\u001b[<u'],
  ['\u001b[?2031h', '\u001b[?2031l'],
  ['\u001b[6 q', '\u001b[0 q'],
];

/** Bracketed paste, focus reports, unambiguous keys, a bar for a cursor; the title is kept for later. */
export const MODES_ON = MODES.map(([on]) => on).join('');

/** How bright the background is; terminals that know no answer say nothing. */
const ASK_BACKGROUND = '\u001b]11;?\u0007';

/** Where the test sign is drawn: so far to the right that the answer is no key. */
const SIGN_COLUMN = 21;
/** An answer in this column says that the sign took two. */
export const WIDE_COLUMN = SIGN_COLUMN + 2;
/** Draws a sign that is two columns wide in some East Asian fonts, asks where the cursor is, and takes it away again. */
const ASK_SIGN_WIDTH = `\u001b[${SIGN_COLUMN}G●\u001b[6n\r\u001b[K`;

/** All of it undone, the cursor shown, no synchronized update left open. */
export const MODES_OFF = `\u001b[?2026l${MODES.toReversed()
  .map(([, off]) => off)
  .join('')}\u001b[?25h`;

/** What a screen begins with: its modes, and what it has to ask the terminal. */
export function openingSequence(
  { depth, theme, signWidth }: Pick<ScreenOptions, 'depth' | 'theme' | 'signWidth'>,
  columns: number,
): string {
  const followsBackground = depth !== 'none' && !THEME_NAMES.some((name) => name === theme);
  const isWideEnough = signWidth === 'asked' && columns > WIDE_COLUMN;
  return `${MODES_ON}${followsBackground ? ASK_BACKGROUND : ''}${isWideEnough ? ASK_SIGN_WIDTH : ''}`;
}
