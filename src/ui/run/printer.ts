import type { Drawing } from '../drawing.ts';
import { type HistoryCarry, historyLines, NO_CARRY } from '../history/history-lines.ts';
import { renderLines } from '../lines/render-lines.ts';
import type { Paint } from '../theme-paint.ts';
import type { HistoryItem } from '../view/history-item.ts';

/** Lays finished items out, in the order they finish. */
export type Printer = {
  print(items: readonly HistoryItem[], drawing: Drawing, paint: Paint): readonly string[];
  carry(): HistoryCarry;
};

/** Knows what was printed last, and nothing else. */
export function createPrinter(prose: 'words' | 'terminal'): Printer {
  let carry = NO_CARRY;
  return {
    print(items, drawing, paint) {
      return items.flatMap((item) => {
        const laid = historyLines(item, drawing, carry);
        carry = laid.carry;
        const { width, links } = drawing;
        return renderLines(laid.lines, { width, paint, zone: 'history', links, prose });
      });
    },
    carry: () => carry,
  };
}
