import { escapeDisplayName } from '../../../lib/text/sanitize.ts';
import { getTextWidth, truncateEnd } from '../../../lib/text/text-width.ts';
import {
  filterPickerChoices,
  filterSessions,
  type Overlay,
  type OverlayChoice,
  type ResumableSessionList,
} from '../../app-state/overlay.ts';
import { FRAME_COLUMNS } from '../../text/Frame.tsx';
import { colored, createStyledLine, type LogicalLine, plain, type StyledSpan, truncateLine } from '../../text/line.ts';
import type { RenderContext } from '../../text/render-context.ts';
import { renderDiff } from '../diff/diff-lines.ts';
import { renderCodeBlock } from '../markdown/render-markdown-block.ts';

/** A row of a menu: a choice, or the heading of the group that begins with the next choice. */
export type MenuRow =
  | { readonly kind: 'choice'; readonly choice: OverlayChoice }
  | { readonly kind: 'heading'; readonly text: string };

/** The layout of a menu, fitted to the available rows. */
export type MenuLayout = {
  /** Title and query of a list; lists with a head are framed, the completions of the draft are not. */
  readonly head: LogicalLine | undefined;
  /** Visible choices around the selected one, and the headings of their groups. */
  readonly rows: readonly MenuRow[];
  readonly selected: OverlayChoice | undefined;
  readonly query: string;
  /** Width of the labels, and whether argument hints follow them. */
  readonly labelWidth: number;
  readonly hints: 'shown' | 'none';
  /** Lines below the choices: theme preview and keys. */
  readonly footer: readonly LogicalLine[];
};

type ListOverlay = Extract<Overlay, { kind: 'menu' | 'picker' | 'sessions' }>;

const MAX_HINT_COLUMNS = 24;
/** Below this width the short list of session keys is shown. */
const NARROW_COLUMNS = 78;
const SCOPE_LABELS = { folder: 'this folder', branch: 'this branch', all: 'everywhere' } as const;
const SESSION_KEYS = ['enter opens', 'right previews', 'ctrl+r renames', 'ctrl+f forks', 'ctrl+d deletes', 'esc'];
const SHORT_SESSION_KEYS = ['enter', 'right', 'ctrl+r/f/d', 'esc'];

/** Lays out a menu in a maximum number of rows. */
export function layoutMenu(
  overlay: ListOverlay,
  branch: string | undefined,
  screenContext: RenderContext,
  rows: number,
): MenuLayout {
  const context = { ...screenContext, width: screenContext.width - (overlay.kind === 'menu' ? 0 : FRAME_COLUMNS) };
  switch (overlay.kind) {
    case 'menu':
      return layoutCompletions(overlay, context, rows);
    case 'picker': {
      const choices = filterPickerChoices(overlay);
      const count = choices.length === overlay.choices.length ? '' : ` of ${overlay.choices.length}`;
      const head = createHead(overlay.title, overlay.query, `${choices.length}${count}`);
      const preview = overlay.purpose === 'theme' ? renderThemePreview(context, rows - 1) : [];
      const keys = rows > 2 ? [createFoot(['enter selects', 'esc'], context)] : [];
      return fitChoices({ head, choices, footer: [...preview, ...keys] }, overlay, context, rows);
    }
    default:
      return layoutSessions(overlay, branch, context, rows);
  }
}

/** Returns the column behind the query of a list, where the caret stands. */
export function getQueryCaret(title: string, query: string): number {
  return FRAME_COLUMNS + getTextWidth(`${escapeDisplayName(title)}${QUERY_MARK}${query}`);
}

const QUERY_MARK = '  > ';
/** The title of the list of sessions. */
export const SESSION_LIST_TITLE = 'Resume';

/** Returns the rows of a menu, with its head and footer. */
export function getMenuHeight({ head, rows, footer }: MenuLayout): number {
  return (head === undefined ? 0 : 1) + rows.length + footer.length;
}

