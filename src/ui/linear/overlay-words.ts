import { sanitizeScreen } from '../../lib/text/sanitize.ts';
import { helpLines } from '../components/help-lines.ts';
import type { Drawing } from '../text/drawing.ts';
import { lineText } from '../text/line.ts';
import { pickerChoices } from '../view/overlay.ts';
import type { ViewState } from '../view/view-state.ts';

const MANY_ROWS = 500;

/** What has opened, as lines; what only shows something is closed again at once. */
export function overlayWords(
  view: ViewState,
  drawing: Drawing,
): { readonly lines: readonly string[]; readonly view: ViewState } {
  const { overlay } = view;
  const shut = { ...view, overlay: undefined };
  switch (overlay?.kind) {
    case 'picker': {
      const choices = pickerChoices(overlay).map(
        ({ label, detail }, at) =>
          `${at + 1}: ${sanitizeScreen(label)}${detail === '' ? '' : `, ${sanitizeScreen(detail)}`}`,
      );
      return { lines: [`${overlay.title}:`, ...choices, 'Type a number and press enter; empty leaves it.'], view };
    }
    case 'help': {
      const keys = helpLines(view, { ...drawing, width: 20 }, MANY_ROWS).slice(0, -1);
      return { lines: [...keys.map(lineText), 'Commands begin with a slash, for example /model.'], view: shut };
    }
    case 'viewer':
      return { lines: [overlay.viewer.title, ...overlay.viewer.rows.map(({ text }) => text)], view: shut };
    case 'sessions':
      return {
        lines: ['Start with ouro --resume and part of a title to go on in one of these:'].concat(
          overlay.choices.map(({ label, detail }) => `${sanitizeScreen(label)}, ${sanitizeScreen(detail)}`),
        ),
        view: shut,
      };
    default:
      return { lines: [], view };
  }
}
