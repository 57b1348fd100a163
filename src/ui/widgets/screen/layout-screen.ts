import type { QueuedMessage } from '../../../contracts/event.ts';
import type { ViewState } from '../../app-state/view-state.ts';
import { truncateLine } from '../../text/line.ts';
import type { RenderContext } from '../../text/render-context.ts';
import type { ScreenRow } from '../../text/render-lines.ts';
import { layoutComposer } from '../composer/layout-composer.ts';
import type { HistoryRenderState } from '../history/history-lines.ts';
import { renderKeyHelp } from '../menu/key-help.ts';
import { getMenuHeight, getQueryCaret, layoutMenu, type MenuLayout, SESSION_LIST_TITLE } from '../menu/layout-menu.ts';
import type { PanelState } from '../panel/panel-state.ts';
import { getDialogHeight } from '../permission-dialog/Dialog.tsx';
import type { DialogLayout } from '../permission-dialog/fit-dialog.ts';
import { layoutDialog } from '../permission-dialog/layout-dialog.ts';
import { getStatusLineHeight } from '../status-line/StatusLine.tsx';
import { createLiveBlocks, fitLiveBlocks, getTotalBlockHeight, type LiveBlock } from './live-blocks.ts';

/** The layout of the redrawn part of the screen. It is always lower than the terminal. */
export type ScreenLayout = {
  /** Blocks of the live zone. */
  readonly liveBlocks: readonly LiveBlock[];
  readonly dialog: DialogLayout | undefined;
  readonly queue: readonly QueuedMessage[];
  readonly composer: readonly ScreenRow[];
  /** Overlay below the composer. */
  readonly overlay: OverlayLayout;
  readonly status: 'shown' | 'off';
  /** Empty rows before the dialog and before the composer. */
  readonly gaps: { readonly dialog: number; readonly composer: number };
  /** Position of the cursor, counted from the first row. */
  readonly caret: { readonly x: number; readonly y: number };
};

/** The overlay below the composer, with its height. */
export type OverlayLayout =
  | { readonly kind: 'nothing'; readonly rows: 0 }
  | { readonly kind: 'menu'; readonly layout: MenuLayout; readonly rows: number }
  | { readonly kind: 'help'; readonly lines: readonly ScreenRow[]; readonly rows: number }
  | { readonly kind: 'panel'; readonly panel: PanelState; readonly rows: number };

const MENU_ROWS = 8;
const PICKER_ROWS = 16;
const PANEL_ROWS = 26;
const LOW_TERMINAL_ROWS = 10;
const MIN_SIZE = { columns: 20, rows: 5 };

/** Lays out the screen: composer, overlay and dialog get their rows first, the live zone gets the rest. */
export function layoutScreen(view: ViewState, context: RenderContext, renderState: HistoryRenderState): ScreenLayout {
  const { width, rows } = context;
  const room = Math.max(1, rows - 1);
  if (width < MIN_SIZE.columns || rows < MIN_SIZE.rows) return layoutTiny(view, context);
  const isLow = rows < LOW_TERMINAL_ROWS;
  const composer = layoutComposer(view, context, Math.max(1, Math.min(Math.floor(rows / 2), room - 3)));
  let freeRows = room - composer.rows.length - getStatusLineHeight(view, context);
  const overlay = layoutOverlay(view, context, Math.min(freeRows, getMaxOverlayRows(view, context, freeRows)));
  freeRows -= overlay.rows;
  const layout = layoutDialog(view, context, freeRows);
  const dialog = layout === undefined || getDialogHeight(layout) <= freeRows ? layout : undefined;
  const dialogRows = dialog === undefined ? 0 : getDialogHeight(dialog);
  freeRows -= dialogRows;
  const composerGap = Math.min(isLow ? 0 : 1, Math.max(0, freeRows));
  freeRows -= composerGap;
  // A pinned note is reported by the command that added it.
  const waiting = view.queue.filter(({ message }) => message.pinned !== true);
  const queue = freeRows <= 0 ? [] : waiting.slice(-freeRows);
  freeRows -= queue.length;
  const dialogGap = dialog === undefined || isLow ? 0 : Math.min(1, freeRows);
  const liveRoom = isLow && dialog === undefined ? Math.min(1, freeRows) : freeRows - dialogGap;
  const liveBlocks = fitLiveBlocks(createLiveBlocks(view, context, renderState), liveRoom);
  const height = getTotalBlockHeight(liveBlocks) + dialogGap + dialogRows + composerGap + queue.length;
  return {
    liveBlocks,
    dialog,
    queue,
    composer: composer.rows,
    overlay,
    status: 'shown',
    gaps: { dialog: dialogGap, composer: composerGap },
    caret: locateListCaret(view, height + composer.rows.length, overlay) ?? {
      x: composer.caret.x,
      y: height + composer.caret.y,
    },
  };
}

/** Returns the caret behind the query of an open list; letters go there. */
function locateListCaret(
  { overlay }: ViewState,
  y: number,
  { kind }: OverlayLayout,
): ScreenLayout['caret'] | undefined {
  if (kind === 'nothing') return undefined;
  switch (overlay?.kind) {
    case 'panel':
      return { x: getQueryCaret(overlay.panel.title, overlay.query), y };
    case 'picker':
      return { x: getQueryCaret(overlay.title, overlay.query), y };
    case 'sessions':
      return { x: getQueryCaret(SESSION_LIST_TITLE, overlay.query), y };
    default:
      return undefined;
  }
}

/** Lays out a tiny terminal, which shows the draft only. */
function layoutTiny(view: ViewState, context: RenderContext): ScreenLayout {
  const { rows, caret } = layoutComposer(view, context, 1);
  return {
    liveBlocks: [],
    dialog: undefined,
    queue: [],
    composer: rows.slice(0, 1),
    overlay: { kind: 'nothing', rows: 0 },
    status: 'off',
    gaps: { dialog: 0, composer: 0 },
    caret: { x: caret.x, y: 0 },
  };
}

function layoutOverlay(view: ViewState, context: RenderContext, rows: number): OverlayLayout {
  const { overlay, facts } = view;
  const nothing = { kind: 'nothing', rows: 0 } as const;
  if (rows <= 0) return nothing;
  switch (overlay?.kind) {
    case 'menu':
    case 'picker':
    case 'sessions': {
      const layout = layoutMenu(overlay, facts.branch, context, rows);
      return { kind: 'menu', layout, rows: getMenuHeight(layout) };
    }
    case 'help': {
      const lines = renderKeyHelp(view, context, rows).map((line) => truncateLine(line, context.width).spans);
      return { kind: 'help', lines, rows: lines.length };
    }
    case 'panel':
      return { kind: 'panel', panel: overlay, rows };
    default:
      return nothing;
  }
}

/** Returns the maximum height of the overlay below the composer. */
function getMaxOverlayRows({ overlay }: ViewState, { rows }: RenderContext, freeRows: number): number {
  if (rows < LOW_TERMINAL_ROWS) return 3;
  if (overlay?.kind === 'help') return freeRows;
  if (overlay?.kind === 'menu') return Math.min(MENU_ROWS, Math.floor(rows / 3));
  return Math.min(overlay?.kind === 'panel' ? PANEL_ROWS : PICKER_ROWS, Math.floor(rows / 1.5));
}
