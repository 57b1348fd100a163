import { decodeInput, flushDecoder } from './decode-input.ts';
import { type DecoderState, INITIAL_DECODER_STATE, type InputEvent } from './input-event.ts';

/** Reads keys from a terminal while it is open. */
export type KeyboardReader = { open(): void; close(): void };

/**
 * Wait after a lone ESC for the rest of a sequence. It delays the ESC key, so it is short. A terminal of this machine
 * writes a sequence as a whole; only a network cuts it in two.
 */
const ESCAPE_MS = { here: 2, remote: 15 };
/** Wait after ESC and one character for the rest of a sequence. */
const ALT_MS = 40;
/** Wait for the rest of a sequence that cannot have been typed. */
const SEQUENCE_MS = 1000;
/** Time during which the rest of an abandoned sequence is dropped. */
const REST_MS = 200;

/** Creates a reader that passes on the decoded input events of a terminal, in order. */
export function createKeyboardReader(
  input: TerminalInput,
  onEvents: (events: readonly InputEvent[]) => void,
  location: keyof typeof ESCAPE_MS = 'remote',
): KeyboardReader {
  let decoderState: DecoderState = INITIAL_DECODER_STATE;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let flush: ReturnType<typeof setImmediate> | undefined;

  function onData(chunk: string): void {
    clearTimeout(timer);
    clearImmediate(flush);
    const decoded = decodeInput(decoderState, String(chunk));
    decoderState = decoded.state;
    if (decoderState.pending !== '') timer = setTimeout(onTimeout, getWaitMs(decoderState.pending, location));
    if (decoded.events.length > 0) onEvents(decoded.events);
  }

  /** Timers run before input is read, so the rest may have arrived while the process was busy. */
  function onTimeout(): void {
    flush = setImmediate(flushPending);
  }

  function flushPending(): void {
    const decoded = flushDecoder(decoderState);
    decoderState = decoded.state;
    timer = setTimeout(forgetAbandoned, REST_MS);
    if (decoded.events.length > 0) onEvents(decoded.events);
  }

  function forgetAbandoned(): void {
    decoderState = { pending: decoderState.pending, paste: decoderState.paste };
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
      clearImmediate(flush);
      input.off('data', onData);
      input.setRawMode(false);
      input.pause();
    },
  };
}

/** Returns how long to wait for the rest of a sequence. */
function getWaitMs(rest: string, location: keyof typeof ESCAPE_MS): number {
  if (rest === '\u001b') return ESCAPE_MS[location];
  return rest.length === 2 ? ALT_MS : SEQUENCE_MS;
}

/** The input side of a terminal, as far as it is used here. */
export type TerminalInput = {
  setRawMode(mode: boolean): unknown;
  setEncoding(encoding: 'utf8'): unknown;
  on(event: 'data', listener: (chunk: string) => void): unknown;
  off(event: 'data', listener: (chunk: string) => void): unknown;
  resume(): unknown;
  pause(): unknown;
};
