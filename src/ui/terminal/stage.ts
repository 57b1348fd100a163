import { createElement, type ReactElement } from 'react';
import { type Printable, printed } from '../../lib/printable.ts';
import { type Look, LookContext } from '../text/use-look.ts';
import { eraseAfterResize, eraseFrame, type Frame, NO_FRAME } from './frame.ts';
import { frameBytes } from './frame-writer.ts';
import { createInkLayout } from './ink/ink-layout.ts';

/** The terminal as the screen needs it. */
export type TerminalOut = {
  readonly columns: number;
  readonly rows: number;
  write(text: Printable): unknown;
  on(event: 'resize', listener: () => void): unknown;
  off(event: 'resize', listener: () => void): unknown;
};

/** A frame before it is laid out. */
export type Scene = { readonly screen: ReactElement; readonly caret: Frame['caret']; readonly look: Look };

/** Where frames and finished lines go. */
export type ScreenStage = {
  /**
   * Draws a frame. `lines` are finished: this is the one door into the terminal's history, and each is written once,
   * together with the frame that follows it.
   */
  show(scene: Scene, lines?: readonly Printable[]): void;
  /** Erases the frame, so that the next one is drawn anew. */
  clear(): void;
  /** Gives the terminal to somebody else: the frame goes, and nothing is written until `comeBack`. */
  stepAside(): void;
  comeBack(): void;
  /** Leaves the last frame's place empty and the cursor below the history. */
  close(): void;
};

/** Ink lays a frame out; what differs from the last one is written, in one synchronized update. */
export function createStage(
  terminal: TerminalOut,
  onResized: () => void,
  tooWide: 'wrapped' | 'cut' = 'wrapped',
): ScreenStage {
  const layout = createInkLayout(terminal);
  let shown: Frame = NO_FRAME;
  let columns = terminal.columns;
  let isAside = false;

  /** A terminal that became narrower has wrapped the rows of the frame, or cut them; in any case they are drawn anew. */
  function resized(): void {
    const narrowest = tooWide === 'cut' ? columns : Math.min(columns, terminal.columns);
    if (!isAside && shown !== NO_FRAME) write(eraseAfterResize(shown, narrowest));
    shown = NO_FRAME;
    columns = terminal.columns;
    onResized();
  }
  function write(text: Printable): void {
    terminal.write(printed`\u001b[?2026h\u001b[?25l${text}\u001b[?25h\u001b[?2026l`);
  }
  function clear(): void {
    if (!isAside && shown !== NO_FRAME) write(eraseFrame(shown));
    shown = NO_FRAME;
  }

  terminal.on('resize', resized);
  return {
    show({ screen, caret, look }, lines = []) {
      if (isAside) return;
      const frame: Frame = { rows: layout.rowsOf(createElement(LookContext, { value: look }, screen)), caret };
      const text = frameBytes(shown, frame, lines, terminal);
      if (text !== '') write(text);
      shown = frame;
    },
    clear,
    stepAside() {
      clear();
      isAside = true;
    },
    comeBack() {
      isAside = false;
    },
    close() {
      clear();
      terminal.off('resize', resized);
      layout.close();
    },
  };
}
