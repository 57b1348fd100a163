import { getTextWidth, padToWidth } from '../../../lib/text/text-width.ts';
import { isBusy, type ViewState } from '../../app-state/view-state.ts';
import { colored, createStyledLine, type LogicalLine, plain, type StyledSpan } from '../../text/line.ts';
import type { RenderContext } from '../../text/render-context.ts';

type HelpLine = { readonly keys: string; readonly effect: string; readonly when: 'always' | 'busy' | 'idle' };

const createHelpLine = (keys: string, effect: string, when: HelpLine['when'] = 'always'): HelpLine => ({
  keys,
  effect,
  when,
});

const SECTIONS: readonly (readonly [string, readonly HelpLine[]])[] = [
  [
    'Messages',
    [
      createHelpLine('enter', 'send'),
      createHelpLine('shift+enter', 'new line'),
      createHelpLine('/  @', 'commands, files'),
      createHelpLine('!  #', 'shell, note'),
      createHelpLine('up, ctrl+r', 'earlier messages'),
      createHelpLine('ctrl+g', 'external editor'),
      createHelpLine('ctrl+s', 'stash, restore'),
      createHelpLine('ctrl+_', 'undo'),
    ],
  ],
  [
    'During a turn',
    [
      createHelpLine('esc', 'stop', 'busy'),
      createHelpLine('enter', 'send now', 'busy'),
      createHelpLine('alt+enter', 'send when done', 'busy'),
      createHelpLine('ctrl+y', 'open the question', 'busy'),
      createHelpLine('ctrl+b', 'run in background', 'busy'),
    ],
  ],
  [
    'View',
    [createHelpLine('ctrl+o', 'transcript'), createHelpLine('ctrl+t', 'tasks'), createHelpLine('ctrl+l', 'redraw')],
  ],
  [
    'Session',
    [
      createHelpLine('shift+tab', 'ask, accept edits, plan'),
      createHelpLine('alt+p', 'model'),
      createHelpLine('esc esc', 'rewind', 'idle'),
      createHelpLine('ctrl+c twice', 'exit'),
    ],
  ],
];

const GAP = 3;
const MAX_KEY_COLUMNS = 24;

/** Renders the page of keys in one or two columns. Keys that work at the moment are bold. */
export function renderKeyHelp(view: ViewState, { width }: RenderContext, rows: number): readonly LogicalLine[] {
  const { filter, isFiltering } = getFilter(view);
  const lowerFilter = filter.toLowerCase();
  const sections = SECTIONS.map(([title, lines]) => ({
    title,
    lines: lines.filter(({ keys, effect }) => `${title} ${keys} ${effect}`.toLowerCase().includes(lowerFilter)),
  })).filter(({ lines }) => lines.length > 0);
  const state = isBusy(view) ? 'busy' : 'idle';
  const wide = createColumns(sections, 2, state);
  const isWide = measureWidth(wide) <= width - 2;
  const columns = isWide ? wide : createColumns(sections, 1, state);
  const height = Math.max(0, ...columns.map((column) => column.length));
  const room = Math.max(0, rows - 1);
  const isTitle = (row: number) => columns.every((column) => column[row]?.kind !== 'key');
  const shownRows = height > room && isTitle(room - 1) ? room - 1 : Math.min(height, room);
  const hiddenCount = columns
    .flatMap((column) => column.slice(Math.max(0, shownRows)))
    .filter(({ kind }) => kind === 'key').length;
  const note = isFiltering ? `/${filter}` : 'any key closes   / filters';
  const suffix = sections.length === 0 ? '   no match' : hiddenCount > 0 ? `   ${hiddenCount} more` : '';
  const lines = Array.from({ length: Math.max(0, shownRows) }, (_, row) => joinColumns(columns, row));
  return [...lines, createStyledLine(colored('dim', `${note}${suffix}`))];
}

function getFilter({ overlay }: ViewState): { readonly filter: string; readonly isFiltering: boolean } {
  return overlay?.kind === 'help' ? overlay : { filter: '', isFiltering: false };
}

type Row = { readonly kind: 'title' | 'key'; readonly spans: readonly StyledSpan[]; readonly width: number };
type Section = { readonly title: string; readonly lines: readonly HelpLine[] };

/** Distributes the sections over columns. */
function createColumns(
  sections: readonly Section[],
  count: number,
  state: 'busy' | 'idle',
): readonly (readonly Row[])[] {
  const sectionsPerColumn = Math.ceil(sections.length / count);
  return Array.from({ length: count }, (_, column) => {
    const columnSections = sections.slice(column * sectionsPerColumn, (column + 1) * sectionsPerColumn);
    const keyWidth = Math.min(
      MAX_KEY_COLUMNS,
      Math.max(0, ...columnSections.flatMap(({ lines }) => lines.map(({ keys }) => getTextWidth(keys)))),
    );
    return columnSections.flatMap((section) => createSectionRows(section, keyWidth, state));
  }).filter((column) => column.length > 0);
}

function createSectionRows({ title, lines }: Section, keyWidth: number, state: 'busy' | 'idle'): readonly Row[] {
  const rows = lines.map(({ keys, effect, when }): Row => {
    const key = padToWidth(keys, keyWidth);
    const isActive = when === 'always' || when === state;
    const span: StyledSpan = isActive ? { text: key, style: { bold: true } } : colored('dim', key);
    return {
      kind: 'key',
      spans: [plain('  '), span, plain(`  ${effect}`)],
      width: 4 + getTextWidth(key) + getTextWidth(effect),
    };
  });
  return [{ kind: 'title', spans: [colored('accent', title)], width: getTextWidth(title) }, ...rows];
}

function joinColumns(columns: readonly (readonly Row[])[], row: number): LogicalLine {
  const spans = columns.flatMap((column, index) => {
    const cell = column[row] ?? { spans: [], width: 0 };
    const isLast = index === columns.length - 1;
    return isLast ? cell.spans : [...cell.spans, plain(' '.repeat(measureColumn(column) - cell.width + GAP))];
  });
  return createStyledLine(...spans);
}

function measureWidth(columns: readonly (readonly Row[])[]): number {
  return columns.reduce((sum, column) => sum + measureColumn(column) + GAP, -GAP);
}

function measureColumn(column: readonly Row[]): number {
  return Math.max(0, ...column.map(({ width }) => width));
}
