import type { PanelAct, PanelRow } from '../../contracts/face/panel.ts';
import { printableName } from '../../lib/text/sanitize.ts';
import { textWidth } from '../../lib/text/text-width.ts';
import { wrapRanges } from '../../lib/text/text-wrap.ts';
import { truncateEnd } from '../../lib/text/truncate.ts';
import { type PanelView, panelActs, panelRow, panelRows } from '../view/panel-view.ts';

/** A row of the list as it stands on the screen. */
export type ListedRow =
  | { readonly kind: 'group'; readonly name: string }
  | { readonly kind: 'row'; readonly row: PanelRow; readonly isSelected: boolean };

export const GAP = 2;
const LEAST_COLUMN = 8;
/** So much of a row the name takes at most, as long as something stands beside it. */
const NAME_SHARE = 0.6;
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

/**
 * How wide each column is drawn in so much room. The name gives way last: without it rows are all the same. Of the
 * others the widest is cut first, and the last ones are left out where none could be read any more.
 */
export function columnWidths(view: PanelView, room: number): readonly number[] {
  const rows = panelRows(view);
  const count = Math.max(0, ...rows.map(({ cells }) => cells.length));
  const [own = 0, ...others] = Array.from({ length: count }, (_, at) =>
    Math.max(0, ...rows.map(({ cells }) => textWidth(clean(cells[at] ?? '')))),
  );
  const name = Math.min(own, Math.max(LEAST_COLUMN, Math.floor(room * NAME_SHARE)));
  const least = (widths: readonly number[]) => total([name, ...widths.map((width) => Math.min(width, LEAST_COLUMN))]);
  while (others.length > 0 && least(others) > room) others.pop();
  if (others.length === 0) return count === 0 ? [] : [Math.min(own, room)];
  while (total([name, ...others]) > room) {
    const widest = others.lastIndexOf(Math.max(...others));
    others[widest] = Math.max(...others) - 1;
  }
  return [Math.min(own, room - total(others) - GAP), ...others];
}

/** What is said below the list: what came of the last key, else more about the row under the cursor. */
export function detailLines(view: PanelView, width: number, rows: number): readonly string[] {
  const { said } = view;
  const row = panelRow(view);
  const details = row === undefined ? [] : detailOf(row, columnWidths(view, width).length);
  const lines = said === undefined ? details : said.text.split('\n').map(clean);
  const most = Math.min(rows, said === undefined ? MOST_DETAIL : MOST_SAID);
  const wrapped = lines.flatMap((line) => wrap(line, width));
  if (wrapped.length <= most) return wrapped;
  return [...wrapped.slice(0, most - 1), truncateEnd(`${wrapped[most - 1]} …`, width)].slice(0, most);
}

/** More about a row: first what it has no columns for. */
function detailOf({ cells, detail }: PanelRow, columns: number): readonly string[] {
  const cut = cells.slice(columns).filter((cell) => cell !== '');
  return [...(cut.length === 0 ? [] : [cut.join(', ')]), ...detail].map(clean);
}

/** Rows kept for details, so that the list does not jump while the cursor moves. */
export function detailRoom(view: PanelView, width: number, rows: number): number {
  const shown = columnWidths(view, width).length;
  const needed = panelRows(view).map((row) => detailOf(row, shown).flatMap((line) => wrap(line, width)).length);
  const own = Math.min(MOST_DETAIL, Math.max(0, ...needed));
  return Math.min(rows, Math.max(own, view.said === undefined ? 0 : detailLines(view, width, rows).length));
}

/** The keys that mean something where the cursor is, in as many rows as they need. */
export function keyRows(view: PanelView, width: number, separator: string): readonly string[] {
  return packed(panelActs(view), view, width, separator);
}

/** Rows kept for the keys, so that the list does not jump while the cursor moves. */
export function keyRoom(view: PanelView, width: number, separator: string): number {
  const { acts } = view.panel;
  // Rows of a kind share their keys.
  const kinds = new Map(panelRows(view).map((row) => [row.acts.map(({ label }) => label).join(), row.acts]));
  return Math.max(1, ...[...kinds.values()].map((own) => packed([...own, ...acts], view, width, separator).length));
}

function packed(acts: readonly PanelAct[], { back }: PanelView, width: number, separator: string): readonly string[] {
  const keys = acts.map((act) => `${act.kind === 'turn' ? 'left/right' : act.key} ${act.label}`);
  const rows: string[] = [];
  for (const key of [...keys, back === undefined ? 'esc' : 'esc back']) {
    const longer = `${rows.at(-1) ?? ''}${separator}${key}`;
    if (rows.length > 0 && textWidth(longer) <= width) rows[rows.length - 1] = longer;
    else rows.push(key);
  }
  return rows;
}

/** Words of anybody, on one line. */
export function clean(text: string): string {
  return printableName(text);
}

/** Words in rows of a width. */
export function wrap(line: string, width: number): readonly string[] {
  return wrapRanges(line, Math.max(1, width), { spaces: 'trim', longWords: 'break' }).map(({ from, to }) =>
    line.slice(from, to),
  );
}

function total(widths: readonly number[]): number {
  return widths.reduce((sum, width) => sum + width + GAP, -GAP);
}
