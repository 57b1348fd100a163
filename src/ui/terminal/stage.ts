import { Writable } from 'node:stream';
import { render } from 'ink';
import { createElement } from 'react';
import type { Frame } from '../components/draw-screen.ts';
import { Screen } from '../components/Screen.tsx';
import { eraseAfterResize, type FrameShape } from './erase-after-resize.ts';
import { insertAbove } from './insert-above.ts';

/** The terminal as the screen needs it. */
export type TerminalOut = {
  readonly columns: number;
  readonly rows: number;
  write(text: string): unknown;
  on(event: 'resize', listener: () => void): unknown;
  off(event: 'resize', listener: () => void): unknown;
};

/** Where frames and finished lines go. */
export type ScreenStage = {
  show(frame: Frame): void;
  /** The one door into the terminal's history: each line is written once, together with the frame that follows it. */
  commit(lines: readonly string[], frame: Frame): void;
  /** Erases the frame, so that the next one is drawn anew. */
  clear(): void;
  /** Gives the terminal to somebody else: the frame goes, and nothing is written until `comeBack`. */
  stepAside(): void;
  comeBack(frame: Frame): void;
  /** Leaves the last frame's place empty and the cursor below the history. */
  close(): void;
};

/** Ink on a terminal, with one synchronous write per frame. */
export function createStage(terminal: TerminalOut, onResized: () => void): ScreenStage {
  const held: string[] = [];
  let isHolding = false;
  let isAside = false;
  /** The last frame stands on the screen as it was drawn. */
  let isSteady = false;
  const send = (text: string) => {
    if (isAside) return;
    if (isHolding) held.push(text);
    else terminal.write(text);
  };
  let shape: FrameShape = { widths: [], caret: { x: 0, y: 0 } };
  let columns = terminal.columns;

  // Before Ink's own handler: it erases as many rows as it wrote, but the terminal may have made more of them.
  const beforeInk = () => {
    isSteady = false;
    if (terminal.columns < columns && !isAside) terminal.write(eraseAfterResize(shape, terminal.columns));
    columns = terminal.columns;
  };
  terminal.on('resize', beforeInk);
  const instance = render(null, {
    stdout: inkOutput(terminal, send),
    exitOnCtrlC: false,
    patchConsole: false,
    // Frames are paced by whoever calls; each is drawn at once, so that it stays with the lines above it.
    maxFps: 0,
    incrementalRendering: true,
    interactive: true,
  });
  terminal.on('resize', onResized);

  function draw(frame: Frame): void {
    shape = shapeOf(frame);
    instance.rerender(createElement(Screen, { frame }));
    isSteady = true;
  }

  return {
    show: draw,
    commit(lines, frame) {
      const inserted = isSteady ? insertAbove(lines, shape, shapeOf(frame), terminal) : undefined;
      if (inserted !== undefined) {
        // Ink learns of the new frame without drawing it: it stands there already, mostly.
        isAside = true;
        draw(frame);
        isAside = false;
        terminal.write(inOneGo(`\u001b[?25l${inserted}\u001b[?25h`));
        return;
      }
      isHolding = true;
      instance.clear();
      send(lines.map((line) => `${line}\r\n`).join(''));
      draw(frame);
      isHolding = false;
      terminal.write(inOneGo(held.splice(0).join('')));
    },
    clear() {
      isSteady = false;
      instance.clear();
    },
    stepAside() {
      isSteady = false;
      instance.clear();
      isAside = true;
    },
    comeBack(frame) {
      // Ink has drawn into the void meanwhile; what it would erase now is not there.
      instance.clear();
      isAside = false;
      draw(frame);
    },
    close() {
      instance.clear();
      terminal.off('resize', beforeInk);
      terminal.off('resize', onResized);
      instance.unmount();
    },
  };
}

function shapeOf({ live, composer, below, caret }: Frame): FrameShape {
  return { widths: [...live, ...composer, ...below], caret };
}

/** One synchronized update around all of it; those inside would end it early. */
function inOneGo(text: string): string {
  return `\u001b[?2026h${text.replaceAll(/\u001b\[\?2026[hl]/g, '')}\u001b[?2026l`;
}

/** A stream for Ink that knows the size of the terminal and hands writes on at once. */
function inkOutput(terminal: TerminalOut, send: (text: string) => void): NodeJS.WritableStream {
  const stream = new Writable({
    decodeStrings: false,
    write(chunk: string | Buffer, _encoding, done) {
      send(chunk.toString());
      done();
    },
  });
  Object.defineProperties(stream, {
    isTTY: { value: true },
    columns: { get: () => terminal.columns },
    rows: { get: () => terminal.rows },
  });
  const relay = () => void stream.emit('resize');
  terminal.on('resize', relay);
  stream.once('close', () => terminal.off('resize', relay));
  return stream;
}
