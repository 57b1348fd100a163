import { sanitizeScreen } from '../../lib/text/sanitize.ts';
import { textWidth } from '../../lib/text/text-width.ts';
import { truncateEnd } from '../../lib/text/truncate.ts';
import { edit } from '../composer/edit.ts';
import { rowPieces, type VisualRow } from '../composer/layout.ts';
import { searchMatch, suggestion } from '../composer/recall.ts';
import { viewEditor } from '../composer/view-editor.ts';
import { vimSelection } from '../composer/vim.ts';
import type { Drawing } from '../text/drawing.ts';
import { plain, type Span, toned } from '../text/line.ts';
import type { Row } from '../text/render-lines.ts';
import type { Style } from '../theme/theme.ts';
import type { ViewState } from '../view/view-state.ts';

/** The rows of the draft behind their bar, and where the cursor belongs in them. */
export type ComposerPlan = {
  readonly rows: readonly Row[];
  readonly caret: { readonly x: number; readonly y: number };
};

/** The bar and the blank beside it. */
const MARGIN = 2;
const NARROW = 40;

/** Lays the draft out in at most so many rows. */
export function planComposer(view: ViewState, drawing: Drawing, height: number): ComposerPlan {
  if (view.editor.search !== undefined) return searchPlan(view, drawing);
  const editor = edit(view.editor, { type: 'resize', width: drawing.width - MARGIN - 1 }, drawing.nowMs);
  const whole = viewEditor(editor, { height });
  const isCut = whole.above > 0 || whole.below > 0;
  const shown = isCut && height > 2 ? viewEditor(editor, { height: height - 1 }) : whole;
  const selected = view.vim === undefined ? undefined : vimSelection(view.vim, editor);
  const rows = shown.rows.map(({ row }) =>
    partsOf(row, selected).flatMap(({ from, to, look = {} }) =>
      rowPieces(editor, { ...row, from, to }).map(({ kind, text }): Span => {
        return { text, style: kind === 'fold' ? { token: 'code', ...look } : look };
      }),
    ),
  );
  const ghost =
    suggestion(editor)?.split('\n', 1)[0] ?? (editor.text === '' ? placeholder(view, drawing.width) : undefined);
  const faded = toned('dim', truncateEnd(ghost ?? '', drawing.width - MARGIN - 2 - shown.caret.column));
  const drawn = ghost === undefined ? rows : rows.with(-1, [...(rows.at(-1) ?? []), faded]);
  const caret = { x: MARGIN + shown.caret.column, y: shown.caret.row };
  if (!isCut || height <= 2) return { rows: drawn, caret };
  const note = toned('dim', `${drawing.glyphs.up} ${shown.above} more  ${drawing.glyphs.down} ${shown.below} more`);
  return { rows: [[note], ...drawn], caret: { ...caret, y: caret.y + 1 } };
}

const BEGIN = 'Say what you want done';
const SIGNS = ['/ commands', '@ files', '! shell', '# note', '? keys'];

/** What an empty draft says. */
function placeholder({ asks, attention, activity, lastPrompt }: ViewState, width: number): string {
  if (attention.stage === 'open' && attention.form.writing !== 'nothing') return '';
  if (asks.length > 0) return 'typing goes to your draft';
  if (activity.status !== 'idle') return 'Say what comes next';
  if (lastPrompt !== '') return 'Say what is next';
  const room = width - MARGIN - 2;
  const all = `${BEGIN}       ${SIGNS.join('   ')}`;
  if (all.length <= room) return all;
  const close = `${BEGIN}   ${SIGNS.join('  ')}`;
  if (close.length <= room) return close;
  const last = `${BEGIN}   ${SIGNS.at(-1)}`;
  return last.length <= room ? last : BEGIN;
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

function searchPlan(view: ViewState, drawing: Drawing): ComposerPlan {
  const query = view.editor.search?.query ?? '';
  const where = { session: 'this session', folder: 'this folder', all: 'everything' }[
    view.editor.search?.scope ?? 'folder'
  ];
  const label = drawing.width < NARROW ? `search: ${query}` : `search ${where}: ${query}`;
  const match = sanitizeScreen(searchMatch(view.editor) ?? (query === '' ? '' : 'nothing found')).replaceAll('\n', ' ');
  const found = truncateEnd(match, Math.max(0, drawing.width - textWidth(label) - 8));
  return { rows: [[plain(label), toned('dim', `   ${found}`)]], caret: { x: MARGIN + textWidth(label), y: 0 } };
}
