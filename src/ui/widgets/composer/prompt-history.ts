import { type DraftEditorState, type DraftText, type HistoryScope, replaceDraftText } from './draft-editor-state.ts';

/** Shows the next older or newer entry of the history; the draft is after the newest entry. */
export function recallEntry(state: DraftEditorState, direction: 'older' | 'newer'): DraftEditorState {
  return goToEntry(state, state.history.position + (direction === 'older' ? 1 : -1));
}

/** Shows an entry. The text on screen is kept and shown again on the way back. */
function goToEntry(state: DraftEditorState, entry: number): DraftEditorState {
  const { entries, position, edits } = state.history;
  if (entry === position || entry < 0 || entry > entries.length) return state;
  const saved = new Map(edits).set(position, { text: state.text, caret: state.caret });
  const target = saved.get(entry) ?? createEntryDraft(entries, entry);
  const shown = replaceDraft({ ...state, history: { ...state.history, edits: saved } }, target, entry);
  return { ...shown, lastAction: { kind: 'recall' } };
}

/** Replaces the whole draft as one undo step. */
export function replaceDraft(state: DraftEditorState, draft: DraftText, entry?: number): DraftEditorState {
  return replaceDraftText(state, {
    from: 0,
    to: state.text.length,
    insert: draft.text,
    caret: draft.caret,
    isLiteral: false,
    entry: entry ?? state.history.position,
  });
}

/** Opens the history search, or updates its query. */
export function searchHistory(state: DraftEditorState, query: string): DraftEditorState {
  const scope = state.search?.scope ?? 'folder';
  return { ...state, search: { query, scope, found: findEntry(state.history.entries, query, 1) } };
}

/** Moves to the next older match; stays when there is none. */
export function selectOlderHistoryMatch(state: DraftEditorState): DraftEditorState {
  if (state.search === undefined) return state;
  const older = findEntry(state.history.entries, state.search.query, (state.search.found ?? 0) + 1);
  return older === undefined ? state : { ...state, search: { ...state.search, found: older } };
}

/** Moves to the next newer match; stays when there is none. */
export function selectNewerHistoryMatch(state: DraftEditorState): DraftEditorState {
  if (state.search?.found === undefined) return state;
  const { entries } = state.history;
  for (let entry = state.search.found - 1; entry > 0; entry -= 1) {
    const newer = findEntry(entries.slice(0, entries.length - entry + 1), state.search.query, 1);
    if (newer === 1) return { ...state, search: { ...state.search, found: entry } };
  }
  return state;
}

/** Repeats the search in another scope, whose entries are already in the state. */
export function setSearchScope(state: DraftEditorState, scope: HistoryScope): DraftEditorState {
  if (state.search === undefined) return state;
  const found = findEntry(state.history.entries, state.search.query, 1);
  return { ...state, search: { ...state.search, scope, found } };
}

/** Closes the search and shows the match. */
export function acceptHistorySearch(state: DraftEditorState): DraftEditorState {
  const found = state.search?.found;
  const closed: DraftEditorState = { ...state, search: undefined };
  return found === undefined ? closed : goToEntry(closed, found);
}

/** Returns the text of the current match, for display while the search is open. */
export function getHistorySearchMatch(state: DraftEditorState): string | undefined {
  const found = state.search?.found;
  return found === undefined ? undefined : state.history.entries.at(-found);
}

/** Returns the inline suggestion: the suggested prompt, or the rest of an earlier message. */
export function getSuggestion(state: DraftEditorState): string | undefined {
  const { text, caret } = state;
  if (text === '' && state.history.position === 0) return state.suggestedPrompt;
  if (text === '' || caret !== text.length || state.history.position !== 0) return undefined;
  const entry = state.history.entries.findLast(
    (candidate) => candidate.length > text.length && candidate.startsWith(text),
  );
  return entry?.slice(text.length);
}

/** Stashes the draft. On an empty draft, restores the draft that was stashed last. */
export function stashOrPop(state: DraftEditorState): DraftEditorState {
  if (state.text !== '') {
    const draft: DraftText = { text: state.text, caret: state.caret };
    return replaceDraft({ ...state, stash: [...state.stash, draft] }, { text: '', caret: 0 });
  }
  const draft = state.stash.at(-1);
  return draft === undefined ? state : replaceDraft({ ...state, stash: state.stash.slice(0, -1) }, draft);
}

function createEntryDraft(entries: readonly string[], entry: number): DraftText {
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
