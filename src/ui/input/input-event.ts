/** A decoded event of the terminal input. */
export type InputEvent =
  /** `chord` names the key with its modifiers (`ctrl+c`, `alt+enter`, `up`, `a`); `text` is the text it inserts. */
  | { readonly type: 'key'; readonly chord: string; readonly text: string; readonly delivery?: KeyDelivery }
  | { readonly type: 'paste'; readonly text: string }
  | { readonly type: 'focus'; readonly window: 'in' | 'out' }
  /** Background colour of the terminal; the reply to the query at the start. */
  | { readonly type: 'background'; readonly red: number; readonly green: number; readonly blue: number }
  | { readonly type: 'scheme'; readonly scheme: 'dark' | 'light' }
  /** Cursor column; the reply to a position query. */
  | { readonly type: 'position'; readonly column: number };

/**
 * How a key arrived that was not a single key press: `among` other characters in one read (text inserted by a program
 * or an input method), or `held` until it repeated. Neither may answer a dialog.
 */
export type KeyDelivery = 'among' | 'held';

/** Decoder state between two reads: input that could not be decoded yet. */
export type DecoderState = {
  /** Start of an incomplete sequence. */
  readonly pending: string;
  /** Text of a paste whose end has not arrived. */
  readonly paste: string | undefined;
  /** Start of a sequence that was abandoned; the next chunk may begin with its rest. */
  readonly abandoned?: string;
};

/** The decoder state before the first read. */
export const INITIAL_DECODER_STATE: DecoderState = { pending: '', paste: undefined };
