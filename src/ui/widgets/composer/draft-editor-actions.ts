import { exhaustive } from '../../../lib/errors.ts';
import { type CaretMotion, moveCaretByRow, resolveCaretMotion } from './caret-motions.ts';
import { sanitizeDraftText } from './classify-draft.ts';
import {
  type DraftEditorState,
  extendKill,
  getCurrentKill,
  type HistoryScope,
  pushKill,
  redoDraftEdit,
  replaceDraftText,
  rotateKillRing,
  undoDraftEdit,
} from './draft-editor-state.ts';

import { expandPasteAtCaret, insertImage, insertPaste } from './paste.ts';
import {
  acceptHistorySearch,
  getSuggestion,
  recallEntry,
  replaceDraft,
  searchHistory,
  selectNewerHistoryMatch,
  selectOlderHistoryMatch,
  setSearchScope,
  stashOrPop,
} from './prompt-history.ts';
import {
  findLineEnd,
  findLineStart,
  findNextBoundary,
  findPreviousBoundary,
  findSpaceWordStart,
  findWordEnd,
  findWordStart,
} from './text-boundaries.ts';

/** An action of the editor of the draft. */
export type DraftEditorAction =
  | { readonly type: 'insert' | 'paste'; readonly text: string }
  | { readonly type: 'image'; readonly name: string; readonly bytes: number; readonly path: string }
  | { readonly type: 'move'; readonly to: CaretMotion }
  | { readonly type: 'up' | 'down' | 'older' | 'newer' }
  | { readonly type: 'delete'; readonly what: DeleteTarget }
  | { readonly type: 'yank' | 'yank-pop' | 'undo' | 'redo' | 'clear' | 'stash' | 'expand' | 'accept-suggestion' }
  /** Replaces a part of the text as one undo step, for example with a completion. */
  | { readonly type: 'replace'; readonly from: number; readonly to: number; readonly text: string }
  | { readonly type: 'set-text'; readonly text: string }
  /** Sets or clears the suggested prompt of an empty draft. */
  | { readonly type: 'offer'; readonly text: string | undefined }
  | { readonly type: 'search'; readonly query: string }
  /** Replaces the searched messages by those of another scope. */
  | { readonly type: 'search-in'; readonly scope: HistoryScope; readonly entries: readonly string[] }
  | { readonly type: 'search-older' | 'search-newer' | 'search-accept' | 'search-cancel' }
  | { readonly type: 'resize'; readonly width: number }
  /** The draft was sent: it is cleared, and `entry` becomes the newest entry of the history. */
  | { readonly type: 'sent'; readonly entry?: string };

/** A longer pause between two insertions begins a new undo step. */
const TYPING_GROUP_MS = 500;

/** Returns the editor after an action. The time is only used to group typing into undo steps. */
export function applyDraftEditorAction(
  state: DraftEditorState,
  action: DraftEditorAction,
  nowMs: number,
): DraftEditorState {
  const after = apply(state, action, nowMs);
  return after.lastAction === state.lastAction && after !== state && !keepsLastAction(action)
    ? { ...after, lastAction: { kind: 'none' } }
    : after;
}

function apply(state: DraftEditorState, action: DraftEditorAction, nowMs: number): DraftEditorState {
  switch (action.type) {
    case 'insert':
      return insertTyped(state, sanitizeDraftText(action.text), nowMs);
    case 'paste':
      return insertPaste(state, action.text);
    case 'image':
      return insertImage(state, action);
    case 'move':
      return { ...state, caret: resolveCaretMotion(state, action.to), goalColumn: undefined };
    case 'up':
    case 'down':
      return moveOrRecall(state, action.type);
    case 'older':
    case 'newer':
      return recallEntry(state, action.type);
    case 'delete':
      return deleteText(state, action.what, nowMs);
    case 'yank':
      return yank(state, state.caret, state.caret);
    case 'yank-pop':
      if (state.lastAction.kind !== 'yank') return state;
      return yank({ ...state, kills: rotateKillRing(state.kills) }, state.lastAction.from, state.lastAction.to);
    case 'undo':
      return undoDraftEdit(state);
    case 'redo':
      return redoDraftEdit(state);
    case 'clear':
      return replaceDraft({ ...state, kills: pushKill(state.kills, state.text) }, { text: '', caret: 0 });
    case 'stash':
      return stashOrPop(state);
    case 'expand':
      return expandPasteAtCaret(state);
    case 'accept-suggestion':
      return insertTyped(state, getSuggestion(state) ?? '', nowMs);
    case 'replace':
      return replaceDraftText(state, { from: action.from, to: action.to, insert: sanitizeDraftText(action.text) });
    case 'set-text': {
      const text = sanitizeDraftText(action.text);
      return replaceDraft(state, { text, caret: text.length });
    }
    case 'search':
      return searchHistory(state, action.query);
    case 'search-older':
      return selectOlderHistoryMatch(state);
    case 'search-newer':
      return selectNewerHistoryMatch(state);
    case 'search-in':
      return setSearchScope(withHistory(state, action.entries), action.scope);
    case 'search-accept':
      return acceptHistorySearch(state);
    case 'search-cancel':
      return { ...state, search: undefined };
    case 'resize':
      return { ...state, width: Math.max(1, action.width), goalColumn: undefined };
    case 'offer':
      return { ...state, suggestedPrompt: action.text };
    case 'sent':
      return clearSent({ ...state, suggestedPrompt: undefined }, action.entry);
    default:
      return exhaustive(action);
  }
}

