import { sanitizeScreen } from '../../lib/text/sanitize.ts';
import { textWidth } from '../../lib/text/text-width.ts';
import type { Drawing } from '../text/drawing.ts';
import { type LogicalLine, plain, type Span, terminalLine, toned } from '../text/line.ts';
import type { DialogOption } from '../view/dialog-options.ts';

const GAP = '   ';
const FEW_ROWS = 10;

/** The ways to answer: the long ones on lines of their own, short ones side by side as far as they fit. */
export function optionLines(
  options: readonly DialogOption[],
  selected: number | undefined,
  { width, rows }: Drawing,
): readonly LogicalLine[] {
  const lines: Span[][] = [];
  let room = 0;
  for (const [at, option] of options.entries()) {
    // Where rows are few, what is asked about must stay in sight; a choice keeps its words, they are the answer.
    const isShort = rows < FEW_ROWS && option.act.type !== 'choose';
    const whole = sanitizeScreen(option.label).replaceAll('\n', ' ');
    const label = isShort ? whole.replace(/[:,].*$/, '') : whole;
    const place = isShort ? 'shared' : option.place;
    const spans = [
      toned('accent', `${option.key}  `),
      selected === at ? { text: label, style: { inverse: true } as const } : plain(label),
    ];
    const columns = textWidth(option.key) + 2 + textWidth(label);
    const isShared = place === 'shared' && columns + GAP.length <= room;
    if (isShared) lines.at(-1)?.push(plain(GAP), ...spans);
    else lines.push([plain('  '), ...spans]);
    const left = isShared ? room - GAP.length - columns : width - 4 - columns;
    room = place === 'shared' ? left : 0;
  }
  return lines.map((spans) => terminalLine(...spans));
}
