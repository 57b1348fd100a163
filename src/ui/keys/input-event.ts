/** What came in at the keyboard, understood. */
export type InputEvent =
  /** `chord` names the key with its modifiers (`ctrl+c`, `alt+enter`, `up`, `a`); `text` is what it types. */
  | { readonly type: 'key'; readonly chord: string; readonly text: string; readonly manner?: KeyManner }
  | { readonly type: 'paste'; readonly text: string }
  | { readonly type: 'focus'; readonly window: 'in' | 'out' }
  /** The terminal's background, asked for at the start. */
  | { readonly type: 'background'; readonly red: number; readonly green: number; readonly blue: number }
  | { readonly type: 'scheme'; readonly scheme: 'dark' | 'light' }
  /** Where the cursor was when that was asked. */
  | { readonly type: 'position'; readonly column: number };

/**
 * How a key came, where nobody pressed it by itself: `among` others in one read, as words that a program or an input
 * method puts in, or `held` until it came again. Neither is an answer to anything.
 */
export type KeyManner = 'among' | 'held';

/** What is left over when a sequence is cut by the end of a read. */
export type Undecoded = {
  readonly rest: string;
  readonly paste: string | undefined;
  /** A sequence was given up before its end came: what comes next may be the rest of it. */
  readonly givenUp?: string;
};

export const NOTHING_UNDECODED: Undecoded = { rest: '', paste: undefined };
