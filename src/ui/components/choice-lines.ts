import { sanitizeScreen } from '../../lib/text/sanitize.ts';
import { padWidth, textWidth } from '../../lib/text/text-width.ts';
import { truncateEnd } from '../../lib/text/truncate.ts';
import type { Drawing } from '../text/drawing.ts';
import { type LogicalLine, plain, type Span, terminalLine, toned } from '../text/line.ts';
import type { Choice } from '../view/overlay.ts';

/** Which choice is under the cursor, and what was typed to find it. */
type Sought = { readonly selected: number; readonly query: string };

const WIDEST_HINT = 24;

/** The choices around the selected one; what was typed is bold in them. */
export function choiceLines(
  choices: readonly Choice[],
  { selected, query }: Sought,
  drawing: Drawing,
  rows: number,
): readonly LogicalLine[] {
  const from = Math.max(0, Math.min(selected - rows + 1, choices.length - rows));
  const shown = choices.slice(from, from + rows).map((choice) => ({
    choice,
    label: sanitizeScreen(choice.label),
    hint: choice.hint === undefined ? '' : ` ${truncateEnd(sanitizeScreen(choice.hint), WIDEST_HINT)}`,
  }));
  const widest = Math.max(0, ...shown.map(({ label, hint }) => textWidth(label) + textWidth(hint)));
  const columns = Math.min(Math.max(Math.floor(drawing.width / 2), 10), widest);
  const room = Math.max(0, drawing.width - columns - 6);
  return shown.map(({ choice, label, hint }, at) => {
    const detail = truncateEnd(sanitizeScreen(choice.detail).replaceAll('\n', ' '), room);
    const name = truncateEnd(label, columns);
    const rest = padWidth(truncateEnd(hint, columns - textWidth(name)), columns - textWidth(name));
    const after = toned('dim', detail === '' ? rest.trimEnd() : `${rest}  ${detail}`);
    if (from + at === selected) return terminalLine({ text: `> ${name}`, style: { token: 'select' } }, after);
    return terminalLine(plain('  '), ...matched(name, query), after);
  });
}

function matched(label: string, query: string): readonly Span[] {
  const at = query === '' ? -1 : label.toLowerCase().indexOf(query.toLowerCase());
  if (at === -1) return [plain(label)];
  const end = at + query.length;
  return [plain(label.slice(0, at)), { text: label.slice(at, end), style: { bold: true } }, plain(label.slice(end))];
}
