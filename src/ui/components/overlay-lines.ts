import type { Drawing } from '../text/drawing.ts';
import { type LogicalLine, plain, terminalLine, toned } from '../text/line.ts';
import { type Overlay, pickerChoices } from '../view/overlay.ts';
import type { ViewState } from '../view/view-state.ts';
import { choiceLines } from './choice-lines.ts';
import { helpLines } from './help-lines.ts';
import { sessionLines } from './session-lines.ts';
import { themeSample } from './theme-sample.ts';

/** What is open below the draft, in at most so many rows. */
export function overlayLines(view: ViewState, drawing: Drawing, rows: number): readonly LogicalLine[] {
  const { overlay } = view;
  if (overlay === undefined || rows <= 0) return [];
  switch (overlay.kind) {
    case 'menu':
      return menuLines(overlay, drawing, rows);
    case 'picker': {
      const choices = pickerChoices(overlay);
      const head = terminalLine(
        { text: overlay.title, style: { bold: true } },
        plain(`  > ${overlay.query}`),
        toned('dim', `   ${choices.length} of ${overlay.choices.length}   enter chooses, esc closes`),
      );
      const sample = overlay.purpose === 'theme' ? themeSample(drawing, rows) : [];
      return [head, ...choiceLines(choices, overlay, drawing, rows - 1 - sample.length), ...sample];
    }
    case 'sessions':
      return sessionLines(overlay, view.facts.branch, drawing, rows);
    case 'help':
      return helpLines(view, drawing, rows);
    default:
      return [];
  }
}

/** The menu of the word at the caret, with the keys that work in it. */
function menuLines(
  { choices, selected, target }: Extract<Overlay, { kind: 'menu' }>,
  drawing: Drawing,
  rows: number,
): readonly LogicalLine[] {
  const keys = target.kind === 'command' ? ['tab fills', 'enter runs', 'esc'] : ['tab or enter fills', 'esc'];
  const foot = terminalLine(toned('dim', `  ${keys.join(drawing.glyphs.separator)}`));
  const shown = choiceLines(choices, { selected, query: target.query }, drawing, Math.max(1, rows - 1));
  return rows > 2 && choices.length > 0 ? [...shown, foot] : shown;
}
