import { joinPrinted, type Printable, printed } from '../../lib/printable.ts';
import { truncateEnd } from '../../lib/text/truncate.ts';
import type { Drawing } from '../text/drawing.ts';
import type { Paint } from '../theme/paint.ts';
import {
  pageHeight,
  type Shown,
  type Viewer,
  type ViewerPage,
  type ViewerRow,
  withRows,
} from '../view/viewer-state.ts';
import { footLine } from './foot-line.ts';
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
  write: (text: Printable) => unknown,
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
      if (!isOpen) write(printed`\u001b[?1049h\u001b[?25l`);
      isOpen = true;
      const { width, rows } = drawing();
      const fitting = laidWidth === width ? viewer : withRows(viewer, layOut(viewer.page, viewer.shown), rows);
      const text = drawViewer(fitting, drawing(), paint()).map((row) => printed`${row}\u001b[0m\u001b[K`);
      write(printed`\u001b[?2026h\u001b[H${joinPrinted(text, printed`\r\n`)}\u001b[J\u001b[?2026l`);
      return fitting;
    },
    layOut,
    leave() {
      if (isOpen) write(printed`\u001b[?1049l\u001b[?25h`);
      isOpen = false;
    },
  };
}

/** A viewer as the rows of a whole screen: the page, and a line about it at the bottom. */
function drawViewer(viewer: Viewer, { rows: height, width }: Drawing, paint: Paint): readonly Printable[] {
  const { rows, top, query, entering } = viewer;
  const room = pageHeight(height);
  const seen = rows.slice(top, top + room).map((row) => marked(row, entering === 'nothing' ? query : '', width, paint));
  const empty = Array.from({ length: Math.max(0, room - seen.length) }, () => paint('~', { token: 'dim' }));
  return [...seen, ...empty, paint(footLine(viewer, room, Math.max(1, width - 1)), { inverse: true })];
}

/** A row with what was searched for in it. */
function marked(row: Viewer['rows'][number], query: string, width: number, paint: Paint): Printable {
  const at = query === '' ? -1 : row.text.toLowerCase().indexOf(query.toLowerCase());
  if (at === -1) return row.painted;
  const text = truncateEnd(row.text, Math.max(1, width - 1));
  const end = at + query.length;
  const [before, found, rest] = [text.slice(0, at), text.slice(at, end), text.slice(end)];
  return joinPrinted([paint(before, undefined), paint(found, { inverse: true }), paint(rest, undefined)]);
}
