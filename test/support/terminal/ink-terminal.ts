import { PassThrough, Writable } from 'node:stream';
import { type Instance, type RenderOptions, render } from 'ink';
import type { ReactElement } from 'react';
import { createKeyboard, type Keyboard } from './keyboard.ts';
import { createScreen, type ScreenOptions, type TerminalScreen } from './terminal-screen.ts';

/** Components in front of a terminal, in this process. */
export type InkTerminal = TerminalScreen &
  Keyboard & {
    rerender(element: ReactElement): void;
    /** Resolves once the last frame is on the screen. */
    settled(): Promise<void>;
    unmount(): void;
    readonly exited: Promise<unknown>;
    [Symbol.asyncDispose](): Promise<void>;
  };

export type InkTerminalOptions = Omit<ScreenOptions, 'answer' | 'lineEnds'> & {
  readonly ink?: Omit<RenderOptions, 'stdout' | 'stdin' | 'stderr'>;
};

/** Renders with real Ink into a real terminal buffer: erasing, scrolling and wrapping happen as they would. */
export function renderInTerminal(element: ReactElement, options: InkTerminalOptions = {}): InkTerminal {
  const { cols = 80, rows = 24 } = options;
  const stdin = Object.assign(new PassThrough(), {
    isTTY: true,
    isRaw: false,
    setRawMode(mode: boolean) {
      stdin.isRaw = mode;
      return stdin;
    },
    ref: () => stdin,
    unref: () => stdin,
  });
  const send: Keyboard['send'] = (bytes) => void stdin.write(bytes);
  const view = createScreen({ ...options, lineEnds: 'lf', answer: send });
  const sink = new Writable({
    decodeStrings: false,
    write(chunk: string | Uint8Array, _encoding, done) {
      view.feed(chunk);
      done();
    },
  });
  const stdout = Object.assign(sink, { isTTY: true, columns: cols, rows });
  const instance: Instance = render(element, {
    interactive: true,
    exitOnCtrlC: false,
    patchConsole: false,
    maxFps: 1000,
    ...options.ink,
    stdout,
    stderr: stdout,
    stdin,
  });
  const exited = instance.waitUntilExit();

  async function settled(): Promise<void> {
    await instance.waitUntilRenderFlush();
    await view.settled();
  }

  return {
    ...view,
    ...createKeyboard(view, send),
    rerender: (next) => instance.rerender(next),
    settled,
    resize(size) {
      view.resize(size);
      Object.assign(stdout, { columns: size.cols, rows: size.rows }).emit('resize');
    },
    unmount: () => instance.unmount(),
    exited,
    async [Symbol.asyncDispose]() {
      instance.unmount();
      await exited.catch(() => undefined);
      view.dispose();
    },
  };
}
