import { joinPrintable, printable } from '../../../lib/printable.ts';
import { escapeUnsafeLine } from '../../../lib/text/sanitize.ts';
import type { TerminalOutput } from '../../terminal/screen-frame-writer.ts';
import { getRowText } from '../../text/render-lines.ts';
import type { FirstRunScreenState } from './first-run-state.ts';
import { layoutFirstRun, listFirstRunRows } from './layout-first-run.ts';

/** Shows the first-run screen on a terminal. */
export type FirstRunRenderer = {
  show(state: FirstRunScreenState): void;
  /** Sets the background that the terminal has reported; absent where nothing is coloured. */
  setBackground?(background: 'dark' | 'light'): void;
  close(): void;
};

/** Creates the output for terminals where lines can only be appended. Each line is written once. */
export function createFirstRunLineRenderer(out: TerminalOutput): FirstRunRenderer {
  let page: FirstRunScreenState['page'] | undefined;
  let written: ReadonlySet<string> = new Set();

  return {
    show(state) {
      const isNewPage = page?.kind !== state.page.kind;
      const [name = '', folder = '', ...others] = listFirstRunRows(layoutFirstRun(state)).map(getRowText);
      const lines = page === undefined ? [name, folder, ...others] : others;
      // Input is echoed as it is typed, except for a key.
      const newLines = lines.filter((line) => (isNewPage || !written.has(line)) && !line.startsWith('> '));
      const input = state.page.kind === 'address' ? state.page.text : '';
      const previousInput = page?.kind === 'address' ? page.text : '';
      page = state.page;
      written = new Set(lines);
      const write = (...rows: readonly string[]) =>
        out.write(joinPrintable(rows.map(escapeUnsafeLine), printable`\r\n`));
      if (newLines.length > 0) write(...(previousInput === '' ? [] : ['']), ...newLines, input);
      else if (input.startsWith(previousInput)) write(input.slice(previousInput.length));
      else write('', input);
    },
    close: () => undefined,
  };
}