/** Lays out the completion menu, with its keys. */
function layoutCompletions(
  { choices, selected, target }: Extract<ListOverlay, { kind: 'menu' }>,
  context: RenderContext,
  rows: number,
) {
  const keys = target.kind === 'command' ? ['tab completes', 'enter runs', 'esc'] : ['tab or enter completes', 'esc'];
  const hasFoot = rows > 2 && choices.length > 0;
  const total = choices.length > rows - 1 ? [`${choices.length} total`] : [];
  // Without room for all argument hints, only that of the selected choice is shown.
  const choice = choices[selected] ?? (choices.length === 1 ? choices[0] : undefined);
  const usage =
    choice?.hint === undefined || getHintMode(choices, context) === 'shown' ? [] : [`${choice.label} ${choice.hint}`];
  const footer = hasFoot ? [createFoot([...keys, ...total, ...usage.map(escapeDisplayName)], context)] : [];
  return fitChoices({ head: undefined, choices, footer }, { selected, query: target.query }, context, rows);
}

/** Returns whether argument hints fit after all labels without truncating a description. */
function getHintMode(choices: readonly OverlayChoice[], { width }: RenderContext): MenuLayout['hints'] {
  const measureWidest = (getText: (choice: OverlayChoice) => string) =>
    Math.max(0, ...choices.map((choice) => getTextWidth(escapeDisplayName(getText(choice)))));
  const labelWidth = measureWidest((choice) => choice.label + formatArgumentHint(choice));
  return labelWidth + measureWidest(({ detail }) => detail) + 6 <= width && labelWidth <= width / 2 ? 'shown' : 'none';
}

/** Lays out the list of sessions. */
function layoutSessions(
  list: ResumableSessionList,
  branch: string | undefined,
  context: RenderContext,
  rows: number,
): MenuLayout {
  const scopes = branch === undefined ? 'folder or everywhere' : 'folder, everywhere, branch';
  const choices = filterSessions(list);
  const count = `${choices.length} of ${list.choices.length}`;
  const where = `${SCOPE_LABELS[list.scope]}${context.glyphs.separator}${count}   tab: ${scopes}`;
  const head = createHead(SESSION_LIST_TITLE, list.query, where);
  const emptyLine = createStyledLine(
    colored('dim', list.query === '' ? '    No other session yet.' : '    No matching session.'),
  );
  const footer = [
    ...(choices.length === 0 ? [emptyLine] : []),
    ...(rows > 2 ? [createSessionFoot(list, context)] : []),
  ];
  return fitChoices({ head, choices, footer }, list, context, rows);
}

function createSessionFoot({ mode }: ResumableSessionList, context: RenderContext): LogicalLine {
  switch (mode.type) {
    case 'renaming':
      return createStyledLine(plain(`  new title: ${mode.title}_`));
    case 'removing':
      return createStyledLine(colored('warn', '  ctrl+d again deletes it permanently; any other key cancels'));
    default:
      return createFoot(context.width < NARROW_COLUMNS ? SHORT_SESSION_KEYS : SESSION_KEYS, context);
  }
}

function createHead(title: string, query: string, note: string): LogicalLine {
  const name: StyledSpan = { text: title, style: { bold: true } };
  return createStyledLine(name, plain(`${QUERY_MARK}${query}`), colored('dim', `   ${note}`));
}

function createFoot(keys: readonly string[], { glyphs }: RenderContext): LogicalLine {
  return createStyledLine(colored('dim', `  ${keys.join(glyphs.separator)}`));
}

/** Fits the choices into the rows between head and foot, with the selected one visible. */
function fitChoices(
  { head, choices, footer }: Pick<MenuLayout, 'head' | 'footer'> & { readonly choices: readonly OverlayChoice[] },
  { selected, query }: { readonly selected: number; readonly query: string },
  context: RenderContext,
  maxRows: number,
): MenuLayout {
  const room = Math.max(1, maxRows - footer.length - (head === undefined ? 0 : 1));
  const allRows = room < MIN_GROUPED_ROWS ? choices.map(createChoiceRow) : addHeadings(choices);
  const selectedRow = allRows.findIndex((row) => row.kind === 'choice' && row.choice === choices[selected]);
  const from = Math.max(0, Math.min(selectedRow - room + 1, allRows.length - room));
  const visible = allRows.slice(from, from + room);
  const hints = getHintMode(choices, context);
  const widest = Math.max(
    0,
    ...visible.flatMap((row) =>
      row.kind === 'heading'
        ? []
        : [
            getTextWidth(
              escapeDisplayName(row.choice.label) + (hints === 'shown' ? formatArgumentHint(row.choice) : ''),
            ),
          ],
    ),
  );
  const labelWidth = Math.min(Math.max(Math.floor(context.width / 2), 10), widest);
  const truncate = (line: LogicalLine) => truncateLine(line, context.width);
  return {
    head: head === undefined ? undefined : truncate(head),
    rows: visible,
    selected: choices[selected],
    query,
    labelWidth,
    hints,
    footer: footer.map(truncate),
  };
}

