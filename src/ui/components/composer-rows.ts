import { sanitizeScreen } from '../../lib/text/sanitize.ts';
import { textWidth } from '../../lib/text/text-width.ts';
import { truncateEnd } from '../../lib/text/truncate.ts';
import { edit } from '../composer/edit.ts';
import { rowPieces, type VisualRow } from '../composer/layout.ts';
import { searchMatch, suggestion } from '../composer/recall.ts';
import { viewEditor } from '../composer/view-editor.ts';
import { vimSelection } from '../composer/vim.ts';
import type { Drawing } from '../text/drawing.ts';
import type { Paint } from '../theme/paint.ts';
import type { Style } from '../theme/theme.ts';
import type { ViewState } from '../view/view-state.ts';

/** The rows of the draft, and where the cursor belongs in them. */
export type ComposerRows = {
  readonly rows: readonly string[];
  readonly caret: { readonly x: number; readonly y: number };
};

const MARGIN = 2;
const NARROW = 40;

/** Lays the draft out in at most so many rows. */
export function composerRows(view: ViewState, drawing: Drawing, paint: Paint, height: number): ComposerRows {
  if (view.editor.search !== undefined) return searchRows(view, drawing, paint);
  const editor = edit(view.editor, { type: 'resize', width: drawing.width - MARGIN - 1 }, drawing.nowMs);
  const whole = viewEditor(editor, { height });
  const isCut = whole.above > 0 || whole.below > 0;
  const shown = isCut && height > 2 ? viewEditor(editor, { height: height - 1 }) : whole;
  const selected = view.vim === undefined ? undefined : vimSelection(view.vim, editor);
  const rows = shown.rows.map(({ row }, at) => {
    const mark = at === 0 && shown.above === 0 ? paint(drawing.glyphs.user, { token: 'accent' }) : ' ';
    const text = partsOf(row, selected)
      .map(({ from, to, look }) =>
        rowPieces(editor, { ...row, from, to })
          .map(({ kind, text: words }) => paint(words, kind === 'fold' ? { token: 'code', ...look } : look))
          .join(''),
      )
      .join('');
    return `${mark} ${text}`;
  });
  const ghost = suggestion(editor)?.split('\n', 1)[0];
  if (ghost !== undefined) {
    const room = drawing.width - MARGIN - 1 - shown.caret.column;
    rows[rows.length - 1] += paint(truncateEnd(ghost, room), { token: 'dim' });
  }
  const caret = { x: MARGIN + shown.caret.column, y: shown.caret.row };
  if (!isCut || height <= 2) return { rows, caret };
  const note = paint(`  ↑ ${shown.above} more  ↓ ${shown.below} more`, { token: 'dim' });
  return { rows: [note, ...rows], caret: { ...caret, y: caret.y + 1 } };
}

/** A row cut where a selection begins and ends. */
function partsOf(
  { from, to }: VisualRow,
  selected: { readonly from: number; readonly to: number } | undefined,
): readonly { readonly from: number; readonly to: number; readonly look?: Style }[] {
  if (selected === undefined || selected.to <= from || selected.from >= to) return [{ from, to }];
  const start = Math.max(from, selected.from);
  const end = Math.min(to, selected.to);
  return [
    { from, to: start },
    { from: start, to: end, look: { token: 'select' } },
    { from: end, to },
  ];
}

function searchRows(view: ViewState, drawing: Drawing, paint: Paint): ComposerRows {
  const query = view.editor.search?.query ?? '';
  const where = { session: 'this session', folder: 'this folder', all: 'everything' }[
    view.editor.search?.scope ?? 'folder'
  ];
  const label = drawing.width < NARROW ? `search: ${query}` : `search ${where}: ${query}`;
  const match = sanitizeScreen(searchMatch(view.editor) ?? (query === '' ? '' : 'nothing found')).replaceAll('\n', ' ');
  const found = truncateEnd(match, Math.max(0, drawing.width - textWidth(label) - 6));
  return { rows: [`${label}${paint(`   ${found}`, { token: 'dim' })}`], caret: { x: textWidth(label), y: 0 } };
}
