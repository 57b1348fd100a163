/** What came in at the keyboard, understood. */
export type InputEvent =
  /** `chord` names the key with its modifiers (`ctrl+c`, `alt+enter`, `up`, `a`); `text` is what it types. */
  | { readonly type: 'key'; readonly chord: string; readonly text: string }
  | { readonly type: 'paste'; readonly text: string }
  | { readonly type: 'focus'; readonly window: 'in' | 'out' }
  /** The terminal's background, asked for at the start. */
  | { readonly type: 'background'; readonly red: number; readonly green: number; readonly blue: number }
  | { readonly type: 'scheme'; readonly scheme: 'dark' | 'light' }
  /** Where the cursor was when that was asked. */
  | { readonly type: 'position'; readonly column: number };

/** What is left over when a sequence is cut by the end of a read. */
export type Undecoded = { readonly rest: string; readonly paste: string | undefined };

export const NOTHING_UNDECODED: Undecoded = { rest: '', paste: undefined };
