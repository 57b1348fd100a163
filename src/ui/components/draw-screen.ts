import { formatCount } from '../../lib/text/format.ts';
import { sliceWidth, textWidth } from '../../lib/text/text-width.ts';
import type { HistoryCarry } from '../history/history-lines.ts';
import { panelPicture } from '../panels/panel-picture.ts';
import type { Drawing } from '../text/drawing.ts';
import { type LogicalLine, terminalLine, toned } from '../text/line.ts';
import { renderLines } from '../text/render-lines.ts';
import type { Paint } from '../theme/paint.ts';
import { isBusy, type ViewState } from '../view/view-state.ts';
import { composerRows } from './composer-rows.ts';
import { fitRows } from './fit-rows.ts';
import { liveSources } from './live-sources.ts';
import { overlayLines } from './overlay-lines.ts';
import { statusLines } from './status-line.ts';

/** Everything that is redrawn, as painted rows; always fewer than the terminal has. */
export type ScreenPlan = {
  readonly live: readonly string[];
  readonly composer: readonly string[];
  readonly below: readonly string[];
  /** Where the cursor belongs, counted from the first row of all. */
  readonly caret: { readonly x: number; readonly y: number };
};

const MENU_ROWS = 8;
const PICKER_ROWS = 16;
const PANEL_ROWS = 26;
const SMALL_ROWS = 10;
const WRAPPED: ReadonlySet<string> = new Set(['text', 'dialog', 'dialog_body']);
const TINY = { columns: 20, rows: 5 };

/** Lays the screen out: the composer first, what is left belongs to the live zone. */
export function drawScreen(view: ViewState, drawing: Drawing, carry: HistoryCarry, paint: Paint): ScreenPlan {
  const room = Math.max(1, drawing.rows - 1);
  const rowsOf = (lines: readonly LogicalLine[], width = drawing.width) =>
    renderLines(lines, { width, paint, zone: 'live', links: 'printed' });
  if (drawing.width < TINY.columns || drawing.rows < TINY.rows) {
    const { rows, caret } = composerRows(view, drawing, paint, 1);
    return { live: [], composer: rows.slice(0, 1), below: [], caret: { x: caret.x, y: 0 } };
  }
  const isSmall = drawing.rows < SMALL_ROWS;
  const composer = composerRows(view, drawing, paint, Math.max(1, Math.min(Math.floor(drawing.rows / 2), room - 3)));
  const isAsking = view.attention.stage === 'armed';
  const mark = isBusy(view) ? terminalLine(toned('dim', drawing.glyphs.mark.trimEnd())) : terminalLine();
  const separator = isAsking ? [] : rowsOf([mark]);
  const status = rowsOf(statusLines(view, drawing).map((line) => oneRow(line, drawing.width)));
  const free = room - composer.rows.length - separator.length - status.length;
  const isPage = view.overlay?.kind === 'help';
  const menuRoom = isSmall
    ? 3
    : isPage
      ? free
      : Math.min(
          view.overlay?.kind === 'menu' ? MENU_ROWS : view.overlay?.kind === 'panel' ? PANEL_ROWS : PICKER_ROWS,
          Math.floor(drawing.rows / (view.overlay?.kind === 'menu' ? 3 : 1.5)),
        );
  const below = overlayLines(view, drawing, Math.min(free, menuRoom)).map((line) => oneRow(line, drawing.width));
  const menu =
    view.overlay?.kind === 'panel'
      ? panelPicture(view.overlay, drawing, paint, Math.min(free, menuRoom))
      : rowsOf(below).slice(0, Math.max(0, free));
  const liveRoom = isSmall && view.asks.length === 0 ? Math.min(1, free - menu.length) : free - menu.length;
  const blocks = liveSources(view, drawing, carry).map(({ lines, kind, keepHead, keepTail, cutHint }) => ({
    kind,
    keepHead,
    keepTail,
    cutNote: cutHint === undefined ? undefined : noteOf(cutHint, drawing, paint),
    rows: rowsOf(WRAPPED.has(kind) ? lines : lines.map((line) => oneRow(line, drawing.width))),
  }));
  const live = [...fitRows(blocks, liveRoom), ...separator];
  return {
    live,
    composer: composer.rows,
    below: [...menu, ...status],
    caret: { x: composer.caret.x, y: live.length + composer.caret.y },
  };
}

function noteOf(hint: string, { glyphs }: Drawing, paint: Paint): (hidden: number) => string {
  return (hidden) => paint(`  ${glyphs.more} ${formatCount(hidden, 'more line')}${hint}`, { token: 'dim' });
}

/** Chrome never wraps: what does not fit is left out. The last two columns stay free. */
function oneRow(line: LogicalLine, width: number): LogicalLine {
  const room = Math.max(1, width - line.indent - 2);
  const total = line.spans.reduce((sum, { text }) => sum + textWidth(text), 0);
  if (total <= room) return line;
  let left = room - 1;
  const spans = line.spans.flatMap((span) => {
    if (left <= 0) return [];
    const text = sliceWidth(span.text, 0, left);
    left -= textWidth(text);
    return [{ ...span, text }];
  });
  return { ...line, spans: [...spans, { text: '…' }] };
}
