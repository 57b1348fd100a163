import { bytesOfKey } from './key-bytes.ts';
import { killNow, processesInSession } from './processes.ts';
import { createScreen, type ScreenOptions, type ScreenSize, type TerminalScreen } from './terminal-screen.ts';

export type TerminalEnd = { readonly code: number | null; readonly signal: NodeJS.Signals | null };

/** A process in front of a real pseudo-terminal, and somebody who types. */
export type VirtualTerminal = TerminalScreen & {
  readonly pid: number;
  /** Sends text as if typed, without a newline of its own. */
  type(text: string): void;
  /** Presses keys one after the other: `enter`, `esc`, `ctrl+c`, `up`, `shift+tab`, `alt+b` … */
  press(...keys: readonly string[]): void;
  /** Pastes, in brackets when the program has asked for them. */
  paste(text: string): void;
  send(bytes: string | Uint8Array): void;
  readonly exited: Promise<TerminalEnd>;
  /** The window is closed: the program gets SIGHUP. */
  hangUp(): void;
  /** Kills it and whoever shares its terminal. */
  kill(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
};

export type TerminalOptions = Omit<ScreenOptions, 'answer'> & {
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
};

/** Starts a program in a terminal that answers questions as xterm.js does. */
export function openTerminal(command: readonly string[], options: TerminalOptions): VirtualTerminal {
  const { cols = 80, rows = 24 } = options;
  const view = createScreen({ ...options, answer: (data) => send(data) });
  const child = Bun.spawn([...command], {
    cwd: options.cwd,
    env: options.env,
    terminal: { cols, rows, data: (_terminal, data) => view.feed(data) },
  });
  const exited = child.exited.then(async (code): Promise<TerminalEnd> => {
    await view.settled();
    return { code: child.signalCode === null ? code : null, signal: child.signalCode };
  });

  function send(bytes: string | Uint8Array): void {
    if (!child.terminal.closed) child.terminal.write(bytes);
  }

  async function kill(): Promise<void> {
    const { pid } = child;
    killNow(-pid);
    for (const one of await processesInSession(pid)) killNow(one.pid);
    await exited;
    if (!child.terminal.closed) child.terminal.close();
    view.dispose();
  }

  return {
    ...view,
    pid: child.pid,
    type: send,
    press(...keys) {
      const isApplication = view.terminal.modes.applicationCursorKeysMode;
      for (const key of keys) send(bytesOfKey(key, isApplication ? 'application' : 'normal'));
    },
    paste(text) {
      const lines = text.replaceAll(/\r?\n/g, '\r');
      send(view.terminal.modes.bracketedPasteMode ? `\x1b[200~${lines}\x1b[201~` : lines);
    },
    send,
    resize(size: ScreenSize) {
      view.resize(size);
      child.terminal.resize(size.cols, size.rows);
    },
    exited,
    hangUp: () => child.terminal.close(),
    kill,
    [Symbol.asyncDispose]: kill,
  };
}
