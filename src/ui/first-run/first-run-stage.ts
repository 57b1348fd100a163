import { joinPrinted, NOTHING_PRINTED, type Printable, printed } from '../../lib/printable.ts';
import { printableLine } from '../../lib/text/sanitize.ts';
import { eraseAfterResize } from '../terminal/frame.ts';
import type { TerminalOut } from '../terminal/stage.ts';
import { lineText } from '../text/line.ts';
import { paintRow } from '../text/render-lines.ts';
import { createPaint } from '../theme/paint.ts';
import { type ColorDepth, resolveTheme } from '../theme/theme.ts';
import { firstRunLines } from './first-run-lines.ts';
import type { FirstRunState } from './first-run-state.ts';

export type StageLook = { readonly depth: ColorDepth; readonly background: 'dark' | 'light' };

/** Where the first screen stands. */
export type FirstRunStage = { show(state: FirstRunState): void; close(): void };

/** A few lines that are drawn anew with every change, and go away again. */
export function redrawnStage(out: TerminalOut, look: StageLook): FirstRunStage {
  const paint = createPaint(resolveTheme('auto', look), look.depth);
  let drawn: readonly string[] = [];
  out.write(printed`\u001b[?2004h`);

  /** The cursor stands at the end of the last row. */
  function erased(columns: number): Printable {
    if (drawn.length === 0) return NOTHING_PRINTED;
    return eraseAfterResize({ rows: drawn, caret: { x: 0, y: drawn.length - 1 } }, columns);
  }

  return {
    show(state) {
      const { columns, rows } = out;
      // On a terminal that is too low for it the keys stay.
      const lines = firstRunLines(state).slice(-Math.max(1, rows - 1));
      const painted = lines.map(({ spans }) => paintRow(spans, { paint, links: 'printed' }));
      const before = erased(columns);
      drawn = lines.map(lineText);
      out.write(printed`${before}${joinPrinted(painted, printed`\r\n`)}`);
    },
    close: () => void out.write(printed`${erased(out.columns)}\u001b[?2004l`),
  };
}

/** The same words where lines can only be added: once, and from then on what is new. */
export function addedStage(out: TerminalOut): FirstRunStage {
  let page: FirstRunState['page'] | undefined;
  let said: ReadonlySet<string> = new Set();

  return {
    show(state) {
      const isNewPage = page?.kind !== state.page.kind;
      const [name = '', folder = '', ...others] = firstRunLines(state).map(lineText);
      const lines = page === undefined ? [name, folder, ...others] : others;
      // What is written is said as it is written; a key is not said at all.
      const fresh = lines.filter((line) => (isNewPage || !said.has(line)) && !line.startsWith('> '));
      const written = state.page.kind === 'address' ? state.page.text : '';
      const before = page?.kind === 'address' ? page.text : '';
      page = state.page;
      said = new Set(lines);
      const say = (...rows: readonly string[]) => out.write(joinPrinted(rows.map(printableLine), printed`\r\n`));
      if (fresh.length > 0) say(...(before === '' ? [] : ['']), ...fresh, written);
      else if (written.startsWith(before)) say(written.slice(before.length));
      else say('', written);
    },
    close: () => undefined,
  };
}
