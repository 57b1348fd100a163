import { sanitizeDraftText } from './classify-draft.ts';
import { type DraftEditorState, replaceDraftText } from './draft-editor-state.ts';
import {
  createPlaceholder,
  getPlaceholderCharacter,
  getPlaceholderIdAt,
  type PastePlaceholder,
} from './paste-placeholders.ts';
import { findPreviousBoundary } from './text-boundaries.ts';

const MAX_INLINE_LINES = 8;
const MAX_INLINE_CHARACTERS = 800;

/** Inserts pasted text as one undo step. A long text is collapsed into a placeholder. */
export function insertPaste(state: DraftEditorState, pasted: string): DraftEditorState {
  const text = sanitizeDraftText(pasted);
  if (text === '') return state;
  const isShort =
    text.length <= MAX_INLINE_CHARACTERS && text.split('\n', MAX_INLINE_LINES + 1).length <= MAX_INLINE_LINES;
  if (isShort) return insertAtCaret(state, text);
  return insertPlaceholder(
    state,
    createPlaceholder(state.placeholders, (id, number) => ({ kind: 'paste', id, number, text }), 'paste'),
  );
}

/** Inserts an image into the draft as a placeholder. */
export function insertImage(
  state: DraftEditorState,
  image: { readonly name: string; readonly bytes: number; readonly path: string },
): DraftEditorState {
  const { name, bytes, path } = image;
  return insertPlaceholder(
    state,
    createPlaceholder(state.placeholders, (id, number) => ({ kind: 'image', id, number, name, bytes, path }), 'image'),
  );
}

/** Returns the paste or image under the caret, or the one just before it. */
export function findPlaceholderAtCaret(
  state: DraftEditorState,
): { readonly placeholder: PastePlaceholder; readonly at: number } | undefined {
  for (const at of [state.caret, findPreviousBoundary(state.text, state.caret)]) {
    const id = getPlaceholderIdAt(state.text, at);
    const placeholder = id === undefined ? undefined : state.placeholders.get(id);
    if (placeholder) return { placeholder, at };
  }
  return undefined;
}

/** Replaces the collapsed paste at the caret by its text. */
export function expandPasteAtCaret(state: DraftEditorState): DraftEditorState {
  const found = findPlaceholderAtCaret(state);
  if (found?.placeholder.kind !== 'paste') return state;
  const { placeholder, at } = found;
  return replaceDraftText(state, {
    from: at,
    to: at + getPlaceholderCharacter(placeholder.id).length,
    insert: placeholder.text,
    isLiteral: state.isLiteral,
  });
}

function insertPlaceholder(state: DraftEditorState, placeholder: PastePlaceholder): DraftEditorState {
  return insertAtCaret(
    { ...state, placeholders: new Map(state.placeholders).set(placeholder.id, placeholder) },
    getPlaceholderCharacter(placeholder.id),
  );
}

function insertAtCaret(state: DraftEditorState, text: string): DraftEditorState {
  const { caret } = state;
  return replaceDraftText(state, { from: caret, to: caret, insert: text, isLiteral: caret === 0 || state.isLiteral });
}
