import { joinPrinted, type Printable, printed } from '../../lib/printable.ts';
import { truncateEnd } from '../../lib/text/truncate.ts';
import type { Drawing } from '../text/drawing.ts';
import type { Paint } from '../theme/paint.ts';
import { isDecided, type ReviewPage, refusedHunks } from '../view/review-page.ts';
import {
  pageHeight,
  type Shown,
  type Viewer,
  type ViewerPage,
  type ViewerRow,
  withRows,
} from '../view/viewer-state.ts';
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

const KEYS = {
  transcript: 'q back  / n N search  [ ] turns  o output  t thinking  y copy  w write',
  text: 'q back  / n N search  y copy',
  request: 'y yes, once  n no  q back  [ ] parts  / search',
} as const;

/** A viewer as the rows of a whole screen: the page, and a line about it at the bottom. */
function drawViewer(viewer: Viewer, { rows: height, width }: Drawing, paint: Paint): readonly Printable[] {
  const { rows, top, query, entering } = viewer;
  const room = pageHeight(height);
  const seen = rows.slice(top, top + room).map((row) => marked(row, entering === 'nothing' ? query : '', width, paint));
  const empty = Array.from({ length: Math.max(0, room - seen.length) }, () => paint('~', { token: 'dim' }));
  const last = Math.min(rows.length, top + room);
  const place = `${viewer.title}  ${rows.length === 0 ? 'nothing yet' : `${top + 1}-${last} of ${rows.length}`}`;
  const foot = footOf(viewer, place);
  return [...seen, ...empty, paint(truncateEnd(foot, Math.max(1, width - 1)), { inverse: true })];
}

function footOf({ entering, query, page, note }: Viewer, place: string): string {
  if (entering === 'query') return `/${query}`;
  if (page.kind === 'review' && page.writing !== undefined)
    return `why not? ${page.writing}_   enter refuses this part`;
  if (note !== '') return `${place}   ${note}`;
  return `${place}   ${page.kind === 'review' ? reviewKeys(page) : KEYS[page.kind]}`;
}

function reviewKeys(page: ReviewPage): string {
  if (page.goal.type === 'take_back') return 'u take this part back  [ ] parts  / search  q back';
  if (page.hunks.length === 1) return 'y yes  n no  t no, and why  q back  / search';
  const refused = refusedHunks(page).length;
  if (isDecided(page)) return `enter sends ${page.hunks.length - refused} yes, ${refused} no  [ ] parts  q back`;
  return 'y yes  n no  t no, and why  a all the rest  d none of the rest  [ ] parts  q back';
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
