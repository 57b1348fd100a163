/** The first frame waits for what the terminal answers: what is printed before cannot be drawn in other colours. */
export type FirstFrame = {
  isHeld(): boolean;
  /** The terminal has answered, or need not. */
  release(): void;
};

/** Terminals that answer do so at once; whoever says nothing is not waited for longer than nobody sees. */
const ANSWER_MS = 25;

/** Holds the first frame as long as something is asked. */
export function holdFirstFrame(asked: 'asked' | 'nothing', show: () => void): FirstFrame {
  let isHeld = asked === 'asked';
  const release = () => {
    if (!isHeld) return;
    isHeld = false;
    clearTimeout(timer);
    show();
  };
  const timer = isHeld ? setTimeout(release, ANSWER_MS) : undefined;
  return { isHeld: () => isHeld, release };
}
