import { Box } from 'ink';
import type { PanelMark } from '../../contracts/face/panel.ts';
import { joinPrinted, NOTHING_PRINTED, type Printable, printed } from '../../lib/printable.ts';
import { padWidth } from '../../lib/text/text-width.ts';
import { truncateEnd } from '../../lib/text/truncate.ts';
import { Painted } from '../text/Painted.tsx';
import { useLook } from '../text/use-look.ts';
import type { Glyphs } from '../theme/glyphs.ts';
import type { Paint } from '../theme/paint.ts';
import type { ThemeToken } from '../theme/theme.ts';
import { type PanelView, panelRows } from '../view/panel-view.ts';
import {
  clean,
  columnWidths,
  detailLines,
  detailRoom,
  GAP,
  keyRoom,
  keyRows,
  type ListedRow,
  listedRows,
  wrap,
} from './panel-layout.ts';

type PanelProps = {
  readonly view: PanelView;
  /** At most so many rows. */
  readonly rows: number;
};

const MARGIN = 4;
/** What stands before the keys. */
const FOOT_MARGIN = 2;
const BAR_CELLS = 20;
const LEAST_BAR = 4;
const SMALL_ROWS = 8;
/** The last columns stay free, so that no terminal wraps. */
const EDGE = 2;

/** A list to search, to move in and to change things from. */
export function Panel({ view, rows }: PanelProps) {
  const { drawing, paint } = useLook();
  const width = Math.max(1, drawing.width - EDGE);
  const hasNote = view.panel.note !== undefined && rows >= SMALL_ROWS;
  const { separator } = drawing.glyphs;
  const keys = rows >= SMALL_ROWS ? keyRoom(view, width - FOOT_MARGIN, separator) : 1;
  const free = rows - 1 - keys - (hasNote ? 1 : 0);
  const below = detailRoom(view, width - MARGIN, Math.max(0, Math.min(Math.floor(free / 2), free - 2)));
  const detail = detailLines(view, width - MARGIN, below);
  const listed = listedRows(view, Math.max(1, free - below));
  const tone = view.said?.level === 'warn' ? 'warn' : view.said === undefined ? 'dim' : 'text';
  return (
    <Box flexDirection="column" width={Math.max(1, drawing.width - 1)}>
      <Head view={view} />
      {hasNote ? (
        <Painted wrap="truncate">{paint(`  ${clean(view.panel.note ?? '')}`, { token: 'dim' })}</Painted>
      ) : null}
      {listed.length === 0 ? (
        <Painted>
          {inRows(wrap(emptyWords(view), width - FOOT_MARGIN), (line) => paint(`  ${line}`, { token: 'dim' }))}
        </Painted>
      ) : null}
      {listed.map((one) => (
        <Row key={one.kind === 'row' ? one.row.id : `group ${one.name}`} one={one} view={view} />
      ))}
      <Box height={below}>
        <Painted wrap="truncate">{inRows(detail, (line) => paint(`    ${line}`, { token: tone }))}</Painted>
      </Box>
      <Foot view={view} rows={keys} />
    </Box>
  );
}

function emptyWords({ panel, query }: PanelView): string {
  return query === '' ? clean(panel.empty) : 'Nothing here holds that.';
}

/** What it is, what is searched for, how much of it fits. */
function Head({ view }: { readonly view: PanelView }) {
  const { paint } = useLook();
  const { panel, query } = view;
  const count = panelRows(view).length;
  const of = count === panel.rows.length ? `${count}` : `${count} of ${panel.rows.length}`;
  return (
    <Painted wrap="truncate">
      {paint(clean(panel.title), { token: 'accent', bold: true })}
      {paint(`  > ${query}`, undefined)}
      {paint(`   ${of}`, { token: 'dim' })}
    </Painted>
  );
}

