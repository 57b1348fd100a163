import { followsBackground } from './modes.ts';
import type { ScreenOptions } from './screen-options.ts';

/** The first frame waits for what the terminal answers: what is printed before cannot be drawn in other colours. */
export type FirstFrame = {
  isHeld(): boolean;
  /** The terminal has answered, or need not. */
  release(): void;
};

/** Terminals that answer do so at once, or as late as the network lets them; who says nothing is not waited for longer. */
const ANSWER_MS = { here: 25, remote: 150 };

/** How long an answer of the terminal may take, if anything is asked. */
export function answerMs(options: Pick<ScreenOptions, 'depth' | 'theme' | 'terminal'>): number | undefined {
  return followsBackground(options) ? ANSWER_MS[options.terminal ?? 'here'] : undefined;
}

/** Holds the first frame as long as an answer may come. */
export function holdFirstFrame(waitMs: number | undefined, show: () => void): FirstFrame {
  let isHeld = waitMs !== undefined;
  const release = () => {
    if (!isHeld) return;
    isHeld = false;
    clearTimeout(timer);
    show();
  };
  const timer = isHeld ? setTimeout(release, waitMs) : undefined;
  return { isHeld: () => isHeld, release };
}
