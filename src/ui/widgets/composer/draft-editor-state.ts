import type { PastePlaceholders } from './paste-placeholders.ts';
import { findBoundaryAtOrAfter } from './text-boundaries.ts';

/** A text with its caret offset, as it is stashed, recalled and saved. */
export type DraftText = { readonly text: string; readonly caret: number };

/** Earlier messages, oldest first, and the one on screen. */
export type PromptHistoryNavigation = {
  readonly entries: readonly string[];
  /** Position, counted back from the draft: 0 is the draft, 1 the newest entry. */
  readonly position: number;
  /** Edited versions of the entries and of the draft, kept until a message is sent. */
  readonly edits: ReadonlyMap<number, DraftText>;
};

/** The scope of a history search. */
export type HistoryScope = 'session' | 'folder' | 'all';

/** A history search in progress. */
export type HistorySearch = {
  readonly query: string;
  readonly scope: HistoryScope;
  /** Position of the match, counted back from the newest entry. */
  readonly found: number | undefined;
};

/** A change of the text, from which undo restores it. */
export type DraftTextChange = { readonly at: number; readonly removed: string; readonly inserted: string };

/** The part of the editor state that undo restores besides the text. */
export type EditorUndoState = { readonly caret: number; readonly isLiteral: boolean; readonly entry: number };

/** Changes that are undone together. */
export type UndoStep = {
  readonly changes: readonly DraftTextChange[];
  readonly before: EditorUndoState;
  readonly after: EditorUndoState;
};

/** The last action, where the effect of the next one depends on it. */
export type LastAction =
  | { readonly kind: 'none' | 'kill' | 'recall' }
  | { readonly kind: 'type' | 'erase'; readonly timeMs: number }
  | { readonly kind: 'yank'; readonly from: number; readonly to: number };

/** The state of the editor of the draft. */
export type DraftEditorState = DraftText & {
  /** Width of a visual row in columns. */
  readonly width: number;
  /** Column that moving up and down tries to keep. */
  readonly goalColumn: number | undefined;
  /** The text starts with a paste, so a leading `/`, `!` or `#` has no special meaning. */
  readonly isLiteral: boolean;
  readonly placeholders: PastePlaceholders;
  readonly kills: KillRing;
  readonly undo: readonly UndoStep[];
  readonly redo: readonly UndoStep[];
  readonly history: PromptHistoryNavigation;
  /** Suggested prompt, shown while the draft is empty. */
  readonly suggestedPrompt: string | undefined;
  readonly search: HistorySearch | undefined;
  readonly stash: readonly DraftText[];
  readonly lastAction: LastAction;
};

const MAX_UNDO_STEPS = 2000;

/** Creates the editor, with the draft and the history of the session. */
export function createDraftEditor(
  initial: {
    readonly draft?: DraftText;
    readonly placeholders?: PastePlaceholders;
    readonly history?: readonly string[];
    readonly width?: number;
  } = {},
): DraftEditorState {
  const text = initial.draft?.text ?? '';
  return {
    text,
    caret: findBoundaryAtOrAfter(text, initial.draft?.caret ?? text.length),
    width: initial.width ?? 78,
    goalColumn: undefined,
    isLiteral: false,
    placeholders: initial.placeholders ?? new Map(),
    kills: EMPTY_KILL_RING,
    undo: [],
    redo: [],
    history: { entries: initial.history ?? [], position: 0, edits: new Map() },
    suggestedPrompt: undefined,
    search: undefined,
    stash: [],
    lastAction: { kind: 'none' },
  };
}

/** A replacement of a part of the text. */
export type DraftTextReplacement = {
  readonly from: number;
  readonly to: number;
  readonly insert: string;
  /** Caret after the change; by default the end of the inserted text. */
  readonly caret?: number;
  readonly isLiteral?: boolean;
  readonly entry?: number;
  /** `join` adds the change to the previous undo step. */
  readonly step?: 'new' | 'join';
};

