import { decodeInput, decodeLate } from '../keys/decode-input.ts';
import { type InputEvent, NOTHING_UNDECODED, type Undecoded } from '../keys/input-event.ts';
import type { TerminalIn } from '../keys/terminal-in.ts';

/** Reads keys until it is closed. */
export type Keyboard = { open(): void; close(): void };

/** So long a lone ESC may be the beginning of something: whoever presses it waits. */
const ESCAPE_MS = 15;
/** So long the rest of a sequence may be on its way. */
const SEQUENCE_MS = 40;

/** Hands on every key of a terminal, in order. */
export function createKeyboard(input: TerminalIn, hear: (events: readonly InputEvent[]) => void): Keyboard {
  let undecoded: Undecoded = NOTHING_UNDECODED;
  let timer: ReturnType<typeof setTimeout> | undefined;

  function onData(chunk: string): void {
    clearTimeout(timer);
    const decoded = decodeInput(undecoded, String(chunk));
    undecoded = decoded.undecoded;
    if (undecoded.rest !== '') timer = setTimeout(onLate, undecoded.rest === '\u001b' ? ESCAPE_MS : SEQUENCE_MS);
    if (decoded.events.length > 0) hear(decoded.events);
  }

  function onLate(): void {
    const late = decodeLate(undecoded);
    undecoded = late.undecoded;
    if (late.events.length > 0) hear(late.events);
  }

  return {
    open() {
      input.setEncoding('utf8');
      input.setRawMode(true);
      input.on('data', onData);
      input.resume();
    },
    close() {
      clearTimeout(timer);
      input.off('data', onData);
      input.setRawMode(false);
      input.pause();
    },
  };
}
