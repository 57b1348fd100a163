import type { HistoryCarry } from '../history/history-lines.ts';
import type { PanelProps } from '../panels/Panel.tsx';
import type { Drawing } from '../text/drawing.ts';
import { fitLine, type LogicalLine, terminalLine } from '../text/line.ts';
import { renderLines } from '../text/render-lines.ts';
import type { Paint } from '../theme/paint.ts';
import type { ViewState } from '../view/view-state.ts';
import { composerRows } from './composer-rows.ts';
import { fitRows, type LiveBlock } from './fit-rows.ts';
import { liveSources, queueLines } from './live-sources.ts';
import { overlayLines } from './overlay-lines.ts';
import { planQuestion, type QuestionPlan } from './plan-question.ts';
import { questionHeight } from './Question.tsx';
import { scriptLines, statusSpans } from './status-spans.ts';

/** Everything that is redrawn, fitted to the terminal: always fewer rows than it has. */
export type ScreenPlan = {
  /** The end of the answer, calls, tasks: a block each. */
  readonly live: readonly LiveBlock[];
  readonly question: QuestionPlan | undefined;
  /** The bar before what asks. */
  readonly bar: string;
  readonly queue: readonly string[];
  readonly composer: readonly string[];
  readonly below: readonly string[];
  /** Something to look through and change, below the draft. */
  readonly panel: PanelProps | undefined;
  readonly status: readonly string[];
  /** Empty rows before the question and before the draft. */
  readonly gaps: { readonly question: number; readonly composer: number };
  /** Where the cursor belongs, counted from the first row of all. */
  readonly caret: { readonly x: number; readonly y: number };
};

const MENU_ROWS = 8;
const PICKER_ROWS = 16;
const PANEL_ROWS = 26;
const SMALL_ROWS = 10;
const TINY = { columns: 20, rows: 5 };
const NO_GAPS = { question: 0, composer: 0 };

/** Lays the screen out: the draft first, then what asks; what is left belongs to what runs. */
export function planScreen(view: ViewState, drawing: Drawing, carry: HistoryCarry, paint: Paint): ScreenPlan {
  const { width, rows, glyphs } = drawing;
  const room = Math.max(1, rows - 1);
  const rowsOf = (lines: readonly LogicalLine[]) =>
    renderLines(lines, { width, paint, zone: 'live', links: 'printed' });
  const bar = paint(glyphs.bar, { token: 'warn' });
  const empty = { live: [], question: undefined, bar, queue: [], below: [], gaps: NO_GAPS };
  if (width < TINY.columns || rows < TINY.rows) {
    const { rows: draft, caret } = composerRows(view, drawing, paint, 1);
    return { ...empty, composer: draft.slice(0, 1), panel: undefined, status: [], caret: { x: caret.x, y: 0 } };
  }
  const isSmall = rows < SMALL_ROWS;
  const composer = composerRows(view, drawing, paint, Math.max(1, Math.min(Math.floor(rows / 2), room - 3)));
  const status = rowsOf(
    [terminalLine(...statusSpans(view, drawing)), ...scriptLines(view, drawing)].map((line) => fitLine(line, width)),
  );
  let free = room - composer.rows.length - status.length;
  const below = rowsOf(
    overlayLines(view, drawing, Math.min(free, menuRoom(view, drawing, free))).map((line) => fitLine(line, width)),
  ).slice(0, free);
  const panel =
    view.overlay?.kind === 'panel'
      ? { view: view.overlay, drawing, paint, rows: Math.min(free, menuRoom(view, drawing, free)) }
      : undefined;
  free -= below.length + (panel?.rows ?? 0);
  const wanted = planQuestion(view, drawing, paint, free);
  const question = wanted === undefined || questionHeight(wanted) <= free ? wanted : undefined;
  free -= question === undefined ? 0 : questionHeight(question);
  const gap = Math.min(isSmall ? 0 : 1, Math.max(0, free));
  free -= gap;
  const queue = rowsOf(queueLines(view, drawing).map((line) => fitLine(line, width))).slice(-Math.max(0, free));
  const queueRows = free === 0 ? [] : queue;
  free -= queueRows.length;
  const above = question === undefined || isSmall ? 0 : Math.min(1, free);
  const liveRoom = isSmall && question === undefined ? Math.min(1, free) : free - above;
  const blocks = liveSources(view, drawing, carry).map(({ lines, ...source }) => ({
    ...source,
    rows: rowsOf(source.kind === 'text' ? lines : lines.map((line) => fitLine(line, width))),
  }));
  const live = fitRows(blocks, liveRoom);
  const height =
    live.reduce((sum, block) => sum + block.rows.length, 0) +
    above +
    (question === undefined ? 0 : questionHeight(question)) +
    gap +
    queueRows.length;
  return {
    live,
    question,
    bar,
    queue: queueRows,
    composer: composer.rows,
    below,
    panel: panel !== undefined && panel.rows > 0 ? panel : undefined,
    status,
    gaps: { question: above, composer: gap },
    caret: { x: composer.caret.x, y: height + composer.caret.y },
  };
}

/** How high a menu, a list or a page below the draft may become. */
function menuRoom({ overlay }: ViewState, { rows }: Drawing, free: number): number {
  if (rows < SMALL_ROWS) return 3;
  if (overlay?.kind === 'help') return free;
  if (overlay?.kind === 'menu') return Math.min(MENU_ROWS, Math.floor(rows / 3));
  return Math.min(overlay?.kind === 'panel' ? PANEL_ROWS : PICKER_ROWS, Math.floor(rows / 1.5));
}
