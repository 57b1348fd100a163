import type { InputEvent } from '../keys/input-event.ts';
import { DEAF_MS } from '../view/ask.ts';
import { type Overlay, takesKeys } from '../view/overlay.ts';
import type { ViewState } from '../view/view-state.ts';
import type { PressContext } from './press-context.ts';

/** A key that is held begins to repeat after this time at the latest. */
const REPEAT_MS = 700;
/** What looks, searches or closes; everything else does something. */
const LOOKS =
  /^(?:escape|ctrl\+[cnpu]|up|down|tab|shift\+tab|home|end|pageup|pagedown|backspace|[^ -~]|[!-~]|space| )$/u;

/**
 * Was the first key in a list still the one that opened it, held or pressed twice, or meant for what stood there
 * before? Nothing is approved, gone back to or switched by a key that came before the list could be seen.
 */
export function isEarly(
  before: ViewState,
  { chord, manner }: Extract<InputEvent, { type: 'key' }>,
  { nowMs, quietMs }: PressContext,
): boolean {
  if (quietMs === 0 || !takesKeys(before.overlay) || before.overlay?.kind === 'viewer') return false;
  if (manner === 'among' && !LOOKS.test(chord)) return true;
  if (before.keys.heardIn === listName(before.overlay) || LOOKS.test(chord)) return false;
  return nowMs - before.keys.lastKeyAtMs < (chord === 'enter' ? REPEAT_MS : DEAF_MS);
}

/** Notes which list has heard a key; one that opens later begins anew. */
export function heardIn(view: ViewState): ViewState {
  const name = listName(view.overlay);
  return view.keys.heardIn === name ? view : { ...view, keys: { ...view.keys, heardIn: name } };
}

function listName(overlay: Overlay | undefined): string {
  switch (overlay?.kind) {
    case 'panel':
      return `panel ${overlay.panel.line}`;
    case 'picker':
      return `picker ${overlay.purpose} ${overlay.title}`;
    case 'sessions':
      return 'sessions';
    default:
      return '';
  }
}
