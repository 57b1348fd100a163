import type { Drawing } from '../text/drawing.ts';
import type { Paint } from '../theme/paint.ts';
import { type Shown, type Viewer, type ViewerPage, type ViewerRow, withRows } from '../view/viewer-state.ts';
import { drawViewer } from './draw-viewer.ts';
import { pageRows } from './page-rows.ts';

/** The other screen of a terminal, where pages are looked at; the first and its history stay as they are. */
export type AlternateScreen = {
  isOpen(): boolean;
  /** Draws a page on all of the screen; answers with the page as it fits there. */
  show(viewer: Viewer): Viewer;
  /** The rows of a page at the present width. */
  layOut(page: ViewerPage, shown: Shown): readonly ViewerRow[];
  leave(): void;
};

/** Draws whole screens, without ever scrolling or clearing more than it draws over. */
export function createAlternateScreen(
  write: (text: string) => unknown,
  drawing: () => Drawing,
  paint: () => Paint,
): AlternateScreen {
  let isOpen = false;
  /** The width of the rows that were laid out last. */
  let laidWidth = 0;

  function layOut(page: ViewerPage, shown: Shown): readonly ViewerRow[] {
    laidWidth = drawing().width;
    return pageRows(page, shown, drawing(), paint());
  }

  return {
    isOpen: () => isOpen,
    show(viewer) {
      if (!isOpen) write('\u001b[?1049h\u001b[?25l');
      isOpen = true;
      const { width, rows } = drawing();
      const fitting = laidWidth === width ? viewer : withRows(viewer, layOut(viewer.page, viewer.shown), rows);
      const text = drawViewer(fitting, drawing(), paint()).map((row) => `${row}\u001b[0m\u001b[K`);
      write(`\u001b[?2026h\u001b[H${text.join('\r\n')}\u001b[J\u001b[?2026l`);
      return fitting;
    },
    layOut,
    leave() {
      if (isOpen) write('\u001b[?1049l\u001b[?25h');
      isOpen = false;
    },
  };
}
