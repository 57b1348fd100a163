import { previousBoundary } from './boundaries.ts';
import { draftSafe } from './clean-text.ts';
import { type EditorState, replaceText } from './editor-state.ts';
import { addFold, type Fold, foldCharacter, foldIdAt } from './folds.ts';

const INLINE_LINES = 8;
const INLINE_CHARACTERS = 800;

/** Inserts pasted text as one step; a long one as a single character that stands for it. */
export function paste(state: EditorState, pasted: string, long: 'fold' | 'inline'): EditorState {
  const text = draftSafe(pasted);
  if (text === '') return state;
  const isShort = text.length <= INLINE_CHARACTERS && text.split('\n', INLINE_LINES + 1).length <= INLINE_LINES;
  if (isShort || long === 'inline') return put(state, text);
  return putFold(
    state,
    addFold(state.folds, (id, number) => ({ kind: 'paste', id, number, text }), 'paste'),
  );
}

/** Puts an image into the draft. */
export function insertImage(
  state: EditorState,
  image: { readonly name: string; readonly bytes: number; readonly path: string },
): EditorState {
  const { name, bytes, path } = image;
  return putFold(
    state,
    addFold(state.folds, (id, number) => ({ kind: 'image', id, number, name, bytes, path }), 'image'),
  );
}

/** The fold under the caret, or the one just before it. */
export function foldAtCaret(state: EditorState): { readonly fold: Fold; readonly at: number } | undefined {
  for (const at of [state.caret, previousBoundary(state.text, state.caret)]) {
    const id = foldIdAt(state.text, at);
    const fold = id === undefined ? undefined : state.folds.get(id);
    if (fold) return { fold, at };
  }
  return undefined;
}

/** A folded paste becomes ordinary text where it stands. */
export function expandAtCaret(state: EditorState): EditorState {
  const found = foldAtCaret(state);
  if (found?.fold.kind !== 'paste') return state;
  const { fold, at } = found;
  return replaceText(state, {
    from: at,
    to: at + foldCharacter(fold.id).length,
    insert: fold.text,
    literal: state.literal,
  });
}

function putFold(state: EditorState, fold: Fold): EditorState {
  return put({ ...state, folds: new Map(state.folds).set(fold.id, fold) }, foldCharacter(fold.id));
}

function put(state: EditorState, text: string): EditorState {
  const { caret } = state;
  return replaceText(state, { from: caret, to: caret, insert: text, literal: caret === 0 || state.literal });
}