function insertTyped(state: DraftEditorState, text: string, nowMs: number): DraftEditorState {
  if (text === '') return state;
  const pausedMs = state.lastAction.kind === 'type' ? nowMs - state.lastAction.timeMs : Number.POSITIVE_INFINITY;
  const startsWord = /^\S/.test(text) && /\s/.test(state.text.charAt(state.caret - 1));
  const joins = pausedMs < TYPING_GROUP_MS && !startsWord;
  const at = state.caret;
  const inserted = replaceDraftText(state, { from: at, to: at, insert: text, step: joins ? 'join' : 'new' });
  return { ...inserted, lastAction: { kind: 'type', timeMs: nowMs } };
}

function moveOrRecall(state: DraftEditorState, direction: 'up' | 'down'): DraftEditorState {
  const entry = direction === 'up' ? 'older' : 'newer';
  // After an entry was recalled, Up recalls the next one even if the caret is not in the first row.
  if (state.lastAction.kind === 'recall') return recallEntry(state, entry);
  return moveCaretByRow(state, direction) ?? recallEntry(state, entry);
}

function yank(state: DraftEditorState, from: number, to: number): DraftEditorState {
  const text = getCurrentKill(state.kills);
  if (text === '') return state;
  const step = from === to ? 'new' : 'join';
  const yanked = replaceDraftText(state, { from, to, insert: text, step });
  return { ...yanked, lastAction: { kind: 'yank', from, to: from + text.length } };
}

function withHistory(state: DraftEditorState, entries: readonly string[]): DraftEditorState {
  const { position, edits } = state.history;
  // An old entry is on screen while the list changes: its text is kept as the draft.
  if (position !== 0) return { ...state, undo: [], redo: [], history: { entries, position: 0, edits: new Map() } };
  const draft = edits.get(0);
  return { ...state, history: { entries, position, edits: new Map(draft ? [[0, draft]] : []) } };
}

function clearSent(state: DraftEditorState, entry: string | undefined): DraftEditorState {
  const entries = entry === undefined ? state.history.entries : [...state.history.entries, entry];
  return {
    ...state,
    text: '',
    caret: 0,
    goalColumn: undefined,
    isLiteral: false,
    undo: [],
    redo: [],
    history: { entries, position: 0, edits: new Map() },
    search: undefined,
    lastAction: { kind: 'none' },
  };
}

function keepsLastAction(action: DraftEditorAction): boolean {
  return action.type === 'resize';
}

/** The text that a key deletes. Everything but a single character goes to the kill ring. */
type DeleteTarget =
  | 'left'
  | 'right'
  | 'word-left'
  | 'word-right'
  | 'space-word-left'
  | 'to-line-start'
  | 'to-line-end'
  | 'line';

/** Single deletions within this time are one undo step. */
const ERASE_GROUP_MS = 500;

/** Deletes text. Longer spans go to the kill ring; consecutive kills are combined into one entry. */
function deleteText(state: DraftEditorState, what: DeleteTarget, nowMs: number): DraftEditorState {
  const { from, to } = findSpan(state, what);
  if (what === 'left' || what === 'right') {
    if (from === to) return state;
    const joins = state.lastAction.kind === 'erase' && nowMs - state.lastAction.timeMs < ERASE_GROUP_MS;
    const erased = replaceDraftText(state, { from, to, insert: '', step: joins ? 'join' : 'new' });
    return { ...erased, lastAction: { kind: 'erase', timeMs: nowMs } };
  }
  return killRange(state, from, to);
}

/** Moves a range of the text into the kill ring. */
function killRange(state: DraftEditorState, from: number, to: number): DraftEditorState {
  const killed = state.text.slice(from, to);
  if (killed === '') return state;
  const side = from < state.caret ? 'before' : 'after';
  const kills =
    state.lastAction.kind === 'kill' ? extendKill(state.kills, killed, side) : pushKill(state.kills, killed);
  return { ...replaceDraftText(state, { from, to, insert: '' }), kills, lastAction: { kind: 'kill' } };
}

function findSpan(
  { text, caret }: DraftEditorState,
  what: DeleteTarget,
): { readonly from: number; readonly to: number } {
  switch (what) {
    case 'left':
      return { from: findPreviousBoundary(text, caret), to: caret };
    case 'right':
      return { from: caret, to: findNextBoundary(text, caret) };
    case 'word-left':
      return { from: findWordStart(text, caret), to: caret };
    case 'word-right':
      return { from: caret, to: findWordEnd(text, caret) };
    case 'space-word-left':
      return { from: findSpaceWordStart(text, caret), to: caret };
    case 'to-line-start': {
      const start = findLineStart(text, caret);
      return { from: start === caret ? Math.max(0, caret - 1) : start, to: caret };
    }
    case 'to-line-end': {
      const end = findLineEnd(text, caret);
      return { from: caret, to: end === caret ? Math.min(text.length, caret + 1) : end };
    }
    case 'line':
      return { from: findLineStart(text, caret), to: Math.min(text.length, findLineEnd(text, caret) + 1) };
  }
}
