import { textWidth } from '../../lib/text-width.ts';
import type { Drawing } from '../drawing.ts';
import { type LogicalLine, plain, type Span, terminalLine, toned } from '../lines/line.ts';
import { sanitize } from '../sanitize.ts';
import type { DialogOption } from '../view/dialog-options.ts';

const GAP = '   ';

/** The ways to answer: the long ones on lines of their own, short ones side by side as far as they fit. */
export function optionLines(
  options: readonly DialogOption[],
  selected: number | undefined,
  { width }: Drawing,
): readonly LogicalLine[] {
  const lines: Span[][] = [];
  let room = 0;
  for (const [at, option] of options.entries()) {
    const label = sanitize(option.label).replaceAll('\n', ' ');
    const spans = [
      toned('accent', `${option.key}  `),
      selected === at ? { text: label, style: { inverse: true } as const } : plain(label),
    ];
    const columns = textWidth(option.key) + 2 + textWidth(label);
    const isShared = option.place === 'shared' && columns + GAP.length <= room;
    if (isShared) lines.at(-1)?.push(plain(GAP), ...spans);
    else lines.push([plain('  '), ...spans]);
    const left = isShared ? room - GAP.length - columns : width - 4 - columns;
    room = option.place === 'shared' ? left : 0;
  }
  return lines.map((spans) => terminalLine(...spans));
}