/** Replaces a part of the text and records the undo step. Every change of the text goes through this function. */
export function replaceDraftText(state: DraftEditorState, replacement: DraftTextReplacement): DraftEditorState {
  const { from, to, insert } = replacement;
  const removed = state.text.slice(from, to);
  const text = state.text.slice(0, from) + insert + state.text.slice(to);
  const caret = findBoundaryAtOrAfter(text, Math.min(text.length, replacement.caret ?? from + insert.length));
  const isLiteral = replacement.isLiteral ?? (state.isLiteral && from > 0);
  const entry = replacement.entry ?? state.history.position;
  const changed: DraftEditorState = {
    ...state,
    text,
    caret,
    isLiteral,
    goalColumn: undefined,
    history: { ...state.history, position: entry },
  };
  if (removed === insert && entry === state.history.position) return changed;
  const step: UndoStep = {
    changes: [{ at: from, removed, inserted: insert }],
    before: createMark(state),
    after: createMark(changed),
  };
  const previous = state.undo.at(-1);
  const undo =
    replacement.step === 'join' && previous !== undefined
      ? [...state.undo.slice(0, -1), joinSteps(previous, step)]
      : [...state.undo.slice(-MAX_UNDO_STEPS), step];
  return { ...changed, undo, redo: [] };
}

/** Undoes the last step. */
export function undoDraftEdit(state: DraftEditorState): DraftEditorState {
  const step = state.undo.at(-1);
  if (step === undefined) return state;
  let text = state.text;
  for (const { at, removed, inserted } of step.changes.toReversed()) {
    text = text.slice(0, at) + removed + text.slice(at + inserted.length);
  }
  return restoreMark({ ...state, undo: state.undo.slice(0, -1), redo: [...state.redo, step] }, text, step.before);
}

/** Redoes the step that was undone last. */
export function redoDraftEdit(state: DraftEditorState): DraftEditorState {
  const step = state.redo.at(-1);
  if (step === undefined) return state;
  let text = state.text;
  for (const { at, removed, inserted } of step.changes) {
    text = text.slice(0, at) + inserted + text.slice(at + removed.length);
  }
  return restoreMark({ ...state, redo: state.redo.slice(0, -1), undo: [...state.undo, step] }, text, step.after);
}

function restoreMark(state: DraftEditorState, text: string, mark: EditorUndoState): DraftEditorState {
  const { caret, isLiteral, entry } = mark;
  return { ...state, text, caret, isLiteral, goalColumn: undefined, history: { ...state.history, position: entry } };
}

function createMark(state: DraftEditorState): EditorUndoState {
  return { caret: state.caret, isLiteral: state.isLiteral, entry: state.history.position };
}

/** Joins two undo steps. Typing extends the last change instead of adding one per character. */
function joinSteps(step: UndoStep, next: UndoStep): UndoStep {
  const last = step.changes.at(-1);
  const added = next.changes[0];
  if (last && added && added.removed === '' && added.at === last.at + last.inserted.length) {
    const extended: DraftTextChange = { ...last, inserted: last.inserted + added.inserted };
    return { changes: [...step.changes.slice(0, -1), extended], before: step.before, after: next.after };
  }
  return { changes: [...step.changes, ...next.changes], before: step.before, after: next.after };
}

/** Deleted texts, newest first, and the index of the one that a yank inserts. */
type KillRing = { readonly entries: readonly string[]; readonly index: number };

const MAX_ENTRIES = 32;

/** A kill ring without entries. */
const EMPTY_KILL_RING: KillRing = { entries: [], index: 0 };

/** Adds a deletion as a new entry. */
export function pushKill(ring: KillRing, text: string): KillRing {
  if (text === '') return ring;
  return { entries: [text, ...ring.entries].slice(0, MAX_ENTRIES), index: 0 };
}

/** Adds a deletion to the newest entry, so that consecutive deletions are yanked together. */
export function extendKill(ring: KillRing, text: string, side: 'before' | 'after'): KillRing {
  const [newest = '', ...older] = ring.entries;
  return { entries: [side === 'before' ? text + newest : newest + text, ...older], index: 0 };
}

/** Rotates the ring by one entry, for yank-pop. */
export function rotateKillRing(ring: KillRing): KillRing {
  return { ...ring, index: ring.entries.length === 0 ? 0 : (ring.index + 1) % ring.entries.length };
}

/** Returns the text that a yank inserts. */
export function getCurrentKill(ring: KillRing): string {
  return ring.entries[ring.index] ?? '';
}
