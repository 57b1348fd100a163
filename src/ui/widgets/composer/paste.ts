import { sanitizeDraftText } from './classify-draft.ts';
import { type EditorState, replaceText } from './editor-state.ts';
import {
  createPlaceholder,
  getPlaceholderCharacter,
  getPlaceholderIdAt,
  type PastePlaceholder,
} from './paste-placeholders.ts';
import { findPreviousBoundary } from './text-boundaries.ts';

const MAX_INLINE_LINES = 8;
const MAX_INLINE_CHARACTERS = 800;

/** Inserts pasted text as one undo step. With `collapse`, a long text is collapsed into a placeholder. */
export function insertPaste(state: EditorState, pasted: string, longText: 'collapse' | 'inline'): EditorState {
  const text = sanitizeDraftText(pasted);
  if (text === '') return state;
  const isShort =
    text.length <= MAX_INLINE_CHARACTERS && text.split('\n', MAX_INLINE_LINES + 1).length <= MAX_INLINE_LINES;
  if (isShort || longText === 'inline') return insertAtCaret(state, text);
  return insertPlaceholder(
    state,
    createPlaceholder(state.placeholders, (id, number) => ({ kind: 'paste', id, number, text }), 'paste'),
  );
}

/** Inserts an image into the draft as a placeholder. */
export function insertImage(
  state: EditorState,
  image: { readonly name: string; readonly bytes: number; readonly path: string },
): EditorState {
  const { name, bytes, path } = image;
  return insertPlaceholder(
    state,
    createPlaceholder(state.placeholders, (id, number) => ({ kind: 'image', id, number, name, bytes, path }), 'image'),
  );
}

/** Returns the paste or image under the caret, or the one just before it. */
export function findPlaceholderAtCaret(
  state: EditorState,
): { readonly placeholder: PastePlaceholder; readonly at: number } | undefined {
  for (const at of [state.caret, findPreviousBoundary(state.text, state.caret)]) {
    const id = getPlaceholderIdAt(state.text, at);
    const placeholder = id === undefined ? undefined : state.placeholders.get(id);
    if (placeholder) return { placeholder, at };
  }
  return undefined;
}

/** Replaces the collapsed paste at the caret by its text. */
export function expandPasteAtCaret(state: EditorState): EditorState {
  const found = findPlaceholderAtCaret(state);
  if (found?.placeholder.kind !== 'paste') return state;
  const { placeholder, at } = found;
  return replaceText(state, {
    from: at,
    to: at + getPlaceholderCharacter(placeholder.id).length,
    insert: placeholder.text,
    isLiteral: state.isLiteral,
  });
}

function insertPlaceholder(state: EditorState, placeholder: PastePlaceholder): EditorState {
  return insertAtCaret(
    { ...state, placeholders: new Map(state.placeholders).set(placeholder.id, placeholder) },
    getPlaceholderCharacter(placeholder.id),
  );
}

function insertAtCaret(state: EditorState, text: string): EditorState {
  const { caret } = state;
  return replaceText(state, { from: caret, to: caret, insert: text, isLiteral: caret === 0 || state.isLiteral });
}
