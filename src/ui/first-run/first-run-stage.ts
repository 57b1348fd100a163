import { truncateEnd } from '../../lib/text/truncate.ts';
import { eraseAfterResize } from '../terminal/frame.ts';
import type { TerminalOut } from '../terminal/stage.ts';
import { lineText } from '../text/line.ts';
import { renderLines } from '../text/render-lines.ts';
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
  let shown: readonly string[] = [];
  out.write('\u001b[?2004h');

  /** The cursor stands at the end of the last row. */
  function erased(columns: number): string {
    if (shown.length === 0) return '';
    return eraseAfterResize({ rows: shown, caret: { x: 0, y: shown.length - 1 } }, columns);
  }

  return {
    show(state) {
      const { columns, rows } = out;
      const lines = firstRunLines(state, rows).slice(0, Math.max(1, rows - 1));
      const cut = lines.map((line) => fitted(lineText(line), columns));
      const painted = lines.flatMap((line, at) =>
        cut[at] === lineText(line)
          ? renderLines([line], { width: columns, paint, zone: 'live', links: 'printed' })
          : [cut[at] ?? ''],
      );
      const before = erased(columns);
      shown = cut;
      out.write(`${before}${painted.join('\r\n')}`);
    },
    close: () => void out.write(`${erased(out.columns)}\u001b[?2004l`),
  };
}

/** The same words where lines can only be added: once, and from then on what is new. */
export function addedStage(out: TerminalOut): FirstRunStage {
  let page: FirstRunState['page'] | undefined;
  let said: ReadonlySet<string> = new Set();

  return {
    show(state) {
      const isNewPage = page?.kind !== state.page.kind;
      const [name = '', folder = '', ...others] = firstRunLines(state, Number.POSITIVE_INFINITY).map(lineText);
      const lines = page === undefined ? [name, folder, ...others] : others;
      // What is written is said as it is written; a key is not said at all.
      const fresh = lines.filter((line) => (isNewPage || !said.has(line)) && !line.startsWith('> '));
      const written = state.page.kind === 'address' ? state.page.text : '';
      const before = page?.kind === 'address' ? page.text : '';
      page = state.page;
      said = new Set(lines);
      if (fresh.length > 0) out.write(`${before === '' ? '' : '\r\n'}${fresh.join('\r\n')}\r\n${written}`);
      else if (written.startsWith(before)) out.write(written.slice(before.length));
      else out.write(`\r\n${written}`);
    },
    close: () => undefined,
  };
}

function fitted(text: string, columns: number): string {
  return truncateEnd(text, Math.max(1, columns - 2));
}
