import { exhaustive } from '../../lib/exhaustive.ts';
import { boundaryAtOrAfter } from './boundaries.ts';
import { draftSafe } from './clean-text.ts';
import { type DeleteKind, deleteSpan } from './delete.ts';
import { type EditorState, type HistoryScope, redoStep, replaceText, undoStep } from './editor-state.ts';
import { pushKill, shownKill, turnRing } from './kill-ring.ts';
import { type Motion, motionTarget, moveRow } from './motions.ts';
import { expandAtCaret, insertImage, paste } from './paste.ts';
import {
  acceptSearch,
  recallEntry,
  replaceAll,
  searchFor,
  searchIn,
  searchNewer,
  searchOlder,
  stashOrPop,
  suggestion,
} from './recall.ts';

/** Everything that can happen to a draft. */
export type EditorAction =
  | { readonly type: 'insert' | 'paste'; readonly text: string }
  /** A paste that stays readable however long it is. */
  | { readonly type: 'paste-inline'; readonly text: string }
  | { readonly type: 'image'; readonly name: string; readonly bytes: number; readonly path: string }
  | { readonly type: 'move'; readonly to: Motion }
  | { readonly type: 'move-to'; readonly offset: number }
  | { readonly type: 'up' | 'down' | 'older' | 'newer' }
  | { readonly type: 'delete'; readonly what: DeleteKind }
  | { readonly type: 'yank' | 'yank-pop' | 'undo' | 'redo' | 'clear' | 'stash' | 'expand' | 'accept-suggestion' }
  /** A part of the text replaced as one step: a completion, a finding, the result of an external editor. */
  | { readonly type: 'replace'; readonly from: number; readonly to: number; readonly text: string }
  | { readonly type: 'set-text'; readonly text: string }
  /** A next step for an empty draft; without one, nothing is offered any more. */
  | { readonly type: 'offer'; readonly text: string | undefined }
  | { readonly type: 'search'; readonly query: string }
  /** Other messages to search and to go back to. */
  | { readonly type: 'search-in'; readonly scope: HistoryScope; readonly entries: readonly string[] }
  | { readonly type: 'search-older' | 'search-newer' | 'search-accept' | 'search-cancel' }
  | { readonly type: 'resize'; readonly width: number }
  | { readonly type: 'history'; readonly entries: readonly string[] }
  /** The draft was sent: an empty one begins, the sent text is the newest entry of the history. */
  | { readonly type: 'sent'; readonly entry?: string };

const TYPING_PAUSE_MS = 500;

/** The editor after an action. The clock is only used to group typing into undo steps. */
export function edit(state: EditorState, action: EditorAction, nowMs: number): EditorState {
  const after = apply(state, action, nowMs);
  return after.last === state.last && after !== state && !keepsLast(action)
    ? { ...after, last: { kind: 'none' } }
    : after;
}

function apply(state: EditorState, action: EditorAction, nowMs: number): EditorState {
  switch (action.type) {
    case 'insert':
      return insert(state, draftSafe(action.text), nowMs);
    case 'paste':
      return paste(state, action.text, 'fold');
    case 'paste-inline':
      return paste(state, action.text, 'inline');
    case 'image':
      return insertImage(state, action);
    case 'move':
      return { ...state, caret: motionTarget(state, action.to), goal: undefined };
    case 'move-to':
      return { ...state, caret: boundaryAtOrAfter(state.text, action.offset), goal: undefined };
    case 'up':
    case 'down':
      return moveOrRecall(state, action.type);
    case 'older':
    case 'newer':
      return recallEntry(state, action.type);
    case 'delete':
      return deleteSpan(state, action.what, nowMs);
    case 'yank':
      return yank(state, state.caret, state.caret);
    case 'yank-pop':
      if (state.last.kind !== 'yank') return state;
      return yank({ ...state, kills: turnRing(state.kills) }, state.last.from, state.last.to);
    case 'undo':
      return undoStep(state);
    case 'redo':
      return redoStep(state);
    case 'clear':
      return replaceAll({ ...state, kills: pushKill(state.kills, state.text) }, { text: '', caret: 0 });
    case 'stash':
      return stashOrPop(state);
    case 'expand':
      return expandAtCaret(state);
    case 'accept-suggestion':
      return insert(state, suggestion(state) ?? '', nowMs);
    case 'replace':
      return replaceText(state, { from: action.from, to: action.to, insert: draftSafe(action.text) });
    case 'set-text': {
      const text = draftSafe(action.text);
      return replaceAll(state, { text, caret: text.length });
    }
    case 'search':
      return searchFor(state, action.query);
    case 'search-older':
      return searchOlder(state);
    case 'search-newer':
      return searchNewer(state);
    case 'search-in':
      return searchIn(withHistory(state, action.entries), action.scope);
    case 'search-accept':
      return acceptSearch(state);
    case 'search-cancel':
      return { ...state, search: undefined };
    case 'resize':
      return { ...state, width: Math.max(1, action.width), goal: undefined };
    case 'history':
      return withHistory(state, action.entries);
    case 'offer':
      return { ...state, offered: action.text };
    case 'sent':
      return sent({ ...state, offered: undefined }, action.entry);
    default:
      return exhaustive(action);
  }
}

function insert(state: EditorState, text: string, nowMs: number): EditorState {
  if (text === '') return state;
  const pausedMs = state.last.kind === 'type' ? nowMs - state.last.timeMs : Number.POSITIVE_INFINITY;
  const startsWord = /^\S/.test(text) && /\s/.test(state.text.charAt(state.caret - 1));
  const joins = pausedMs < TYPING_PAUSE_MS && !startsWord;
  const at = state.caret;
  const inserted = replaceText(state, { from: at, to: at, insert: text, step: joins ? 'join' : 'new' });
  return { ...inserted, last: { kind: 'type', timeMs: nowMs } };
}

function moveOrRecall(state: EditorState, way: 'up' | 'down'): EditorState {
  const entry = way === 'up' ? 'older' : 'newer';
  // Having come to an entry by Up, the next Up goes on to the next one even from its last row.
  if (state.last.kind === 'recall') return recallEntry(state, entry);
  return moveRow(state, way) ?? recallEntry(state, entry);
}

function yank(state: EditorState, from: number, to: number): EditorState {
  const text = shownKill(state.kills);
  if (text === '') return state;
  const step = from === to ? 'new' : 'join';
  const yanked = replaceText(state, { from, to, insert: text, step });
  return { ...yanked, last: { kind: 'yank', from, to: from + text.length } };
}

function withHistory(state: EditorState, entries: readonly string[]): EditorState {
  const { at, edits } = state.recall;
  // Another list of entries while one of the old is on screen: the text stays, as the draft.
  if (at !== 0) return { ...state, undo: [], redo: [], recall: { entries, at: 0, edits: new Map() } };
  const draft = edits.get(0);
  return { ...state, recall: { entries, at, edits: new Map(draft ? [[0, draft]] : []) } };
}

function sent(state: EditorState, entry: string | undefined): EditorState {
  const entries = entry === undefined ? state.recall.entries : [...state.recall.entries, entry];
  return {
    ...state,
    text: '',
    caret: 0,
    goal: undefined,
    literal: false,
    undo: [],
    redo: [],
    recall: { entries, at: 0, edits: new Map() },
    search: undefined,
    last: { kind: 'none' },
  };
}

function keepsLast(action: EditorAction): boolean {
  return action.type === 'resize';
}
