import { lineEnd, lineStart, nextBoundary, previousBoundary } from './boundaries.ts';
import { type EditorState, replaceText } from './editor-state.ts';
import { pushKill, shownKill } from './kill-ring.ts';
import type { VimOperator } from './vim-command.ts';
import { firstNonBlank } from './vim-motions.ts';
import type { VimRange } from './vim-objects.ts';

/** Deletes, changes or copies a range. Lines are remembered with a newline at their end, so that `p` knows them. */
export function operateOn(editor: EditorState, { from, to, shape }: VimRange, operator: VimOperator): EditorState {
  const { text } = editor;
  const taken = text.slice(from, to) + (shape === 'lines' ? '\n' : '');
  const remembered = { ...editor, kills: pushKill(editor.kills, taken) };
  if (operator === 'y') return settledCaret({ ...remembered, caret: from });
  if (operator === 'c' || shape === 'text') {
    const cut = replaceText(remembered, { from, to, insert: '' });
    return operator === 'c' ? cut : settledCaret(cut);
  }
  // A line goes with its newline; the last one with the newline before it.
  const isLast = to === text.length;
  const cut = replaceText(remembered, {
    from: isLast ? Math.max(0, from - 1) : from,
    to: isLast ? to : to + 1,
    insert: '',
  });
  return settledCaret({ ...cut, caret: firstNonBlank(cut.text, cut.caret) });
}

/** Puts back what was deleted or copied: whole lines as lines, anything else beside the caret. */
export function put(editor: EditorState, side: 'after' | 'before', count: number): EditorState {
  const killed = shownKill(editor.kills);
  if (killed === '') return editor;
  const { text, caret } = editor;
  const copies = killed.repeat(count);
  if (!killed.endsWith('\n')) {
    const at = side === 'before' ? caret : Math.min(lineEnd(text, caret), nextBoundary(text, caret));
    const inserted = replaceText(editor, { from: at, to: at, insert: copies });
    return { ...inserted, caret: previousBoundary(inserted.text, inserted.caret) };
  }
  if (side === 'before') {
    const at = lineStart(text, caret);
    return replaceText(editor, { from: at, to: at, insert: copies, caret: at });
  }
  const at = lineEnd(text, caret);
  return replaceText(editor, { from: at, to: at, insert: `\n${copies.slice(0, -1)}`, caret: at + 1 });
}

/** In normal mode the caret stands on a character, never behind the last one of a line. */
export function settledCaret(editor: EditorState): EditorState {
  const { text, caret } = editor;
  const isBehind = caret === lineEnd(text, caret) && caret > lineStart(text, caret);
  return isBehind ? { ...editor, caret: previousBoundary(text, caret) } : editor;
}
