import { Box } from 'ink';
import type { PanelRowMark } from '../../../contracts/frontend/command.ts';
import { EMPTY_PRINTABLE, joinPrintable, type Printable, printable } from '../../../lib/printable.ts';
import { padToWidth, truncateEnd } from '../../../lib/text/text-width.ts';
import { FRAME_COLUMNS, Frame } from '../../text/Frame.tsx';
import { PrintableText } from '../../text/Rows.tsx';
import { useScreenContext } from '../../text/render-context.ts';
import type { Glyphs } from '../../theme/glyphs.ts';
import type { Paint } from '../../theme/paint.ts';
import type { ThemeToken } from '../../theme/theme.ts';
import {
  computePanelColumnWidths,
  getPanelDetailLines,
  getPanelDetailRowCount,
  getPanelKeyRowCount,
  getPanelKeyRows,
  getVisiblePanelItems,
  PANEL_COLUMN_GAP,
  type PanelListItem,
  sanitizePanelCell,
  wrapPanelLine,
} from './panel-layout.ts';
import { filterPanelRows, type PanelState } from './panel-state.ts';

type PanelProps = {
  readonly view: PanelState;
  /** Maximum height. */
  readonly rows: number;
};

const ROW_MARGIN = 4;
/** Indentation of the keys. */
const FOOT_MARGIN = 2;
const BAR_CELLS = 20;
const MIN_BAR_CELLS = 4;
const LOW_PANEL_ROWS = 8;
/** Columns of the frame, and those that stay free at the right edge, so that no terminal wraps. */
const EDGE_COLUMNS = FRAME_COLUMNS + 2;

/** An interactive list: title and query, rows, details of the selected row, and keys. */
export function Panel({ view, rows }: PanelProps) {
  const { context, paint } = useScreenContext();
  const width = Math.max(1, context.width - EDGE_COLUMNS);
  const hasNote = view.panel.note !== undefined && rows >= LOW_PANEL_ROWS;
  const { separator } = context.glyphs;
  const keyRowCount = rows >= LOW_PANEL_ROWS ? getPanelKeyRowCount(view, width - FOOT_MARGIN, separator) : 1;
  const freeRows = rows - 1 - keyRowCount - (hasNote ? 1 : 0);
  const detailRows = getPanelDetailRowCount(
    view,
    width - ROW_MARGIN,
    Math.max(0, Math.min(Math.floor(freeRows / 2), freeRows - 2)),
  );
  const detail = getPanelDetailLines(view, width - ROW_MARGIN, detailRows);
  const listedItems = getVisiblePanelItems(view, Math.max(1, freeRows - detailRows));
  const tone = view.message?.level === 'warn' ? 'warn' : view.message === undefined ? 'dim' : 'text';
  return (
    <Frame token="brand">
      <PanelHead view={view} />
      {hasNote ? (
        <PrintableText wrap="truncate">
          {paint(`  ${sanitizePanelCell(view.panel.note ?? '')}`, { token: 'dim' })}
        </PrintableText>
      ) : null}
      {listedItems.length === 0 ? (
        <PrintableText>
          {joinRows(wrapPanelLine(getEmptyText(view), width - FOOT_MARGIN), (line) =>
            paint(`  ${line}`, { token: 'dim' }),
          )}
        </PrintableText>
      ) : null}
      {listedItems.map((item) => (
        <PanelRowLine key={item.kind === 'row' ? item.row.id : `group ${item.name}`} item={item} view={view} />
      ))}
      <Box height={detailRows}>
        <PrintableText wrap="truncate">
          {joinRows(detail, (line) => paint(`    ${line}`, { token: tone }))}
        </PrintableText>
      </Box>
      <PanelFoot view={view} rows={keyRowCount} />
    </Frame>
  );
}

function getEmptyText({ panel, query }: PanelState): string {
  return query === '' ? sanitizePanelCell(panel.empty) : 'No match.';
}

/** The first line: title, query and number of matching rows. */
function PanelHead({ view }: { readonly view: PanelState }) {
  const { paint } = useScreenContext();
  const { panel, query } = view;
  const matches = filterPanelRows(view).length;
  const count = matches === panel.rows.length ? `${matches}` : `${matches} of ${panel.rows.length}`;
  return (
    <PrintableText wrap="truncate">
      {paint(sanitizePanelCell(panel.title), { bold: true })}
      {paint(`  > ${query}`, undefined)}
      {paint(`   ${count}`, { token: 'dim' })}
    </PrintableText>
  );
}

