import type { InputEvent } from '../input/input-event.ts';
import type { ScreenOptions } from './screen-options.ts';
import { followsBackground } from './terminal-modes.ts';

/** Delays the first frame until the terminal has reported its background, as printed lines cannot be recoloured. */
export type FirstFrameHold = ReturnType<typeof holdFirstFrame>;

/** Longest wait for an answer. Local terminals answer at once, remote ones after a network round trip. */
const ANSWER_TIMEOUT_MS = { here: 25, remote: 150 };

/** Returns how long to wait for an answer of the terminal; undefined if nothing is asked. */
export function getTerminalAnswerTimeoutMs(
  options: Pick<ScreenOptions, 'depth' | 'theme' | 'terminal'>,
): number | undefined {
  return followsBackground(options) ? ANSWER_TIMEOUT_MS[options.terminal ?? 'here'] : undefined;
}

/** Holds back the first frame for at most `waitMs`. */
export function holdFirstFrame(waitMs: number | undefined, show: () => void) {
  let isHeld = waitMs !== undefined;
  /** Shows the first frame: the terminal has answered, or is not waited for. */
  const release = () => {
    if (!isHeld) return;
    isHeld = false;
    clearTimeout(timer);
    show();
  };
  // Opening a session can take longer than the wait: an answer that has arrived meanwhile is read first, which the
  // runtime does between two immediates.
  const timer = isHeld ? setTimeout(() => setImmediate(() => setImmediate(release)), waitMs) : undefined;
  return { isHeld: (): boolean => isHeld, release };
}

/** Classifies the background as light or dark, by the relative luminance of the colour that the terminal reported. */
export function classifyBackground(event: Extract<InputEvent, { type: 'background' | 'scheme' }>): 'dark' | 'light' {
  if (event.type === 'scheme') return event.scheme;
  const [red, green, blue] = [event.red, event.green, event.blue].map(linearize);
  return 0.2126 * (red ?? 0) + 0.7152 * (green ?? 0) + 0.0722 * (blue ?? 0) > 0.5 ? 'light' : 'dark';
}

function linearize(channel: number): number {
  return channel <= 0.04045 ? channel / 12.92 : ((channel + 0.055) / 1.055) ** 2.4;
}