function Row({ one, view }: { readonly one: ListedRow; readonly view: PanelView }) {
  const { drawing, paint } = useLook();
  if (one.kind === 'group') return <Painted wrap="truncate">{paint(`  ${one.name}`, { token: 'dim' })}</Painted>;
  const { row, isSelected } = one;
  const isCurrent = row.mark === 'current';
  const room = drawing.width - EDGE - MARGIN;
  const widths = columnWidths(view, room);
  const left = room - widths.reduce((sum, width) => sum + width + GAP, 0);
  const bar = row.share === undefined ? '' : barOf(row.share, Math.min(BAR_CELLS, left), drawing.glyphs);
  const [name = '', ...cells] = widths.map((width, at) =>
    padWidth(truncateEnd(clean(row.cells[at] ?? ''), width), width),
  );
  const rest = [...cells, bar].join(' '.repeat(GAP)).trimEnd();
  return (
    <Painted wrap="truncate">
      {isSelected ? paint(drawing.glyphs.cursor, { token: 'brand', bold: true }) : printed` `}
      {printed` ${row.mark === undefined ? printed` ` : markOf(row.mark, drawing.glyphs, paint)} `}
      {paint(name, isSelected ? { token: 'brand', bold: true } : isCurrent ? { bold: true } : undefined)}
      {rest === '' ? NOTHING_PRINTED : paint(`  ${rest}`, isSelected ? undefined : { token: 'dim' })}
    </Painted>
  );
}

const TONES: Readonly<Record<PanelMark, ThemeToken>> = {
  current: 'accent',
  good: 'ok',
  bad: 'error',
  waiting: 'warn',
  off: 'dim',
};

function markOf(mark: PanelMark, { todo, failed, done, wait }: Glyphs, paint: Paint): Printable {
  const sign = { current: todo.in_progress, good: done, bad: failed, waiting: wait, off: todo.pending }[mark];
  // One column, also where the sign is a word.
  return paint(sign.length === 1 ? sign : (sign.replaceAll(/[[\]]/g, '')[0] ?? ' '), { token: TONES[mark] });
}

function barOf(share: number, cells: number, { spinner }: Glyphs): string {
  if (cells < LEAST_BAR) return '';
  const full = share === 0 ? 0 : Math.max(1, Math.round(share * cells));
  const isAscii = spinner.includes('/');
  return `${(isAscii ? '#' : '▰').repeat(full)}${(isAscii ? '-' : '▱').repeat(cells - full)}`;
}

function inRows(lines: readonly string[], painted: (line: string) => Printable): Printable {
  return joinPrinted(lines.map(painted), printed`\n`);
}

type FootProps = { readonly view: PanelView; readonly rows: number };

/** The keys that mean something where the cursor is, or what is being written. */
function Foot({ view, rows }: FootProps) {
  const { drawing, paint } = useLook();
  const { doing } = view;
  const width = drawing.width - EDGE;
  if (doing.type === 'sure') {
    const words = `${doing.act.key} again ${doing.act.sure ?? ''}; any other key leaves it`;
    const lines = wrap(clean(words), width - FOOT_MARGIN).slice(0, rows);
    return <Painted wrap="truncate">{inRows(lines, (line) => paint(`  ${line}`, { token: 'warn' }))}</Painted>;
  }
  if (doing.type === 'writing') {
    const { text, caret } = doing.editor;
    const line = clean(doing.act.line);
    const room = Math.max(10, width - line.length - 6);
    // The end that is written at stays in sight.
    const from = Math.max(0, caret - room + 1);
    const keys = '   enter sets, esc leaves it';
    return (
      <Painted wrap="truncate">
        {paint(`  /${line} `, { token: 'dim' })}
        {paint(clean(text.slice(from, caret)), undefined)}
        {paint(text.charAt(caret) || ' ', { inverse: true })}
        {paint(clean(text.slice(caret + 1)), undefined)}
        {text.length + keys.length < room ? paint(keys, { token: 'dim' }) : NOTHING_PRINTED}
      </Painted>
    );
  }
  const lines = keyRows(view, width - FOOT_MARGIN, drawing.glyphs.separator).slice(0, rows);
  return (
    <Box height={rows}>
      <Painted wrap="truncate">{inRows(lines, (line) => paint(`  ${line}`, { token: 'dim' }))}</Painted>
    </Box>
  );
}
