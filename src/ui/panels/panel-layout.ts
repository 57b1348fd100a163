import type { PanelRow } from '../../contracts/face/panel.ts';
import { sanitizeScreen } from '../../lib/text/sanitize.ts';
import { textWidth } from '../../lib/text/text-width.ts';
import { wrapRanges } from '../../lib/text/text-wrap.ts';
import { truncateEnd } from '../../lib/text/truncate.ts';
import { type PanelView, panelRow, panelRows } from '../view/panel-view.ts';

/** A row of the list as it stands on the screen. */
export type ListedRow =
  | { readonly kind: 'group'; readonly name: string }
  | { readonly kind: 'row'; readonly row: PanelRow; readonly isSelected: boolean };

export const GAP = 2;
const LEAST_COLUMN = 8;
const MOST_DETAIL = 4;
const MOST_SAID = 8;

/** The part of the list that is seen: around the cursor, with the groups its rows belong to. */
export function listedRows(view: PanelView, height: number): readonly ListedRow[] {
  const selected = panelRow(view);
  const all = panelRows(view).flatMap((row, at, rows): readonly ListedRow[] => {
    const listed = { kind: 'row', row, isSelected: row === selected } as const;
    const isNew = row.group !== undefined && row.group !== rows[at - 1]?.group;
    return isNew ? [{ kind: 'group', name: clean(row.group ?? '') }, listed] : [listed];
  });
  const cursor = all.findIndex((one) => one.kind === 'row' && one.isSelected);
  // One row more than the cursor's is seen, so that one knows it goes on.
  const from = Math.max(0, Math.min(cursor - height + Math.min(2, height), all.length - height));
  return all.slice(from, from + height);
}

/** How wide each column is drawn in so much room; what has none is left out. */
export function columnWidths(view: PanelView, room: number): readonly number[] {
  const rows = panelRows(view);
  const count = Math.max(0, ...rows.map(({ cells }) => cells.length));
  let widths = Array.from({ length: count }, (_, at) =>
    Math.max(0, ...rows.map(({ cells }) => textWidth(clean(cells[at] ?? '')))),
  );
  while (total(widths) > room) {
    const widest = Math.max(...widths);
    widths = widest > LEAST_COLUMN ? widths.with(widths.lastIndexOf(widest), widest - 1) : widths.slice(0, -1);
  }
  return widths;
}

/** What is said below the list: what came of the last key, else more about the row under the cursor. */
export function detailLines(view: PanelView, width: number, rows: number): readonly string[] {
  const { said } = view;
  const lines = (said === undefined ? (panelRow(view)?.detail ?? []) : said.text.split('\n')).map(clean);
  const most = Math.min(rows, said === undefined ? MOST_DETAIL : MOST_SAID);
  const wrapped = lines.flatMap((line) => wrap(line, width));
  if (wrapped.length <= most) return wrapped;
  return [...wrapped.slice(0, most - 1), truncateEnd(`${wrapped[most - 1]} …`, width)].slice(0, most);
}

/** Rows kept for details, so that the list does not jump while the cursor moves. */
export function detailRoom(view: PanelView, width: number, rows: number): number {
  const needed = panelRows(view).map(({ detail }) => detail.map(clean).flatMap((line) => wrap(line, width)).length);
  const own = Math.min(MOST_DETAIL, Math.max(0, ...needed));
  return Math.min(rows, Math.max(own, view.said === undefined ? 0 : detailLines(view, width, rows).length));
}

/** Words of anybody, on one line. */
export function clean(text: string): string {
  return sanitizeScreen(text).replaceAll(/\s*\n\s*/g, ' ');
}

function wrap(line: string, width: number): readonly string[] {
  return wrapRanges(line, Math.max(1, width), { spaces: 'trim', longWords: 'break' }).map(({ from, to }) =>
    line.slice(from, to),
  );
}

function total(widths: readonly number[]): number {
  return widths.reduce((sum, width) => sum + width + GAP, -GAP);
}
