import { bytesOfKey } from './key-bytes.ts';
import type { TerminalScreen } from './terminal-screen.ts';

/** Somebody who types at a terminal. */
export type Keyboard = {
  /** Sends text as if typed, without a newline of its own. */
  type(text: string): void;
  /** Presses keys one after the other: `enter`, `esc`, `ctrl+c`, `up`, `shift+tab`, `alt+b` … */
  press(...keys: readonly string[]): void;
  /** Pastes, in brackets when the program has asked for them. */
  paste(text: string): void;
  /** Sends bytes as they are. */
  send(bytes: string | Uint8Array): void;
};

export function createKeyboard({ terminal }: TerminalScreen, send: Keyboard['send']): Keyboard {
  return {
    type: send,
    press(...keys) {
      const cursorKeys = terminal.modes.applicationCursorKeysMode ? 'application' : 'normal';
      for (const key of keys) send(bytesOfKey(key, cursorKeys));
    },
    paste(text) {
      const lines = text.replaceAll(/\r?\n/g, '\r');
      send(terminal.modes.bracketedPasteMode ? `\x1b[200~${lines}\x1b[201~` : lines);
    },
    send,
  };
}
