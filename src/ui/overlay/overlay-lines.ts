import { padWidth, textWidth } from '../../lib/text-width.ts';
import { truncateEnd } from '../../lib/truncate.ts';
import type { Drawing } from '../drawing.ts';
import { type LogicalLine, plain, terminalLine, toned } from '../lines/line.ts';
import { sanitize } from '../sanitize.ts';
import { type Choice, pickerChoices } from '../view/overlay.ts';
import type { ViewState } from '../view/view-state.ts';
import { helpLines } from './help-lines.ts';

/** What is open below the draft, in at most so many rows. */
export function overlayLines(view: ViewState, drawing: Drawing, rows: number): readonly LogicalLine[] {
  const { overlay } = view;
  if (overlay === undefined || rows <= 0) return [];
  switch (overlay.kind) {
    case 'menu':
      return choiceLines(overlay.choices, overlay.selected, drawing, rows);
    case 'picker': {
      const choices = pickerChoices(overlay);
      const head = terminalLine(
        { text: overlay.title, style: { bold: true } },
        plain(`  > ${overlay.query}`),
        toned('dim', `   ${choices.length} of ${overlay.choices.length}   enter chooses, esc closes`),
      );
      return [head, ...choiceLines(choices, overlay.selected, drawing, rows - 1)];
    }
    default:
      return helpLines(view, drawing).slice(0, rows);
  }
}

/** The choices around the selected one. */
function choiceLines(
  choices: readonly Choice[],
  selected: number,
  drawing: Drawing,
  rows: number,
): readonly LogicalLine[] {
  const from = Math.max(0, Math.min(selected - rows + 1, choices.length - rows));
  const shown = choices.slice(Math.max(0, from), Math.max(0, from) + rows);
  const labelWidth = Math.min(
    Math.floor(drawing.width / 2),
    Math.max(0, ...shown.map(({ label }) => textWidth(label))),
  );
  return shown.map((choice, at) => {
    const isSelected = Math.max(0, from) + at === selected;
    const label = padWidth(truncateEnd(sanitize(choice.label), labelWidth), labelWidth);
    const detail = truncateEnd(
      sanitize(choice.detail).replaceAll('\n', ' '),
      Math.max(0, drawing.width - labelWidth - 5),
    );
    return terminalLine(
      isSelected ? { text: `> ${label}`, style: { token: 'select' } } : plain(`  ${label}`),
      toned('dim', detail === '' ? '' : `  ${detail}`),
    );
  });
}