function PanelRowLine({ item, view }: { readonly item: PanelListItem; readonly view: PanelState }) {
  const { context, paint } = useScreenContext();
  if (item.kind === 'group')
    return <PrintableText wrap="truncate">{paint(`  ${item.name}`, { token: 'dim' })}</PrintableText>;
  const { row, isSelected } = item;
  const isCurrent = row.mark === 'current';
  const room = context.width - EDGE_COLUMNS - ROW_MARGIN;
  const widths = computePanelColumnWidths(view, room);
  const barColumns = room - widths.reduce((sum, width) => sum + width + PANEL_COLUMN_GAP, 0);
  const bar = row.share === undefined ? '' : createBar(row.share, Math.min(BAR_CELLS, barColumns), context.glyphs);
  const [name = '', ...cells] = widths.map((width, index) =>
    padToWidth(truncateEnd(sanitizePanelCell(row.cells[index] ?? ''), width), width),
  );
  const otherCells = [...cells, bar].join(' '.repeat(PANEL_COLUMN_GAP)).trimEnd();
  return (
    <PrintableText wrap="truncate">
      {isSelected ? paint(context.glyphs.cursor, { token: 'brand', bold: true }) : printable` `}
      {printable` ${row.mark === undefined ? printable` ` : createMark(row.mark, context.glyphs, paint)} `}
      {paint(name, isSelected ? { token: 'brand', bold: true } : isCurrent ? { bold: true } : undefined)}
      {otherCells === '' ? EMPTY_PRINTABLE : paint(`  ${otherCells}`, isSelected ? undefined : { token: 'dim' })}
    </PrintableText>
  );
}

const MARK_TOKENS: Readonly<Record<PanelRowMark, ThemeToken>> = {
  current: 'accent',
  good: 'ok',
  bad: 'error',
  waiting: 'warn',
  off: 'dim',
};

function createMark(mark: PanelRowMark, { todo, failed, done, waiting }: Glyphs, paint: Paint): Printable {
  const symbol = { current: todo.in_progress, good: done, bad: failed, waiting: waiting, off: todo.pending }[mark];
  // Symbols that are words in ASCII are reduced to one column.
  return paint(symbol.length === 1 ? symbol : (symbol.replaceAll(/[[\]]/g, '')[0] ?? ' '), {
    token: MARK_TOKENS[mark],
  });
}

/** A share that is shown as 0.0 % has an empty bar. */
const MIN_SHARE = 0.0005;

function createBar(share: number, cells: number, { gauge }: Glyphs): string {
  if (cells < MIN_BAR_CELLS) return '';
  const fullCells = share < MIN_SHARE ? 0 : Math.max(1, Math.round(share * cells));
  return `${gauge.full.repeat(fullCells)}${gauge.empty.repeat(cells - fullCells)}`;
}

function joinRows(lines: readonly string[], paintLine: (line: string) => Printable): Printable {
  return joinPrintable(lines.map(paintLine), printable`\n`);
}

type PanelFootProps = { readonly view: PanelState; readonly rows: number };

/** The last line: available keys, the value being typed, or a confirmation. */
function PanelFoot({ view, rows }: PanelFootProps) {
  const { context, paint } = useScreenContext();
  const { mode } = view;
  const width = context.width - EDGE_COLUMNS;
  if (mode.type === 'sure') {
    const text = `${mode.action.key} again ${mode.action.confirmLabel ?? ''}; any other key cancels`;
    const lines = wrapPanelLine(sanitizePanelCell(text), width - FOOT_MARGIN).slice(0, rows);
    return (
      <PrintableText wrap="truncate">{joinRows(lines, (line) => paint(`  ${line}`, { token: 'warn' }))}</PrintableText>
    );
  }
  if (mode.type === 'writing') {
    const { text, caret } = mode.editor;
    const line = sanitizePanelCell(mode.action.command);
    const room = Math.max(10, width - line.length - 6);
    // The text before the caret stays visible.
    const from = Math.max(0, caret - room + 1);
    const keyHint = '   enter saves, esc cancels';
    return (
      <PrintableText wrap="truncate">
        {paint(`  /${line} `, { token: 'dim' })}
        {paint(sanitizePanelCell(text.slice(from, caret)), undefined)}
        {paint(text.charAt(caret) || ' ', { inverse: true })}
        {paint(sanitizePanelCell(text.slice(caret + 1)), undefined)}
        {text.length + keyHint.length < room ? paint(keyHint, { token: 'dim' }) : EMPTY_PRINTABLE}
      </PrintableText>
    );
  }
  const lines = getPanelKeyRows(view, width - FOOT_MARGIN, context.glyphs.separator).slice(0, rows);
  return (
    <Box height={rows}>
      <PrintableText wrap="truncate">{joinRows(lines, (line) => paint(`  ${line}`, { token: 'dim' }))}</PrintableText>
    </Box>
  );
}
