import { boundaryAtOrAfter } from './boundaries.ts';
import type { Folds } from './folds.ts';
import { EMPTY_KILL_RING, type KillRing } from './kill-ring.ts';

/** A text with the place of the caret in it: what is stashed, recalled and journalled. */
export type DraftText = { readonly text: string; readonly caret: number };

/** Earlier messages, oldest first. `at` counts back from the draft: 0 is the draft, 1 the newest entry. */
export type Recall = {
  readonly entries: readonly string[];
  readonly at: number;
  /** What became of the entries (and of the draft) while they were on screen; kept until a message is sent. */
  readonly edits: ReadonlyMap<number, DraftText>;
};

/** Whose earlier messages are searched. */
export type HistoryScope = 'session' | 'folder' | 'all';

/** A search through the history in progress. */
export type HistorySearch = {
  readonly query: string;
  readonly scope: HistoryScope;
  readonly found: number | undefined;
};

export type EditorChange = { readonly at: number; readonly removed: string; readonly inserted: string };

/** The facts of a draft that undo brings back besides its text. */
export type Mark = { readonly caret: number; readonly literal: boolean; readonly entry: number };

export type UndoStep = { readonly changes: readonly EditorChange[]; readonly before: Mark; readonly after: Mark };

/** What the last action was, where the next one depends on it. */
export type LastAction =
  | { readonly kind: 'none' | 'kill' | 'recall' }
  | { readonly kind: 'type' | 'erase'; readonly timeMs: number }
  | { readonly kind: 'yank'; readonly from: number; readonly to: number };

/** The whole editor as a value. */
export type EditorState = DraftText & {
  /** Columns of a visual row. */
  readonly width: number;
  /** The column that moving up and down tries to keep. */
  readonly goal: number | undefined;
  /** The text begins with a paste, so a `/` or `!` there is only a character. */
  readonly literal: boolean;
  readonly folds: Folds;
  readonly kills: KillRing;
  readonly undo: readonly UndoStep[];
  readonly redo: readonly UndoStep[];
  readonly recall: Recall;
  /** A next step, offered as long as nothing is written. */
  readonly offered: string | undefined;
  readonly search: HistorySearch | undefined;
  readonly stash: readonly DraftText[];
  readonly last: LastAction;
};

const UNDO_STEPS = 2000;

/** An editor, empty unless a draft is given. */
export function createEditor(
  start: {
    readonly draft?: DraftText;
    readonly folds?: Folds;
    readonly history?: readonly string[];
    readonly width?: number;
  } = {},
): EditorState {
  const text = start.draft?.text ?? '';
  return {
    text,
    caret: boundaryAtOrAfter(text, start.draft?.caret ?? text.length),
    width: start.width ?? 78,
    goal: undefined,
    literal: false,
    folds: start.folds ?? new Map(),
    kills: EMPTY_KILL_RING,
    undo: [],
    redo: [],
    recall: { entries: start.history ?? [], at: 0, edits: new Map() },
    offered: undefined,
    search: undefined,
    stash: [],
    last: { kind: 'none' },
  };
}

export type Replacement = {
  readonly from: number;
  readonly to: number;
  readonly insert: string;
  /** Where the caret goes; behind the inserted text unless said otherwise. */
  readonly caret?: number;
  readonly literal?: boolean;
  readonly entry?: number;
  /** `join` makes it part of the step before it. */
  readonly step?: 'new' | 'join';
};

/** The only door through which a text changes: it records the step that undoes the change. */
export function replaceText(state: EditorState, replacement: Replacement): EditorState {
  const { from, to, insert } = replacement;
  const removed = state.text.slice(from, to);
  const text = state.text.slice(0, from) + insert + state.text.slice(to);
  const caret = boundaryAtOrAfter(text, Math.min(text.length, replacement.caret ?? from + insert.length));
  const literal = replacement.literal ?? (state.literal && from > 0);
  const entry = replacement.entry ?? state.recall.at;
  const moved = { ...state, text, caret, literal, goal: undefined, recall: { ...state.recall, at: entry } };
  if (removed === insert && entry === state.recall.at) return moved;
  const step: UndoStep = {
    changes: [{ at: from, removed, inserted: insert }],
    before: markOf(state),
    after: markOf(moved),
  };
  const previous = state.undo.at(-1);
  const undo =
    replacement.step === 'join' && previous !== undefined
      ? [...state.undo.slice(0, -1), joined(previous, step)]
      : [...state.undo.slice(-UNDO_STEPS), step];
  return { ...moved, undo, redo: [] };
}

/** One step back. */
export function undoStep(state: EditorState): EditorState {
  const step = state.undo.at(-1);
  if (step === undefined) return state;
  let text = state.text;
  for (const { at, removed, inserted } of step.changes.toReversed()) {
    text = text.slice(0, at) + removed + text.slice(at + inserted.length);
  }
  return restored({ ...state, undo: state.undo.slice(0, -1), redo: [...state.redo, step] }, text, step.before);
}

/** One step forward again. */
export function redoStep(state: EditorState): EditorState {
  const step = state.redo.at(-1);
  if (step === undefined) return state;
  let text = state.text;
  for (const { at, removed, inserted } of step.changes) {
    text = text.slice(0, at) + inserted + text.slice(at + removed.length);
  }
  return restored({ ...state, redo: state.redo.slice(0, -1), undo: [...state.undo, step] }, text, step.after);
}

function restored(state: EditorState, text: string, mark: Mark): EditorState {
  const { caret, literal, entry } = mark;
  return { ...state, text, caret, literal, goal: undefined, recall: { ...state.recall, at: entry } };
}

function markOf(state: EditorState): Mark {
  return { caret: state.caret, literal: state.literal, entry: state.recall.at };
}

/** Typing grows one change instead of adding one per character. */
function joined(step: UndoStep, next: UndoStep): UndoStep {
  const last = step.changes.at(-1);
  const added = next.changes[0];
  if (last && added && added.removed === '' && added.at === last.at + last.inserted.length) {
    const grown = { ...last, inserted: last.inserted + added.inserted };
    return { changes: [...step.changes.slice(0, -1), grown], before: step.before, after: next.after };
  }
  return { changes: [...step.changes, ...next.changes], before: step.before, after: next.after };
}
