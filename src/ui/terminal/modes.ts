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
export const ASK_BACKGROUND = '\u001b]11;?\u0007';

/** All of it undone, the cursor shown, no synchronized update left open. */
export const MODES_OFF = `\u001b[?2026l${MODES.toReversed()
  .map(([, off]) => off)
  .join('')}\u001b[?25h`;
