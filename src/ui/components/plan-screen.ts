import type { QueuedMessage } from '../../contracts/event.ts';
import type { HistoryCarry } from '../history/history-lines.ts';
import { helpLines } from '../menus/help-lines.ts';
import { type MenuPlan, menuHeight, planMenu } from '../menus/plan-menu.ts';
import type { QuestionPlan } from '../question/fit-question.ts';
import { planQuestion } from '../question/plan-question.ts';
import { questionHeight } from '../question/Question.tsx';
import { statusHeight } from '../status/StatusLine.tsx';
import type { Drawing } from '../text/drawing.ts';
import { fitLine } from '../text/line.ts';
import type { Row } from '../text/render-lines.ts';
import type { PanelView } from '../view/panel-view.ts';
import type { ViewState } from '../view/view-state.ts';
import { fitRows, heightOf } from './fit-rows.ts';
import { type LiveBlock, liveBlocks } from './live-blocks.ts';
import { planComposer } from './plan-composer.ts';

/** What of everything that is redrawn has room, and in how many rows: always fewer than the terminal has. */
export type ScreenPlan = {
  /** The end of the answer, calls, tasks: a block each. */
  readonly live: readonly LiveBlock[];
  readonly question: QuestionPlan | undefined;
  readonly queue: readonly QueuedMessage[];
  readonly composer: readonly Row[];
  /** What is open below the draft. */
  readonly below: Below;
  readonly status: 'shown' | 'off';
  /** Empty rows before the question and before the draft. */
  readonly gaps: { readonly question: number; readonly composer: number };
  /** Where the cursor belongs, counted from the first row of all. */
  readonly caret: { readonly x: number; readonly y: number };
};

/** A list, a page of keys, something to look through and change; with its height. */
export type Below =
  | { readonly kind: 'nothing'; readonly rows: 0 }
  | { readonly kind: 'menu'; readonly plan: MenuPlan; readonly rows: number }
  | { readonly kind: 'help'; readonly lines: readonly Row[]; readonly rows: number }
  | { readonly kind: 'panel'; readonly panel: PanelView; readonly rows: number };

const MENU_ROWS = 8;
const PICKER_ROWS = 16;
const PANEL_ROWS = 26;
const SMALL_ROWS = 10;
const TINY = { columns: 20, rows: 5 };

/** Lays the screen out: the draft first, then what asks; what is left belongs to what runs. */
export function planScreen(view: ViewState, drawing: Drawing, carry: HistoryCarry): ScreenPlan {
  const { width, rows } = drawing;
  const room = Math.max(1, rows - 1);
  if (width < TINY.columns || rows < TINY.rows) return tinyPlan(view, drawing);
  const isSmall = rows < SMALL_ROWS;
  const composer = planComposer(view, drawing, Math.max(1, Math.min(Math.floor(rows / 2), room - 3)));
  let free = room - composer.rows.length - statusHeight(view, drawing);
  const below = planBelow(view, drawing, Math.min(free, menuRoom(view, drawing, free)));
  free -= below.rows;
  const wanted = planQuestion(view, drawing, free);
  const question = wanted === undefined || questionHeight(wanted) <= free ? wanted : undefined;
  const asking = question === undefined ? 0 : questionHeight(question);
  free -= asking;
  const gap = Math.min(isSmall ? 0 : 1, Math.max(0, free));
  free -= gap;
  const queue = free <= 0 ? [] : view.queue.slice(-free);
  free -= queue.length;
  const above = question === undefined || isSmall ? 0 : Math.min(1, free);
  const liveRoom = isSmall && question === undefined ? Math.min(1, free) : free - above;
  const live = fitRows(liveBlocks(view, drawing, carry), liveRoom);
  const height = heightOf(live) + above + asking + gap + queue.length;
  return {
    live,
    question,
    queue,
    composer: composer.rows,
    below,
    status: 'shown',
    gaps: { question: above, composer: gap },
    caret: { x: composer.caret.x, y: height + composer.caret.y },
  };
}

/** On a terminal that is hardly one there is only the draft. */
function tinyPlan(view: ViewState, drawing: Drawing): ScreenPlan {
  const { rows, caret } = planComposer(view, drawing, 1);
  return {
    live: [],
    question: undefined,
    queue: [],
    composer: rows.slice(0, 1),
    below: { kind: 'nothing', rows: 0 },
    status: 'off',
    gaps: { question: 0, composer: 0 },
    caret: { x: caret.x, y: 0 },
  };
}

function planBelow(view: ViewState, drawing: Drawing, rows: number): Below {
  const { overlay, facts } = view;
  const nothing = { kind: 'nothing', rows: 0 } as const;
  if (rows <= 0) return nothing;
  switch (overlay?.kind) {
    case 'menu':
    case 'picker':
    case 'sessions': {
      const plan = planMenu(overlay, facts.branch, drawing, rows);
      return { kind: 'menu', plan, rows: menuHeight(plan) };
    }
    case 'help': {
      const lines = helpLines(view, drawing, rows).map((line) => fitLine(line, drawing.width).spans);
      return { kind: 'help', lines, rows: lines.length };
    }
    case 'panel':
      return { kind: 'panel', panel: overlay, rows };
    default:
      return nothing;
  }
}

/** How high a menu, a list or a page below the draft may become. */
function menuRoom({ overlay }: ViewState, { rows }: Drawing, free: number): number {
  if (rows < SMALL_ROWS) return 3;
  if (overlay?.kind === 'help') return free;
  if (overlay?.kind === 'menu') return Math.min(MENU_ROWS, Math.floor(rows / 3));
  return Math.min(overlay?.kind === 'panel' ? PANEL_ROWS : PICKER_ROWS, Math.floor(rows / 1.5));
}
