import { getTextWidth } from '../../../lib/text/text-width.ts';
import { colored, createProseLine, createStyledLine, type LogicalLine, plain } from '../../text/line.ts';
import { getRowText, type ScreenRow, wrapLines } from '../../text/render-lines.ts';
import type { DialogLayout } from '../permission-dialog/fit-dialog.ts';
import type { FirstRunScreenState } from './first-run-state.ts';
import { type FirstRunOption, formatFirstRun } from './first-run-text.ts';

/** The layout of the first-run screen: the program and the folder, then the open question. */
export type FirstRunLayout = {
  readonly head: readonly ScreenRow[];
  readonly dialog: DialogLayout;
  /** Visible range of the rows of the body, and their total number. */
  readonly window: { readonly top: number; readonly end: number; readonly total: number };
  /** Position of the input line or of the last row, from the first row of the screen. */
  readonly caret: { readonly x: number; readonly y: number };
};

/** Columns of the bar, the indentation of the body and the free right edge. */
const MARGIN = 6;
const BODY_INDENT = 4;
/** Empty rows between title, body, options and keys. */
const GAP_ROWS = 3;

/** Lays out the screen. Gaps, head and keys give way first; then the body scrolls; options are cut last. */
export function layoutFirstRun(state: FirstRunScreenState): FirstRunLayout {
  const text = formatFirstRun(state);
  const { rows: screenRows } = state.size;
  const available = Math.max(1, screenRows - 1);
  const title: ScreenRow = [{ text: text.title, style: { bold: true } }];
  const titles = toRows(state, [createStyledLine(...title)]);
  const body = [...titles.slice(1), ...toRows(state, text.body)];
  const note = state.note === '' ? [] : toRows(state, [createProseLine(colored('warn', state.note))]);
  const options = toRows(
    state,
    text.options.map((option, at) => createOptionLine(option, at, state.selected)),
  );
  const keys = [...note, ...toRows(state, [createProseLine(colored('dim', text.keys))])];
  const fullHead = formatHead(state);
  const needed = 1 + body.length + options.length + keys.length;
  const isUnlimited = available === Number.POSITIVE_INFINITY;
  const gaps = !isUnlimited && needed + GAP_ROWS + fullHead.length <= available ? 'shown' : 'none';
  const head = needed + fullHead.length <= available ? fullHead : [];
  const shownKeys = needed + head.length <= available ? keys : note.slice(0, Math.max(0, available - 1));
  const shownOptions = takeLast(options, available - shownKeys.length - 1);
  const room = available - head.length - 1 - shownOptions.length - shownKeys.length;
  const scrolled = scrollBody(state, body, room);
  const dialog: DialogLayout = {
    title: titles[0] ?? [],
    body: scrolled.rows,
    options: shownOptions,
    keys: shownKeys,
    gaps,
    inSight: scrolled.window.end === body.length && shownOptions.length === options.length ? 'all' : 'part',
  };
  return { head, dialog, window: scrolled.window, caret: locateCaret(state, head, dialog) };
}

/** Lists all rows of a layout, from the top. */
export function listFirstRunRows({
  head,
  dialog: { title, body, options, keys },
}: FirstRunLayout): readonly ScreenRow[] {
  return [...head, title, ...body, ...options, ...keys];
}

/** Reports whether everything that an agreement refers to was visible. */
export function isQuestionFullyShown(state: FirstRunScreenState): boolean {
  const { dialog, window } = layoutFirstRun(state);
  const lastOptions = layoutFirstRun({ ...state, top: Number.MAX_SAFE_INTEGER }).dialog;
  return markVisibleRowsSeen(state).seen >= window.total && (dialog.inSight === 'all' || lastOptions.inSight === 'all');
}

/** Marks the visible rows of the body as seen. */
export function markVisibleRowsSeen(state: FirstRunScreenState): FirstRunScreenState {
  const { window } = layoutFirstRun(state);
  const seen = window.top <= state.seen ? Math.max(state.seen, window.end) : state.seen;
  return { ...state, top: window.top, seen };
}

