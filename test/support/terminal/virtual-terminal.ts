import { killNow, processesInSession } from '../processes.ts';
import { createKeyboard, type Keyboard } from './keyboard.ts';
import { createScreen, type ScreenOptions, type TerminalScreen } from './terminal-screen.ts';

export type TerminalEnd = { readonly code: number | null; readonly signal: NodeJS.Signals | null };

/** A process on a real pseudo-terminal, with functions to type into it. */
export type VirtualTerminal = TerminalScreen &
  Keyboard & {
    readonly pid: number;
    readonly exited: Promise<TerminalEnd>;
    /** The window is closed: the program gets SIGHUP. */
    hangUp(): void;
    /** Kills it and all processes on its terminal. */
    kill(): Promise<void>;
    [Symbol.asyncDispose](): Promise<void>;
  };

export type TerminalOptions = Omit<ScreenOptions, 'answer' | 'lineEnds'> & {
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
    ...createKeyboard(view, send),
    pid: child.pid,
    resize(size) {
      view.resize(size);
      child.terminal.resize(size.cols, size.rows);
    },
    exited,
    hangUp: () => child.terminal.close(),
    kill,
    [Symbol.asyncDispose]: kill,
  };
}
