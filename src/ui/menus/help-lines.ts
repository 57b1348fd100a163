import { padWidth, textWidth } from '../../lib/text/text-width.ts';
import type { Drawing } from '../text/drawing.ts';
import { type LogicalLine, plain, type Span, terminalLine, toned } from '../text/line.ts';
import { isBusy, type ViewState } from '../view/view-state.ts';

type HelpLine = { readonly keys: string; readonly does: string; readonly when: 'always' | 'busy' | 'idle' };

const line = (keys: string, does: string, when: HelpLine['when'] = 'always'): HelpLine => ({ keys, does, when });

const HELP: readonly (readonly [string, readonly HelpLine[]])[] = [
  [
    'Write',
    [
      line('enter', 'send'),
      line('shift+enter', 'new line'),
      line('/  @', 'commands, files'),
      line('!  #', 'shell, memory'),
      line('up, ctrl+r', 'earlier messages'),
      line('ctrl+g', 'your own editor'),
      line('ctrl+s', 'put aside, take back'),
      line('ctrl+_', 'undo'),
    ],
  ],
  [
    'While it works',
    [
      line('esc', 'stop', 'busy'),
      line('enter', 'say it now', 'busy'),
      line('alt+enter', 'say it at the end', 'busy'),
      line('ctrl+y', 'answer a question', 'busy'),
      line('ctrl+b', 'to the background', 'busy'),
    ],
  ],
  ['Look', [line('ctrl+o', 'transcript'), line('ctrl+t', 'tasks'), line('ctrl+l', 'repaint')]],
  [
    'Session',
    [
      line('shift+tab', 'ask, edits, plan'),
      line('alt+p', 'model'),
      line('esc esc', 'go back', 'idle'),
      line('ctrl+c twice', 'leave'),
    ],
  ],
];

const GAP = 3;
const WIDEST_KEYS = 24;

/** One page of keys, in as many columns as fit; those that work right now are bold. */
export function helpLines(view: ViewState, { width }: Drawing, rows: number): readonly LogicalLine[] {
  const { filter, isFiltering } = filterOf(view);
  const wanted = filter.toLowerCase();
  const sections = HELP.map(([title, lines]) => ({
    title,
    lines: lines.filter(({ keys, does }) => `${title} ${keys} ${does}`.toLowerCase().includes(wanted)),
  })).filter(({ lines }) => lines.length > 0);
  const now = isBusy(view) ? 'busy' : 'idle';
  const wide = columnsOf(sections, 2, now);
  const isWide = widthOf(wide) <= width - 2;
  const columns = isWide ? wide : columnsOf(sections, 1, now);
  const height = Math.max(0, ...columns.map((column) => column.length));
  const room = Math.max(0, rows - 1);
  const isTitle = (row: number) => columns.every((column) => column[row]?.kind !== 'key');
  const shown = height > room && isTitle(room - 1) ? room - 1 : Math.min(height, room);
  const left = columns
    .flatMap((column) => column.slice(Math.max(0, shown)))
    .filter(({ kind }) => kind === 'key').length;
  const note = isFiltering ? `/${filter}` : 'any key closes   / filters';
  const more = sections.length === 0 ? '   no key does that' : left > 0 ? `   ${left} more` : '';
  const lines = Array.from({ length: Math.max(0, shown) }, (_, row) => besides(columns, row));
  return [...lines, terminalLine(toned('dim', `${note}${more}`))];
}

function filterOf({ overlay }: ViewState): { readonly filter: string; readonly isFiltering: boolean } {
  return overlay?.kind === 'help' ? overlay : { filter: '', isFiltering: false };
}

type Row = { readonly kind: 'title' | 'key'; readonly spans: readonly Span[]; readonly width: number };
type Section = { readonly title: string; readonly lines: readonly HelpLine[] };

/** The sections one below the other, in so many columns. */
function columnsOf(sections: readonly Section[], count: number, now: 'busy' | 'idle'): readonly (readonly Row[])[] {
  const per = Math.ceil(sections.length / count);
  return Array.from({ length: count }, (_, column) => {
    const own = sections.slice(column * per, (column + 1) * per);
    const keyWidth = Math.min(
      WIDEST_KEYS,
      Math.max(0, ...own.flatMap(({ lines }) => lines.map(({ keys }) => textWidth(keys)))),
    );
    return own.flatMap((section) => sectionRows(section, keyWidth, now));
  }).filter((column) => column.length > 0);
}

function sectionRows({ title, lines }: Section, keyWidth: number, now: 'busy' | 'idle'): readonly Row[] {
  const rows = lines.map(({ keys, does, when }): Row => {
    const key = padWidth(keys, keyWidth);
    const isValid = when === 'always' || when === now;
    const span: Span = isValid ? { text: key, style: { bold: true } } : toned('dim', key);
    return { kind: 'key', spans: [plain('  '), span, plain(`  ${does}`)], width: 4 + textWidth(key) + textWidth(does) };
  });
  return [{ kind: 'title', spans: [toned('accent', title)], width: textWidth(title) }, ...rows];
}

function besides(columns: readonly (readonly Row[])[], row: number): LogicalLine {
  const spans = columns.flatMap((column, at) => {
    const own = column[row] ?? { spans: [], width: 0 };
    const isLast = at === columns.length - 1;
    return isLast ? own.spans : [...own.spans, plain(' '.repeat(columnWidth(column) - own.width + GAP))];
  });
  return terminalLine(...spans);
}

function widthOf(columns: readonly (readonly Row[])[]): number {
  return columns.reduce((sum, column) => sum + columnWidth(column) + GAP, -GAP);
}

function columnWidth(column: readonly Row[]): number {
  return Math.max(0, ...column.map(({ width }) => width));
}