/** Scrolls the body by a page. */
export function scrollFirstRunByPage(state: FirstRunScreenState, direction: 1 | -1): FirstRunScreenState {
  const { window } = layoutFirstRun(state);
  const step = Math.max(1, window.end - window.top - 1);
  return { ...state, top: window.top + direction * step, note: '' };
}

function formatHead(state: FirstRunScreenState): readonly ScreenRow[] {
  const { version, folder } = state.question;
  const rows = toRows(state, [
    createStyledLine({ text: `ouro ${version}`, style: { bold: true } }),
    createStyledLine(colored('dim', folder)),
  ]);
  return state.size.rows === Number.POSITIVE_INFINITY ? rows : [...rows, []];
}

function createOptionLine({ key, label }: FirstRunOption, at: number, selected: number | undefined): LogicalLine {
  const isSelected = selected === at;
  const mark = `${isSelected ? '❯' : ' '} ${at + 1}  ${key === '' ? '' : `${key}  `}`;
  return {
    ...createProseLine(isSelected ? { text: label, style: { token: 'brand', bold: true } } : plain(label)),
    indent: mark.length,
    label: { text: mark, style: isSelected ? { token: 'brand', bold: true } : { token: 'accent' } },
  };
}

function scrollBody(
  { top: wantedTop, size }: FirstRunScreenState,
  body: readonly ScreenRow[],
  room: number,
): { readonly rows: readonly ScreenRow[]; readonly window: FirstRunLayout['window'] } {
  const total = body.length;
  if (total <= room) return { rows: body, window: { top: 0, end: total, total } };
  const formatPosition = (window: FirstRunLayout['window']) =>
    wrapLines([createProseLine(colored('warn', describePosition(window)))], Math.max(1, size.columns - MARGIN));
  const shown = Math.max(0, room - formatPosition({ top: total - 2, end: total - 1, total }).length);
  const top = Math.max(0, Math.min(wantedTop, total - shown));
  const window = { top, end: top + shown, total };
  return { rows: [...body.slice(top, top + shown), ...formatPosition(window)].slice(0, Math.max(0, room)), window };
}

function describePosition({ top, end, total }: FirstRunLayout['window']): string {
  if (top === end) return `${total} rows do not fit: enlarge the window to read them`;
  const range = `rows ${top + 1} to ${end} of ${total}`;
  return end < total ? `${range}: space scrolls; read to the end before you agree` : `${range}: page up scrolls back`;
}

/** Returns the position behind the input, or behind the last row. */
function locateCaret(
  { page }: FirstRunScreenState,
  head: readonly ScreenRow[],
  dialog: DialogLayout,
): FirstRunLayout['caret'] {
  const { body, options, keys, gaps } = dialog;
  const gap = gaps === 'shown' ? 1 : 0;
  const bodyEnd = head.length + (body.length === 0 ? 0 : gap + body.length);
  if (page.kind === 'key' || page.kind === 'address') {
    const input = body.at(-1) ?? [];
    const typed = page.kind === 'key' ? input.slice(0, 2) : input;
    return { x: BODY_INDENT + getTextWidth(getRowText(typed)), y: bodyEnd };
  }
  const optionsEnd = bodyEnd + (options.length === 0 ? 0 : gap + options.length);
  const y = optionsEnd + (keys.length === 0 ? 0 : gap + keys.length);
  return { x: BODY_INDENT + getTextWidth(getRowText(keys.at(-1) ?? options.at(-1) ?? [])), y };
}

function takeLast(rows: readonly ScreenRow[], room: number): readonly ScreenRow[] {
  return rows.slice(Math.max(0, rows.length - Math.max(0, room)));
}

/** Wraps lines into rows, as text that the user agrees to must not be cut. */
function toRows({ size: { columns } }: FirstRunScreenState, lines: readonly LogicalLine[]): readonly ScreenRow[] {
  if (columns === Number.POSITIVE_INFINITY)
    return lines.map(({ label, spans }) =>
      (label === undefined ? spans : [label, ...spans]).map((span) => ({
        ...span,
        text: span.text.replaceAll('\u00a0', ' '),
      })),
    );
  return wrapLines(lines, Math.max(1, columns - MARGIN));
}
