import { Terminal } from '@xterm/headless';
import { WAIT_MS } from '../runs.ts';

export type ScreenSize = { readonly cols: number; readonly rows: number };

export type ScreenOptions = Partial<ScreenSize> & {
  /** The answer to an OSC 11 query; `mute` terminals do not answer. */
  readonly background?: 'dark' | 'light' | 'mute';
  /** `lf` moves to column 0 by itself, as the driver of a real terminal makes it do. */
  /** The handling of rows that are too wide after a resize; wrapped by default. */
  readonly tooWide?: 'wrapped' | 'cut' | undefined;
  readonly lineEnds?: 'lf' | 'crlf';
  /** Receives the replies of the terminal to queries about colours, cursor and type. */
  readonly answer?: (data: string) => void;
};

/** A terminal without a window: what xterm.js makes of the bytes it is fed. */
export type TerminalScreen = {
  readonly terminal: Terminal;
  feed(data: string | Uint8Array): void;
  /** The rows that are visible now, without the blanks at their ends. */
  screen(): readonly string[];
  /** The rows that have left at the top. */
  scrollback(): readonly string[];
  /** Scrollback and screen with wrapped rows joined again: what a copy would hold. */
  logicalLines(): readonly string[];
  cursor(): { readonly x: number; readonly y: number };
  /** Everything it was fed, undecoded escape sequences included. */
  bytes(): string;
  /** Resolves with the rows once the visible text fits. */
  waitForText(fits: RegExp, limitMs?: number): Promise<readonly string[]>;
  waitForScreen(fits: (rows: readonly string[]) => boolean, limitMs?: number): Promise<readonly string[]>;
  /** Resolves once all that was fed so far is on the screen. */
  settled(): Promise<void>;
  resize(size: ScreenSize): void;
  dispose(): void;
};

const BACKGROUNDS = { dark: 'rgb:1e1e/1e1e/1e1e', light: 'rgb:ffff/ffff/ffff' } as const;
const FOREGROUNDS = { dark: 'rgb:d4d4/d4d4/d4d4', light: 'rgb:1111/1111/1111' } as const;

export function createScreen(options: ScreenOptions = {}): TerminalScreen {
  const { cols = 80, rows = 24, background = 'dark', answer } = options;
  const terminal = new Terminal({
    cols,
    rows,
    scrollback: 20_000,
    convertEol: options.lineEnds === 'lf',
    allowProposedApi: true,
    // An old console of Windows keeps its rows as xterm does.
    ...(options.tooWide === 'cut' ? { windowsPty: { backend: 'conpty', buildNumber: 19_000 } as const } : {}),
  });
  const decoder = new TextDecoder();
  const fed: string[] = [];
  let watchers: (() => void)[] = [];

  if (answer !== undefined && background !== 'mute') {
    terminal.onData(answer);
    // The window part of xterm.js answers these two; there is no window here.
    const colours = [[10, FOREGROUNDS[background]] as const, [11, BACKGROUNDS[background]] as const];
    for (const [code, colour] of colours) {
      terminal.parser.registerOscHandler(code, (data) => {
        if (data === '?') answer(`\x1b]${code};${colour}\x1b\\`);
        return data === '?';
      });
    }
  }

  terminal.onWriteParsed(() => {
    const woken = watchers;
    watchers = [];
    for (const wake of woken) wake();
  });

  const rowsFrom = (first: number, end: number): readonly string[] =>
    Array.from({ length: end - first }, (_, at) => {
      return terminal.buffer.active.getLine(first + at)?.translateToString(true) ?? '';
    });

  function screen(): readonly string[] {
    const { baseY } = terminal.buffer.active;
    return rowsFrom(baseY, baseY + terminal.rows);
  }

  async function waitForScreen(
    fits: (rows: readonly string[]) => boolean,
    limitMs = WAIT_MS,
  ): Promise<readonly string[]> {
    const until = performance.now() + limitMs;
    for (;;) {
      const now = screen();
      if (fits(now)) return now;
      const left = until - performance.now();
      if (left <= 0) throw new Error(`Not on the screen after ${limitMs} ms:\n${framed(now)}`);
      const { promise, resolve } = Promise.withResolvers<void>();
      watchers.push(resolve);
      const timer = setTimeout(resolve, left);
      await promise;
      clearTimeout(timer);
    }
  }

  return {
    terminal,
    feed(data) {
      fed.push(typeof data === 'string' ? data : decoder.decode(data, { stream: true }));
      terminal.write(data);
    },
    screen,
    scrollback: () => rowsFrom(0, terminal.buffer.active.baseY),
    logicalLines: () => logicalLines(terminal),
    cursor: () => ({ x: terminal.buffer.active.cursorX, y: terminal.buffer.active.cursorY }),
    bytes: () => fed.join(''),
    waitForText: (fits, limitMs) => waitForScreen((now) => fits.test(now.join('\n')), limitMs),
    waitForScreen,
    settled: () => new Promise((resolve) => terminal.write('', resolve)),
    resize: (size) => terminal.resize(size.cols, size.rows),
    dispose: () => terminal.dispose(),
  };
}

function logicalLines(terminal: Terminal): readonly string[] {
  const lines: string[] = [];
  const buffer = terminal.buffer.active;
  for (let at = 0; at < buffer.length; at += 1) {
    const line = buffer.getLine(at);
    if (line === undefined) continue;
    // A row that goes on in the next keeps its blanks: they belong to the text.
    const goesOn = buffer.getLine(at + 1)?.isWrapped === true;
    const text = line.translateToString(!goesOn);
    const before = line.isWrapped ? lines.pop() : undefined;
    lines.push((before ?? '') + text);
  }
  const last = lines.findLastIndex((line) => line !== '');
  return lines.slice(0, last + 1);
}

function framed(rows: readonly string[]): string {
  return rows.map((row) => `│${row}`).join('\n');
}
