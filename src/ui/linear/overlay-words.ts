import { printableName } from '../../lib/text/sanitize.ts';
import { helpLines } from '../menus/help-lines.ts';
import type { Drawing } from '../text/drawing.ts';
import { lineText } from '../text/line.ts';
import { type Overlay, pickerChoices } from '../view/overlay.ts';
import { type PanelView, panelRows } from '../view/panel-view.ts';
import type { ViewState } from '../view/view-state.ts';

const MANY_ROWS = 500;

/** Has a panel only been made anew? Then it was read already. */
export function isSamePanel(before: Overlay | undefined, now: Overlay | undefined): boolean {
  if (before?.kind !== 'panel' || now?.kind !== 'panel') return false;
  return before.panel.line === now.panel.line && before.doing === now.doing && now.said === undefined;
}

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
          `${at + 1}: ${printableName(label)}${detail === '' ? '' : `, ${printableName(detail)}`}`,
      );
      return { lines: [`${overlay.title}:`, ...choices, 'Type a number and press enter; empty leaves it.'], view };
    }
    case 'panel':
      // What a panel was asked to do is told when it is done.
      return overlay.said === undefined ? { lines: panelWords(overlay), view } : { lines: [], view: shut };
    case 'help': {
      const keys = helpLines(view, { ...drawing, width: 20 }, MANY_ROWS).slice(0, -1);
      return { lines: [...keys.map(lineText), 'Commands begin with a slash, for example /model.'], view: shut };
    }
    case 'viewer':
      return { lines: [overlay.viewer.title, ...overlay.viewer.rows.map(({ text }) => text)], view: shut };
    case 'sessions':
      return {
        lines: ['Start with ouro --resume and part of a title to go on in one of these:'].concat(
          overlay.choices.map(({ label, detail }) => `${printableName(label)}, ${printableName(detail)}`),
        ),
        view: shut,
      };
    default:
      return { lines: [], view };
  }
}

/** The rows of a panel by number, or what is to be written. */
function panelWords(view: PanelView): readonly string[] {
  const { panel, doing } = view;
  if (doing.type === 'sure')
    return [`This ${doing.act.sure ?? ''}. Type yes and press enter; anything else leaves it.`];
  if (doing.type === 'writing')
    return [`${doing.act.label}: ${doing.editor.text}`, 'Type the new words and press enter; empty leaves it.'];
  const rows = panelRows(view).map(({ cells, mark, detail }, at) => {
    const words = [...cells.filter((cell) => cell !== ''), ...detail.filter((line) => !cells.includes(line))]
      .map(printableName)
      .join(', ');
    return `${at + 1}: ${words}${mark === 'current' ? ', chosen' : ''}`;
  });
  const head = panel.note === undefined ? `${panel.title}:` : `${panel.title}, ${printableName(panel.note)}:`;
  const more = panel.acts.map(({ line, label }) => `/${line} … ${label}.`);
  const keys = 'Type a number and press enter to change or to see more; empty leaves it.';
  return [head, ...(rows.length === 0 ? [panel.empty] : rows), ...more, keys];
}
