import { type DraftText, type EditorState, type HistoryScope, replaceText } from './editor-state.ts';

/** The next older or newer entry of the history; the draft is the newest of all. */
export function recallEntry(state: EditorState, way: 'older' | 'newer'): EditorState {
  return goToEntry(state, state.recall.at + (way === 'older' ? 1 : -1));
}

/** Shows an entry. What is on screen is kept and shown again on the way back. */
function goToEntry(state: EditorState, entry: number): EditorState {
  const { entries, at, edits } = state.recall;
  if (entry === at || entry < 0 || entry > entries.length) return state;
  const kept = new Map(edits).set(at, { text: state.text, caret: state.caret });
  const target = kept.get(entry) ?? entryDraft(entries, entry);
  const shown = replaceAll({ ...state, recall: { ...state.recall, edits: kept } }, target, entry);
  return { ...shown, last: { kind: 'recall' } };
}

/** Another text in the place of the whole draft, undoable. */
export function replaceAll(state: EditorState, draft: DraftText, entry?: number): EditorState {
  return replaceText(state, {
    from: 0,
    to: state.text.length,
    insert: draft.text,
    caret: draft.caret,
    literal: false,
    entry: entry ?? state.recall.at,
  });
}

/** Opens the search, or takes over a longer or shorter query. */
export function searchFor(state: EditorState, query: string): EditorState {
  const scope = state.search?.scope ?? 'folder';
  return { ...state, search: { query, scope, found: findEntry(state.recall.entries, query, 1) } };
}

/** The next older entry that holds the query; stays when there is none. */
export function searchOlder(state: EditorState): EditorState {
  if (state.search === undefined) return state;
  const older = findEntry(state.recall.entries, state.search.query, (state.search.found ?? 0) + 1);
  return older === undefined ? state : { ...state, search: { ...state.search, found: older } };
}

/** The next newer entry that holds the query; stays when there is none. */
export function searchNewer(state: EditorState): EditorState {
  if (state.search?.found === undefined) return state;
  const { entries } = state.recall;
  for (let entry = state.search.found - 1; entry > 0; entry -= 1) {
    const newer = findEntry(entries.slice(0, entries.length - entry + 1), state.search.query, 1);
    if (newer === 1) return { ...state, search: { ...state.search, found: entry } };
  }
  return state;
}

/** Searches other messages: those of this session, of this folder, of all. */
export function searchIn(state: EditorState, scope: HistoryScope): EditorState {
  if (state.search === undefined) return state;
  const found = findEntry(state.recall.entries, state.search.query, 1);
  return { ...state, search: { ...state.search, scope, found } };
}

/** Closes the search with what it found in the draft. */
export function acceptSearch(state: EditorState): EditorState {
  const found = state.search?.found;
  const closed = { ...state, search: undefined };
  return found === undefined ? closed : goToEntry(closed, found);
}

/** The text a search has found so far, to be shown while it is open. */
export function searchMatch(state: EditorState): string | undefined {
  const found = state.search?.found;
  return found === undefined ? undefined : state.recall.entries.at(-found);
}

/** The rest of the newest earlier message that starts with this draft, while the caret is at the end; on an empty one what is offered. */
export function suggestion(state: EditorState): string | undefined {
  const { text, caret } = state;
  if (text === '' && state.recall.at === 0) return state.offered;
  if (text === '' || caret !== text.length || state.recall.at !== 0) return undefined;
  const entry = state.recall.entries.findLast(
    (candidate) => candidate.length > text.length && candidate.startsWith(text),
  );
  return entry?.slice(text.length);
}

/** Puts the draft aside; an empty draft brings back what was put aside last. */
export function stashOrPop(state: EditorState): EditorState {
  if (state.text !== '') {
    const draft = { text: state.text, caret: state.caret };
    return replaceAll({ ...state, stash: [...state.stash, draft] }, { text: '', caret: 0 });
  }
  const draft = state.stash.at(-1);
  return draft === undefined ? state : replaceAll({ ...state, stash: state.stash.slice(0, -1) }, draft);
}

function entryDraft(entries: readonly string[], entry: number): DraftText {
  const text = entry === 0 ? '' : (entries.at(-entry) ?? '');
  return { text, caret: text.length };
}

function findEntry(entries: readonly string[], query: string, from: number): number | undefined {
  if (query === '') return undefined;
  const wanted = query.toLowerCase();
  for (let entry = from; entry <= entries.length; entry += 1) {
    if (entries.at(-entry)?.toLowerCase().includes(wanted)) return entry;
  }
  return undefined;
}