/** With fewer rows the headings would leave too little room for choices. */
const MIN_GROUPED_ROWS = 5;

function createChoiceRow(choice: OverlayChoice): MenuRow {
  return { kind: 'choice', choice };
}

/** Adds a heading above the first choice of each group. */
function addHeadings(choices: readonly OverlayChoice[]): readonly MenuRow[] {
  return choices.flatMap((choice, index): readonly MenuRow[] => {
    const { group } = choice;
    const isFirst = group !== undefined && group !== choices[index - 1]?.group;
    return [...(isFirst ? [{ kind: 'heading', text: group } as const] : []), createChoiceRow(choice)];
  });
}

/** Returns the argument hint of a choice, truncated and preceded by a space. */
export function formatArgumentHint({ hint }: OverlayChoice): string {
  return hint === undefined ? '' : ` ${truncateEnd(escapeDisplayName(hint), MAX_HINT_COLUMNS)}`;
}

const DIFF = {
  oldStart: 7,
  oldLines: 1,
  newStart: 7,
  newLines: 1,
  lines: [
    { kind: 'del', text: 'const limit = 10;' },
    { kind: 'add', text: 'const limit = 100;' },
  ],
} as const;
const CODE = "const words = ['ten', limit]; // a list";
/** Rows needed for the full and for the small preview, with some choices above. */
const MIN_ROWS = { full: 14, small: 7 };

/** Renders a preview of the colors of a theme, as large as the choices leave room for. */
function renderThemePreview(context: RenderContext, rows: number): readonly LogicalLine[] {
  if (rows < MIN_ROWS.small) return [];
  return rows < MIN_ROWS.full ? renderSmallPreview(context) : renderFullPreview(context);
}

function renderFullPreview(context: RenderContext): readonly LogicalLine[] {
  const { glyphs, highlight } = context;
  return [
    createStyledLine(
      { text: glyphs.bar, style: { token: 'brand', background: 'band' } },
      { text: ' your message ', style: { token: 'user', background: 'band' } },
      plain('   the response, with '),
      colored('code', 'code'),
    ),
    ...renderCode(CODE, highlight),
    createStyledLine(
      colored('ok', glyphs.done),
      plain(' done   '),
      colored('error', `${glyphs.failed} failed: no connection`),
    ),
    ...renderDiff({ hunks: [DIFF], path: 'cart.ts' }, context),
    createStyledLine(...renderDialog('Change src/cart.ts?', context), colored('dim', '   esc no, and stop')),
  ];
}

/** Renders an error, a dialog, a line of code and a diff. */
function renderSmallPreview(context: RenderContext): readonly LogicalLine[] {
  return [
    createStyledLine(
      colored('error', `${context.glyphs.failed} failed`),
      plain('   '),
      ...renderDialog('Change it?', context),
    ),
    ...renderCode(CODE, context.highlight),
    createStyledLine({ text: '- limit = 10;', style: { token: 'del', background: 'delBg' } }, plain('  '), {
      text: '+ limit = 100;',
      style: { token: 'add', background: 'addBg' },
    }),
  ];
}

/** Renders code without the line that names the language, to save a row. */
function renderCode(source: string, highlight: RenderContext['highlight']): readonly LogicalLine[] {
  return renderCodeBlock({ kind: 'code', language: 'ts', source, part: 'last', gap: 'none' }, '', highlight).lines;
}

function renderDialog(question: string, { glyphs }: RenderContext): readonly StyledSpan[] {
  return [
    colored('warn', `${glyphs.bar} `),
    { text: question, style: { bold: true } },
    { text: `  ${glyphs.cursor} 1  y  Yes`, style: { token: 'brand', bold: true } },
  ];
}
