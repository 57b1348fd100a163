import { sanitizeForScreen } from '../../../lib/text/sanitize.ts';
import { getTextWidth, truncateEnd } from '../../../lib/text/text-width.ts';
import type { ViewState } from '../../app-state/view-state.ts';
import { colored, plain, type StyledSpan } from '../../text/line.ts';
import type { RenderContext } from '../../text/render-context.ts';
import type { ScreenRow } from '../../text/render-lines.ts';
import type { TextStyle } from '../../theme/theme.ts';
import { classifyDraft, type DraftKind } from './classify-draft.ts';
import { applyDraftEditorAction } from './draft-editor-actions.ts';
import { getRowPieces, layoutDraftEditor, type VisualRow } from './draft-editor-layout.ts';
import { getHistorySearchMatch, getSuggestion } from './prompt-history.ts';
import { getVimSelection } from './vim.ts';

/** The rows of the draft (without the bar), and the position of the cursor. */
export type ComposerLayout = {
  readonly rows: readonly ScreenRow[];
  readonly caret: { readonly x: number; readonly y: number };
};

/** Classifies the text in the composer. Text that is typed for a dialog is part of its answer. */
export function classifyComposerText({ editor, dialog }: Pick<ViewState, 'editor' | 'dialog'>): DraftKind {
  return dialog.stage === 'open' && dialog.form.typing !== 'nothing' ? 'message' : classifyDraft(editor);
}

/** Width of the bar and the space after it. */
const MARGIN = 2;
const NARROW_COLUMNS = 40;

/** Lays out the draft in at most `height` rows, below the context of the user's editor if there is room. */
export function layoutComposer(view: ViewState, drawing: RenderContext, height: number): ComposerLayout {
  const chip = height > 1 && view.dialog.stage === 'none' ? view.editorContext : undefined;
  if (chip === undefined) return layoutDraft(view, drawing, height);
  const { rows, caret } = layoutDraft(view, drawing, height - 1);
  const label = truncateEnd(sanitizeForScreen(chip), Math.max(1, drawing.width - MARGIN - DROP_HINT.length));
  const row = [colored('code', label), colored('dim', DROP_HINT)];
  return { rows: [row, ...rows], caret: { ...caret, y: caret.y + 1 } };
}

const DROP_HINT = '  alt+e drops it';

function layoutDraft(view: ViewState, drawing: RenderContext, height: number): ComposerLayout {
  if (view.editor.search !== undefined) return planSearch(view, drawing);
  const editor = applyDraftEditorAction(
    view.editor,
    { type: 'resize', width: drawing.width - MARGIN - 1 },
    drawing.nowMs,
  );
  const full = layoutDraftEditor(editor, { height });
  const isCut = full.above > 0 || full.below > 0;
  const shown = isCut && height > 2 ? layoutDraftEditor(editor, { height: height - 1 }) : full;
  const selected = view.vim === undefined ? undefined : getVimSelection(view.vim, editor);
  const rows = shown.rows.map(({ row }) =>
    splitAtSelection(row, selected).flatMap(({ from, to, look = {} }) =>
      getRowPieces(editor, { ...row, from, to }).map(({ kind, text }): StyledSpan => {
        return { text, style: kind === 'placeholder' ? { token: 'code', ...look } : look };
      }),
    ),
  );
  const ghost =
    getSuggestion(editor)?.split('\n', 1)[0] ?? (editor.text === '' ? getPlaceholder(view, drawing.width) : undefined);
  const faded = colored('dim', truncateEnd(ghost ?? '', drawing.width - MARGIN - 2 - shown.caret.column));
  const drawn = ghost === undefined ? rows : rows.with(-1, [...(rows.at(-1) ?? []), faded]);
  const caret: ComposerLayout['caret'] = { x: MARGIN + shown.caret.column, y: shown.caret.row };
  if (!isCut || height <= 2) return { rows: drawn, caret };
  const note = colored('dim', `${drawing.glyphs.up} ${shown.above} more  ${drawing.glyphs.down} ${shown.below} more`);
  return { rows: [[note], ...drawn], caret: { ...caret, y: caret.y + 1 } };
}

const FIRST_PROMPT = 'Say what you want done';
const SHORTCUTS = ['/ commands', '@ files', '! shell', '# note', '? keys'];

/** Returns the placeholder text of an empty draft. */
function getPlaceholder({ dialogRequests, dialog, activity, lastPrompt }: ViewState, width: number): string {
  if (dialog.stage === 'open' && dialog.form.typing !== 'nothing') return '';
  if (dialogRequests.length > 0) return 'typing goes to your draft';
  if (activity.status !== 'idle') return 'Say what comes next';
  if (lastPrompt !== '') return 'Say what is next';
  const room = width - MARGIN - 2;
  const wide = `${FIRST_PROMPT}       ${SHORTCUTS.join('   ')}`;
  if (wide.length <= room) return wide;
  const compact = `${FIRST_PROMPT}   ${SHORTCUTS.join('  ')}`;
  if (compact.length <= room) return compact;
  const short = `${FIRST_PROMPT}   ${SHORTCUTS.at(-1)}`;
  return short.length <= room ? short : FIRST_PROMPT;
}

/** Splits a row at the ends of the selection. */
function splitAtSelection(
  { from, to }: VisualRow,
  selected: { readonly from: number; readonly to: number } | undefined,
): readonly { readonly from: number; readonly to: number; readonly look?: TextStyle }[] {
  if (selected === undefined || selected.to <= from || selected.from >= to) return [{ from, to }];
  const start = Math.max(from, selected.from);
  const end = Math.min(to, selected.to);
  return [
    { from, to: start },
    { from: start, to: end, look: { token: 'select' } },
    { from: end, to },
  ];
}

function planSearch(view: ViewState, drawing: RenderContext): ComposerLayout {
  const query = view.editor.search?.query ?? '';
  const scope = { session: 'this session', folder: 'this folder', all: 'all folders' }[
    view.editor.search?.scope ?? 'folder'
  ];
  const label = drawing.width < NARROW_COLUMNS ? `search: ${query}` : `search ${scope}: ${query}`;
  const match = sanitizeForScreen(getHistorySearchMatch(view.editor) ?? (query === '' ? '' : 'no match')).replaceAll(
    '\n',
    ' ',
  );
  const found = truncateEnd(match, Math.max(0, drawing.width - getTextWidth(label) - 8));
  return { rows: [[plain(label), colored('dim', `   ${found}`)]], caret: { x: MARGIN + getTextWidth(label), y: 0 } };
}
