import { type DraftEditorState, getCurrentKill, pushKill, replaceDraftText } from './draft-editor-state.ts';

import { findLineEnd, findLineStart, findNextBoundary, findPreviousBoundary } from './text-boundaries.ts';
import { findFirstNonBlank, type VimRange } from './vim-motions.ts';

/** A command of normal or visual mode, parsed from the keys pressed so far. */
export type VimCommand = {
  readonly count: number | undefined;
  readonly operator: VimOperator | undefined;
  /** A motion, a text object (`iw`), the operator again for whole lines, or a single command. */
  readonly target: string;
};

/** An operator: delete, change or yank. */
export type VimOperator = 'd' | 'c' | 'y';

const PARTS = /^([1-9]\d*)?([dcy](?!$))?([1-9]\d*)?(.*)$/su;
const MOTION = /^(?:gg|[hjklwbe0^$G;,]|[fFtT].)$/su;
const OBJECT = /^[ia][wp"'`()[\]{}b]$/;
const COMMAND = /^(?:[iaIAoOxXDCYsSpPuvV.]|r.)$/su;
const SELECTION_COMMAND = /^[dcyxXsvV]$/;

/** Parses keys. Returns `undefined` while more keys are needed, and `invalid` when no command starts like this. */
export function parseVimCommand(keys: string, mode: 'normal' | 'visual'): VimCommand | 'invalid' | undefined {
  const [, outer, operator, inner, target = ''] = PARTS.exec(keys) ?? [];
  const count = outer === undefined && inner === undefined ? undefined : Number(outer ?? 1) * Number(inner ?? 1);
  if (target === '') return undefined;
  if (isOperator(operator)) {
    if (MOTION.test(target) || OBJECT.test(target) || target === operator) return { count, operator, target };
    return /^[fFtTgia]$/.test(target) ? undefined : 'invalid';
  }
  const isCommand = mode === 'normal' ? COMMAND.test(target) : SELECTION_COMMAND.test(target) || OBJECT.test(target);
  if (isCommand || MOTION.test(target)) return { count, operator: undefined, target };
  return (mode === 'normal' ? /^[fFtTrgdcy]$/ : /^[fFtTgia]$/).test(target) ? undefined : 'invalid';
}

function isOperator(key: string | undefined): key is VimOperator {
  return key === 'd' || key === 'c' || key === 'y';
}

/** Deletes, changes or yanks a range. Whole lines are stored with a final newline, which `p` recognizes. */
export function applyOperator(
  editor: DraftEditorState,
  { from, to, shape }: VimRange,
  operator: VimOperator,
): DraftEditorState {
  const { text } = editor;
  const killed = text.slice(from, to) + (shape === 'lines' ? '\n' : '');
  const stored: DraftEditorState = { ...editor, kills: pushKill(editor.kills, killed) };
  if (operator === 'y') return clampCaret({ ...stored, caret: from });
  if (operator === 'c' || shape === 'text') {
    const cut = replaceDraftText(stored, { from, to, insert: '' });
    return operator === 'c' ? cut : clampCaret(cut);
  }
  // A line is removed with its newline; the last line with the newline before it.
  const isLast = to === text.length;
  const cut = replaceDraftText(stored, {
    from: isLast ? Math.max(0, from - 1) : from,
    to: isLast ? to : to + 1,
    insert: '',
  });
  return clampCaret({ ...cut, caret: findFirstNonBlank(cut.text, cut.caret) });
}

/** Inserts the last deleted or yanked text: whole lines as lines, other text next to the caret. */
export function putKilledText(editor: DraftEditorState, side: 'after' | 'before', count: number): DraftEditorState {
  const killed = getCurrentKill(editor.kills);
  if (killed === '') return editor;
  const { text, caret } = editor;
  const copies = killed.repeat(count);
  if (!killed.endsWith('\n')) {
    const at = side === 'before' ? caret : Math.min(findLineEnd(text, caret), findNextBoundary(text, caret));
    const inserted = replaceDraftText(editor, { from: at, to: at, insert: copies });
    return { ...inserted, caret: findPreviousBoundary(inserted.text, inserted.caret) };
  }
  if (side === 'before') {
    const at = findLineStart(text, caret);
    return replaceDraftText(editor, { from: at, to: at, insert: copies, caret: at });
  }
  const at = findLineEnd(text, caret);
  return replaceDraftText(editor, { from: at, to: at, insert: `\n${copies.slice(0, -1)}`, caret: at + 1 });
}

/** Moves the caret onto a character: in normal mode it is never after the last one of a line. */
export function clampCaret(editor: DraftEditorState): DraftEditorState {
  const { text, caret } = editor;
  const isAfterLast = caret === findLineEnd(text, caret) && caret > findLineStart(text, caret);
  return isAfterLast ? { ...editor, caret: findPreviousBoundary(text, caret) } : editor;
}
