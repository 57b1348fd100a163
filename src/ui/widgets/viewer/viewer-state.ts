import type { JsonValue } from '../../../contracts/json.ts';
import type { Message } from '../../../contracts/message.ts';
import type { PermissionRequest } from '../../../contracts/permission.ts';
import type { Printable } from '../../../lib/printable.ts';
import type { ReviewPage } from './review.ts';

/** A page for the full-screen viewer. */
export type ViewerPage =
  /** `of`: id of the sub-agent whose transcript it is; it may grow while the page is open. */
  | {
      readonly kind: 'transcript';
      readonly messages: readonly Message[];
      /** Returns the title of a tool call; without it titles come from the inputs. */
      readonly getTitle?: (tool: string, input: JsonValue) => string;
      readonly liveSource?: string;
    }
  /** `of`: command line that produces the text, if it is repeated while the page is open. */
  | { readonly kind: 'text'; readonly markdown: string; readonly liveSource?: string }
  /** A full permission request, which can be answered on the page. */
  | { readonly kind: 'request'; readonly request: PermissionRequest }
  | ReviewPage;

/** The parts of a page that are shown. */
export type ViewerPageOptions = {
  readonly thinking: 'hidden' | 'shown';
  readonly outputs: 'folded' | 'open';
  /** Id of the call whose output is always shown in full. */
  readonly expandedCall?: string;
};

/** One row of a page, wrapped for the current width. */
export type ViewerRow = {
  readonly painted: Printable;
  readonly text: string;
  /** `start`: first row of a turn or hunk; `[` and `]` jump between these. */
  readonly mark: 'start' | 'inside';
  /** Text of the block that the row belongs to, as it is copied. */
  readonly copyText: string;
  /** Id of the call that the row belongs to. */
  readonly call?: string;
};

/** The state of the full-screen viewer, a pager like `less`. */
export type ViewerState = {
  readonly title: string;
  readonly page: ViewerPage;
  readonly options: ViewerPageOptions;
  readonly rows: readonly ViewerRow[];
  readonly top: number;
  readonly query: string;
  readonly entering: 'nothing' | 'query';
  readonly note: string;
};

/** Messages only: no thinking, and output collapsed. */
export const DEFAULT_VIEWER_PAGE_OPTIONS: ViewerPageOptions = { thinking: 'hidden', outputs: 'folded' };

/** Opens a page: a transcript or growing text at the end or at the call to show in full, other pages at the start. */
export function openViewer(
  title: string,
  page: ViewerPage,
  rows: readonly ViewerRow[],
  height: number,
  options: ViewerPageOptions = DEFAULT_VIEWER_PAGE_OPTIONS,
): ViewerState {
  const isGrowing = page.kind === 'transcript' || (page.kind === 'text' && page.liveSource !== undefined);
  const end = isGrowing ? getMaxViewerTopRow(rows.length, height) : 0;
  const callRow =
    options.expandedCall === undefined
      ? -1
      : rows.findLastIndex(
          ({ call, copyText }, row) => call === options.expandedCall && rows[row - 1]?.copyText !== copyText,
        );
  const top = callRow === -1 ? end : Math.min(callRow, end);
  return { title, page, options, rows, top, query: '', entering: 'nothing', note: '' };
}

/** Replaces the rows after a new layout and keeps the position. */
export function replaceViewerRows(viewer: ViewerState, rows: readonly ViewerRow[], height: number): ViewerState {
  const position = viewer.rows.length === 0 ? 0 : viewer.top / viewer.rows.length;
  const topBlock = viewer.rows[viewer.top]?.copyText;
  const sameRow = topBlock === undefined ? -1 : rows.findIndex(({ copyText }) => copyText === topBlock);
  const top = sameRow === -1 ? Math.round(position * rows.length) : sameRow;
  return { ...viewer, rows, top: Math.max(0, Math.min(top, getMaxViewerTopRow(rows.length, height))) };
}

/** Replaces a page that has grown. A viewer at the end stays at the end. */
export function updateGrownPage(
  viewer: ViewerState,
  page: ViewerPage,
  rows: readonly ViewerRow[],
  height: number,
): ViewerState {
  const isAtEnd = viewer.top >= getMaxViewerTopRow(viewer.rows.length, height);
  return { ...viewer, page, rows, top: isAtEnd ? getMaxViewerTopRow(rows.length, height) : viewer.top };
}

/** Updates a review page and scrolls to the hunk that was selected. */
export function updateReviewPage(
  viewer: ViewerState,
  page: ReviewPage,
  rows: readonly ViewerRow[],
  height: number,
): ViewerState {
  const starts = rows.flatMap(({ mark }, index) => (mark === 'start' ? [index] : []));
  const hasMoved = viewer.page.kind === 'review' && viewer.page.selected !== page.selected;
  const top = hasMoved ? (starts[page.selected] ?? viewer.top) : viewer.top;
  return { ...viewer, page, rows, note: '', top: Math.max(0, Math.min(top, getMaxViewerTopRow(rows.length, height))) };
}

/** Returns the maximum index of the top row. */
export function getMaxViewerTopRow(rows: number, height: number): number {
  return Math.max(0, rows - getViewerPageHeight(height));
}

/** Returns the number of visible rows; the last row of the screen is the footer. */
export function getViewerPageHeight(height: number): number {
  return Math.max(1, height - 1);
}
