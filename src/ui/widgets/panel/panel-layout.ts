import type { PanelAction, PanelRow } from '../../../contracts/frontend/command.ts';
import { escapeDisplayName } from '../../../lib/text/sanitize.ts';
import { getTextWidth, truncateEnd } from '../../../lib/text/text-width.ts';
import { wrapRanges } from '../../../lib/text/text-wrap.ts';
import { filterPanelRows, getSelectedPanelRow, listPanelActions, type PanelState } from './panel-state.ts';

/** One row of the list on the screen: a row of the panel or the heading of a group. */
export type PanelListItem =
  | { readonly kind: 'group'; readonly name: string }
  | { readonly kind: 'row'; readonly row: PanelRow; readonly isSelected: boolean };

/** Columns between two columns of the list. */
export const PANEL_COLUMN_GAP = 2;
const MIN_COLUMN_WIDTH = 8;
/** Maximum share of the width that the first column takes if there are others. */
const FIRST_COLUMN_SHARE = 0.6;
const MAX_DETAIL_ROWS = 4;
const MAX_MESSAGE_ROWS = 8;

/** Returns the visible part of the list around the cursor, with the headings of groups. */
export function getVisiblePanelItems(view: PanelState, height: number): readonly PanelListItem[] {
  const selected = getSelectedPanelRow(view);
  const items = filterPanelRows(view).flatMap((row, index, rows): readonly PanelListItem[] => {
    const listed = { kind: 'row', row, isSelected: row === selected } as const;
    const isNew = row.group !== undefined && row.group !== rows[index - 1]?.group;
    return isNew ? [{ kind: 'group', name: sanitizePanelCell(row.group ?? '') }, listed] : [listed];
  });
  const selectedIndex = items.findIndex((item) => item.kind === 'row' && item.isSelected);
  // One row after the cursor is shown, to indicate that the list continues.
  const from = Math.max(0, Math.min(selectedIndex - height + Math.min(2, height), items.length - height));
  return items.slice(from, from + height);
}

/** Returns column widths: other columns are cut, then dropped; the first one is cut last. */
export function computePanelColumnWidths(view: PanelState, room: number): readonly number[] {
  const rows = filterPanelRows(view);
  const count = Math.max(0, ...rows.map(({ cells }) => cells.length));
  const [firstWidth = 0, ...others] = Array.from({ length: count }, (_, index) =>
    Math.max(0, ...rows.map(({ cells }) => getTextWidth(sanitizePanelCell(cells[index] ?? '')))),
  );
  const shownFirst = Math.min(firstWidth, Math.max(MIN_COLUMN_WIDTH, Math.floor(room * FIRST_COLUMN_SHARE)));
  const getMinimum = (widths: readonly number[]) =>
    getTotalWidth([shownFirst, ...widths.map((width) => Math.min(width, MIN_COLUMN_WIDTH))]);
  while (others.length > 0 && getMinimum(others) > room) others.pop();
  if (others.length === 0) return count === 0 ? [] : [Math.min(firstWidth, room)];
  while (getTotalWidth([shownFirst, ...others]) > room) {
    const widest = others.lastIndexOf(Math.max(...others));
    others[widest] = Math.max(...others) - 1;
  }
  return [Math.min(firstWidth, room - getTotalWidth(others) - PANEL_COLUMN_GAP), ...others];
}

/** Returns the lines below the list: the result of the last action, or the details of the selected row. */
export function getPanelDetailLines(view: PanelState, width: number, rows: number): readonly string[] {
  const { message } = view;
  const row = getSelectedPanelRow(view);
  const details = row === undefined ? [] : getDetails(row, computePanelColumnWidths(view, width).length);
  const lines = message === undefined ? details : message.text.split('\n').map(sanitizePanelCell);
  const maxRows = Math.min(rows, message === undefined ? MAX_DETAIL_ROWS : MAX_MESSAGE_ROWS);
  const wrapped = lines.flatMap((line) => wrapPanelLine(line, width));
  if (wrapped.length <= maxRows) return wrapped;
  return [...wrapped.slice(0, maxRows - 1), truncateEnd(`${wrapped[maxRows - 1]} …`, width)].slice(0, maxRows);
}

/** Returns the details of a row, starting with the cells of dropped columns. */
function getDetails({ cells, detail }: PanelRow, columns: number): readonly string[] {
  const hiddenCells = cells.slice(columns).filter((cell) => cell !== '');
  return [...(hiddenCells.length === 0 ? [] : [hiddenCells.join(', ')]), ...detail].map(sanitizePanelCell);
}

/** Returns the number of rows reserved for details, so that the list does not jump while the cursor moves. */
export function getPanelDetailRowCount(view: PanelState, width: number, rows: number): number {
  const columnCount = computePanelColumnWidths(view, width).length;
  const neededRows = filterPanelRows(view).map(
    (row) => getDetails(row, columnCount).flatMap((line) => wrapPanelLine(line, width)).length,
  );
  const detailRows = Math.min(MAX_DETAIL_ROWS, Math.max(0, ...neededRows));
  return Math.min(
    rows,
    Math.max(detailRows, view.message === undefined ? 0 : getPanelDetailLines(view, width, rows).length),
  );
}

/** Returns the available keys, wrapped into rows. */
export function getPanelKeyRows(view: PanelState, width: number, separator: string): readonly string[] {
  return packKeys(listPanelActions(view), view, width, separator);
}

/** Returns the number of rows reserved for keys, so that the list does not jump while the cursor moves. */
export function getPanelKeyRowCount(view: PanelState, width: number, separator: string): number {
  const { actions: acts } = view.panel;
  // Rows of the same kind have the same keys, so each set is measured once.
  const kinds = new Map(
    filterPanelRows(view).map((row) => [row.actions.map(({ label }) => label).join(), row.actions]),
  );
  return Math.max(
    1,
    ...[...kinds.values()].map((actions) => packKeys([...actions, ...acts], view, width, separator).length),
  );
}

function packKeys(
  acts: readonly PanelAction[],
  { back }: PanelState,
  width: number,
  separator: string,
): readonly string[] {
  const keys = acts.map((act) => `${act.kind === 'turn' ? 'left/right' : act.key} ${act.label}`);
  const rows: string[] = [];
  for (const key of [...keys, back === undefined ? 'esc' : 'esc back']) {
    const extended = `${rows.at(-1) ?? ''}${separator}${key}`;
    if (rows.length > 0 && getTextWidth(extended) <= width) rows[rows.length - 1] = extended;
    else rows.push(key);
  }
  return rows;
}

/** Sanitizes text to one line. */
export function sanitizePanelCell(text: string): string {
  return escapeDisplayName(text);
}

/** Wraps a line into rows. */
export function wrapPanelLine(line: string, width: number): readonly string[] {
  return wrapRanges(line, Math.max(1, width), { spaces: 'trim', longWords: 'break' }).map(({ from, to }) =>
    line.slice(from, to),
  );
}

function getTotalWidth(widths: readonly number[]): number {
  return widths.reduce((sum, width) => sum + width + PANEL_COLUMN_GAP, -PANEL_COLUMN_GAP);
}
