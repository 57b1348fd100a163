import { joinPrinted, type Printable, printed } from '../../lib/printable.ts';
import { THEME_NAMES } from '../theme/theme.ts';
import type { ScreenOptions } from './screen-options.ts';

/** What the screen switches on in the terminal, and how each is switched off again. */
const MODES: readonly (readonly [Printable, Printable])[] = [
  [printed`\u001b[22;2t`, printed`\u001b[23;2t`],
  [printed`\u001b[?2004h`, printed`\u001b[?2004l`],
  [printed`\u001b[?1004h`, printed`\u001b[?1004l`],
  [printed`\u001b[>1u`, printed`\u001b[<u`],
  [printed`\u001b[?2031h`, printed`\u001b[?2031l`],
  [printed`\u001b[6 q`, printed`\u001b[0 q`],
];

/** Bracketed paste, focus reports, unambiguous keys, a bar for a cursor; the title is kept for later. */
export const MODES_ON = joinPrinted(MODES.map(([on]) => on));

/** How bright the background is; terminals that know no answer say nothing. */
const ASK_BACKGROUND = printed`\u001b]11;?\u0007`;

/** Where the test sign is drawn: so far to the right that the answer is no key. */
const SIGN_COLUMN = 21;
/** An answer in this column says that the sign took two. */
export const WIDE_COLUMN = SIGN_COLUMN + 2;
/** Draws a sign that is two columns wide in some East Asian fonts, asks where the cursor is, and takes it away again. */
const ASK_SIGN_WIDTH = printed`\u001b[${SIGN_COLUMN}G●\u001b[6n\r\u001b[K`;

/** All of it undone, the cursor shown, no synchronized update left open. */
export const MODES_OFF = printed`\u001b[?2026l${joinPrinted(MODES.toReversed().map(([, off]) => off))}\u001b[?25h`;

/** Do its colours depend on how bright the background is? */
export function followsBackground({ depth, theme }: Pick<ScreenOptions, 'depth' | 'theme'>): boolean {
  return depth !== 'none' && !THEME_NAMES.some((name) => name === theme);
}

/** What a screen begins with: its modes, and what it has to ask the terminal. */
export function openingSequence(
  { depth, theme, signWidth }: Pick<ScreenOptions, 'depth' | 'theme' | 'signWidth'>,
  columns: number,
): Printable {
  const isWideEnough = signWidth === 'asked' && columns > WIDE_COLUMN;
  return joinPrinted([
    MODES_ON,
    ...(followsBackground({ depth, theme }) ? [ASK_BACKGROUND] : []),
    ...(isWideEnough ? [ASK_SIGN_WIDTH] : []),
  ]);
}
