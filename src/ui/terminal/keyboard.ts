import { decodeInput, decodeLate } from '../keys/decode-input.ts';
import { type InputEvent, NOTHING_UNDECODED, type Undecoded } from '../keys/input-event.ts';
import type { TerminalIn } from '../keys/terminal-in.ts';

/** Reads keys until it is closed. */
export type Keyboard = { open(): void; close(): void };

/** So long a lone ESC may be the beginning of something: whoever presses it waits. */
const ESCAPE_MS = 15;
/** So long Alt and a key may be the beginning of something. */
const ALT_MS = 40;
/** So long the rest of what nobody can have typed may be on its way. */
const SEQUENCE_MS = 1000;
/** So long what still comes of a sequence that was given up is no key. */
const REST_MS = 200;

/** Hands on every key of a terminal, in order. */
export function createKeyboard(input: TerminalIn, hear: (events: readonly InputEvent[]) => void): Keyboard {
  let undecoded: Undecoded = NOTHING_UNDECODED;
  let timer: ReturnType<typeof setTimeout> | undefined;

  function onData(chunk: string): void {
    clearTimeout(timer);
    const decoded = decodeInput(undecoded, String(chunk));
    undecoded = decoded.undecoded;
    if (undecoded.rest !== '') timer = setTimeout(onLate, patienceMs(undecoded.rest));
    if (decoded.events.length > 0) hear(decoded.events);
  }

  function onLate(): void {
    const late = decodeLate(undecoded);
    undecoded = late.undecoded;
    timer = setTimeout(forget, REST_MS);
    if (late.events.length > 0) hear(late.events);
  }

  function forget(): void {
    undecoded = { rest: undecoded.rest, paste: undecoded.paste };
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

/** How long the rest of a sequence is waited for. */
function patienceMs(rest: string): number {
  if (rest === '\u001b') return ESCAPE_MS;
  return rest.length === 2 ? ALT_MS : SEQUENCE_MS;
}
