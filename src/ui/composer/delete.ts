import { lineEnd, lineStart, nextBoundary, previousBoundary } from './boundaries.ts';
import { type EditorState, replaceText } from './editor-state.ts';
import { joinKill, pushKill } from './kill-ring.ts';
import { spaceWordStartBefore, wordEndAfter, wordStartBefore } from './words.ts';

/** What a key deletes. Everything but a single character can be yanked back. */
export type DeleteKind =
  | 'left'
  | 'right'
  | 'word-left'
  | 'word-right'
  | 'space-word-left'
  | 'to-line-start'
  | 'to-line-end'
  | 'line';

const ERASING_PAUSE_MS = 500;

/** Deletes, remembering what can be yanked; kills in a row come back as one. */
export function deleteSpan(state: EditorState, what: DeleteKind, nowMs: number): EditorState {
  const { from, to } = spanOf(state, what);
  if (what === 'left' || what === 'right') {
    if (from === to) return state;
    const joins = state.last.kind === 'erase' && nowMs - state.last.timeMs < ERASING_PAUSE_MS;
    const erased = replaceText(state, { from, to, insert: '', step: joins ? 'join' : 'new' });
    return { ...erased, last: { kind: 'erase', timeMs: nowMs } };
  }
  return killRange(state, from, to);
}

/** Takes a range out of the text and into the kill ring. */
function killRange(state: EditorState, from: number, to: number): EditorState {
  const killed = state.text.slice(from, to);
  if (killed === '') return state;
  const side = from < state.caret ? 'before' : 'after';
  const kills = state.last.kind === 'kill' ? joinKill(state.kills, killed, side) : pushKill(state.kills, killed);
  return { ...replaceText(state, { from, to, insert: '' }), kills, last: { kind: 'kill' } };
}

function spanOf({ text, caret }: EditorState, what: DeleteKind): { readonly from: number; readonly to: number } {
  switch (what) {
    case 'left':
      return { from: previousBoundary(text, caret), to: caret };
    case 'right':
      return { from: caret, to: nextBoundary(text, caret) };
    case 'word-left':
      return { from: wordStartBefore(text, caret), to: caret };
    case 'word-right':
      return { from: caret, to: wordEndAfter(text, caret) };
    case 'space-word-left':
      return { from: spaceWordStartBefore(text, caret), to: caret };
    case 'to-line-start': {
      const start = lineStart(text, caret);
      return { from: start === caret ? Math.max(0, caret - 1) : start, to: caret };
    }
    case 'to-line-end': {
      const end = lineEnd(text, caret);
      return { from: caret, to: end === caret ? Math.min(text.length, caret + 1) : end };
    }
    case 'line':
      return { from: lineStart(text, caret), to: Math.min(text.length, lineEnd(text, caret) + 1) };
  }
}
