import { createElement, type ReactElement } from 'react';
import { type Printable, printable } from '../../lib/printable.ts';
import { ScreenContext, type ScreenContextValue } from '../text/render-context.ts';
import { diffFrames, EMPTY_FRAME, eraseAfterResize, eraseFrame, type ScreenFrame } from './frame-diff.ts';
import { createInkLayout } from './ink-layout.ts';

/** The output side of a terminal, as far as it is used here. */
export type TerminalOutput = {
  readonly columns: number;
  readonly rows: number;
  write(text: Printable): unknown;
  /** Returns whether the terminal is behind, so that a frame would only wait. */
  isBlocked?(): boolean;
  on(event: 'resize', listener: () => void): unknown;
  off(event: 'resize', listener: () => void): unknown;
};

/** The content of a frame before it is laid out. */
export type FrameContent = {
  readonly screen: ReactElement;
  readonly caret: ScreenFrame['caret'];
  readonly look: ScreenContextValue;
};

/**
 * Creates the host of frames and finished lines on a terminal. Ink lays out each frame, and the difference to the last
 * one is written in a synchronized update.
 */
export function createScreenFrameWriter(
  terminal: TerminalOutput,
  onResized: () => void,
  resizeMode: 'wrapped' | 'cut' = 'wrapped',
) {
  const layout = createInkLayout(terminal);
  let shown: ScreenFrame = EMPTY_FRAME;
  let columns = terminal.columns;
  let isPaused = false;

  /** Redraws after a resize. A terminal that became narrower has wrapped or cut the rows of the frame. */
  function onResize(): void {
    const narrowest = resizeMode === 'cut' ? columns : Math.min(columns, terminal.columns);
    if (!isPaused && shown !== EMPTY_FRAME) write(eraseAfterResize(shown, narrowest));
    shown = EMPTY_FRAME;
    columns = terminal.columns;
    onResized();
  }
  function write(text: Printable): void {
    terminal.write(printable`\u001b[?2026h\u001b[?25l${text}\u001b[?25h\u001b[?2026l`);
  }
  /** Erases the frame, so that the next one is drawn from scratch. */
  function clear(): void {
    if (!isPaused && shown !== EMPTY_FRAME) write(eraseFrame(shown));
    shown = EMPTY_FRAME;
  }

  terminal.on('resize', onResize);
  return {
    /**
     * Draws a frame. `lines` are finished lines for the scrollback: each is written once, together with the next frame.
     * Nothing else writes to the scrollback.
     */
    show({ screen, caret, look }: FrameContent, lines: readonly Printable[] = []) {
      if (isPaused) return;
      const frame: ScreenFrame = {
        rows: layout.layoutRows(createElement(ScreenContext, { value: look }, screen)),
        caret,
      };
      const text = diffFrames(shown, frame, lines, terminal);
      if (text !== '') write(text);
      shown = frame;
    },
    clear,
    /** Erases the frame and writes nothing until `resume`, while another program uses the terminal. */
    pause() {
      clear();
      isPaused = true;
    },
    /** Draws frames again. */
    resume() {
      isPaused = false;
    },
    /** Erases the last frame and leaves the cursor below the history. */
    close() {
      clear();
      terminal.off('resize', onResize);
      layout.close();
    },
  };
}
