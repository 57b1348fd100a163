import { type Printable, printed } from '../../lib/printable.ts';
import type { Drawing } from '../text/drawing.ts';
import { renderLines } from '../text/render-lines.ts';
import type { Paint } from '../theme/paint.ts';
import type { HistoryItem } from '../view/history-item.ts';
import { type HistoryCarry, historyLines, NO_CARRY } from './history-lines.ts';

/** Lays finished items out, in the order they finish. */
export type Printer = {
  print(items: readonly HistoryItem[], drawing: Drawing, paint: Paint): readonly Printable[];
  carry(): HistoryCarry;
};

/** Ends the turn before; the prompt begins. Terminals that know it jump from one to the next. */
const PROMPT_BEGINS = printed`\u001b]133;D\u0007\u001b]133;A\u0007`;
/** The prompt ends; the answer begins. */
const PROMPT_ENDS = printed`\u001b]133;B\u0007\u001b]133;C\u0007`;

/** Knows what was printed last, and nothing else. */
export function createPrinter(prose: 'words' | 'terminal', marks: 'set' | 'off'): Printer {
  let carry = NO_CARRY;
  return {
    print(items, drawing, paint) {
      return items.flatMap((item) => {
        const laid = historyLines(item, drawing, carry);
        carry = laid.carry;
        const { width, links } = drawing;
        const rows = renderLines(laid.lines, { width, paint, zone: 'history', links, prose });
        return marks === 'set' && item.kind === 'prompt' ? marked(rows) : rows;
      });
    },
    carry: () => carry,
  };
}

function marked(rows: readonly Printable[]): readonly Printable[] {
  const first = rows.findIndex((row) => row !== '');
  return rows.map((row, at) => {
    const begun = at === first ? printed`${PROMPT_BEGINS}${row}` : row;
    return at === rows.length - 1 ? printed`${begun}${PROMPT_ENDS}` : begun;
  });
}
