import { joinPrinted, printed } from '../../lib/printable.ts';
import { printableLine } from '../../lib/text/sanitize.ts';
import type { TerminalOut } from '../terminal/stage.ts';
import { rowText } from '../text/render-lines.ts';
import type { FirstRunState } from './first-run-state.ts';
import { planFirstRun, shownRows } from './plan-first-run.ts';

/** Where the first screen stands. */
export type FirstRunStage = { show(state: FirstRunState): void; close(): void };

/** The first screen where lines can only be added: each once, and from then on what is new. */
export function addedStage(out: TerminalOut): FirstRunStage {
  let page: FirstRunState['page'] | undefined;
  let said: ReadonlySet<string> = new Set();

  return {
    show(state) {
      const isNewPage = page?.kind !== state.page.kind;
      const [name = '', folder = '', ...others] = shownRows(planFirstRun(state)).map(rowText);
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
