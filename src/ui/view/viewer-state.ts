import type { JsonValue } from '../../contracts/json.ts';
import type { Message } from '../../contracts/message.ts';
import type { PermissionRequest } from '../../contracts/permission.ts';
import type { Printable } from '../../lib/printable.ts';
import type { ReviewPage } from './review-page.ts';

/** What can be looked at on a screen of its own. */
export type ViewerPage =
  /** `of`: the sub-agent whose it is, which may go on while it is read. */
  | {
      readonly kind: 'transcript';
      readonly messages: readonly Message[];
      /** What its calls are about, by their inputs; without any, the inputs speak for themselves. */
      readonly titleOf?: (tool: string, input: JsonValue) => string;
      readonly of?: string;
    }
  /** `of`: the command line that says it, where it may say more while it is read. */
  | { readonly kind: 'text'; readonly markdown: string; readonly of?: string }
  /** All of what is asked about, which is answered there. */
  | { readonly kind: 'request'; readonly request: PermissionRequest }
  | ReviewPage;

/** How much of a page is laid out. */
export type Shown = {
  readonly thinking: 'hidden' | 'shown';
  readonly bodies: 'folded' | 'open';
  /** The call whose output is shown whole, whatever is folded besides. */
  readonly call?: string;
};

/** One row of a page, laid out for one width. */
export type ViewerRow = {
  readonly painted: Printable;
  readonly text: string;
  /** Begins a turn, or a hunk: `[` and `]` go from one to the next. */
  readonly mark: 'start' | 'inside';
  /** The block the row belongs to, as it would be copied. */
  readonly block: string;
  /** The call whose row it is. */
  readonly call?: string;
};

/** A page being looked at: like `less`, laid out at the current width. */
export type Viewer = {
  readonly title: string;
  readonly page: ViewerPage;
  readonly shown: Shown;
  readonly rows: readonly ViewerRow[];
  readonly top: number;
  readonly query: string;
  readonly entering: 'nothing' | 'query';
  readonly note: string;
};

/** Nothing but what was said. */
export const FOLDED: Shown = { thinking: 'hidden', bodies: 'folded' };

/** A page opened at the call that is shown whole, or at its end, where the newest is; anything else at its beginning. */
export function openViewer(
  title: string,
  page: ViewerPage,
  rows: readonly ViewerRow[],
  height: number,
  shown: Shown = FOLDED,
): Viewer {
  const isGrowing = page.kind === 'transcript' || (page.kind === 'text' && page.of !== undefined);
  const end = isGrowing ? lastTop(rows.length, height) : 0;
  const at =
    shown.call === undefined
      ? -1
      : rows.findLastIndex(({ call, block }, row) => call === shown.call && rows[row - 1]?.block !== block);
  const top = at === -1 ? end : Math.min(at, end);
  return { title, page, shown, rows, top, query: '', entering: 'nothing', note: '' };
}

/** The same place in rows that were laid out anew. */
export function withRows(viewer: Viewer, rows: readonly ViewerRow[], height: number): Viewer {
  const share = viewer.rows.length === 0 ? 0 : viewer.top / viewer.rows.length;
  const here = viewer.rows[viewer.top]?.block;
  const same = here === undefined ? -1 : rows.findIndex(({ block }) => block === here);
  const top = same === -1 ? Math.round(share * rows.length) : same;
  return { ...viewer, rows, top: Math.max(0, Math.min(top, lastTop(rows.length, height))) };
}

/** A page that has grown; who reads its end goes on reading its end. */
export function withMore(viewer: Viewer, page: ViewerPage, rows: readonly ViewerRow[], height: number): Viewer {
  const isAtEnd = viewer.top >= lastTop(viewer.rows.length, height);
  return { ...viewer, page, rows, top: isAtEnd ? lastTop(rows.length, height) : viewer.top };
}

/** The page with another part of it under the keys, and that part in sight. */
export function withReview(viewer: Viewer, page: ReviewPage, rows: readonly ViewerRow[], height: number): Viewer {
  const parts = rows.flatMap(({ mark }, at) => (mark === 'start' ? [at] : []));
  const isMoved = viewer.page.kind === 'review' && viewer.page.at !== page.at;
  const top = isMoved ? (parts[page.at] ?? viewer.top) : viewer.top;
  return { ...viewer, page, rows, note: '', top: Math.max(0, Math.min(top, lastTop(rows.length, height))) };
}

/** The highest row number a page can begin with. The last row of the screen is not the page's. */
export function lastTop(rows: number, height: number): number {
  return Math.max(0, rows - pageHeight(height));
}

/** Rows of a page that are seen at once. */
export function pageHeight(height: number): number {
  return Math.max(1, height - 1);
}
