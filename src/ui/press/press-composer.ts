import { oneLine } from '../../lib/text/one-line.ts';
import { truncateEnd } from '../../lib/text/truncate.ts';
import { completionTarget } from '../composer/draft-kind.ts';
import { type EditorAction, edit } from '../composer/edit.ts';
import type { EditorState } from '../composer/editor-state.ts';
import { commandChoices } from '../view/overlay.ts';
import type { ViewState } from '../view/view-state.ts';
import { type Effect, only, type Pressed } from './effects.ts';
import type { PressContext } from './press-context.ts';

/** What was put aside is told for so long. */
const ASIDE_MS = 5000;
const ASIDE_COLUMNS = 24;

/** A change of the draft; the menu under it follows. */
export function editDraft(view: ViewState, action: EditorAction, context: PressContext): Pressed {
  const editor = edit(view.editor, action, context.nowMs);
  const next = { ...view, editor, ...(action.type === 'stash' ? asideHint(view.editor, editor, context.nowMs) : {}) };
  return editor.text === view.editor.text && editor.caret === view.editor.caret
    ? only(next)
    : followMenu(next, context);
}

/** What ctrl+s has put aside, or taken back. */
function asideHint(before: EditorState, after: EditorState, nowMs: number): Pick<ViewState, 'hint'> {
  const words = truncateEnd(oneLine(before.text.trim()), ASIDE_COLUMNS);
  const isAside = after.stash.length > before.stash.length;
  const left = after.stash.length === 0 ? '' : `, ${after.stash.length} more put aside`;
  const nothing = before.stash.length === 0 ? 'nothing was put aside' : `taken back${left}`;
  const text = isAside ? `put aside: ${words}   ctrl+s on an empty draft takes it back` : nothing;
  return { hint: { text, untilMs: nowMs + ASIDE_MS } };
}

/** A character typed into the draft. */
export function typeText(view: ViewState, text: string, context: PressContext): Pressed {
  if (text === '?' && view.editor.text === '' && view.overlay === undefined && !isLent(view)) {
    return only({ ...view, overlay: { kind: 'help', filter: '', isFiltering: false } });
  }
  const { search } = view.editor;
  if (search !== undefined) return editDraft(view, { type: 'search', query: search.query + text }, context);
  return editDraft(view, { type: 'insert', text }, context);
}

/** Opens, keeps or closes the menu according to the word at the caret. */
function followMenu(view: ViewState, { commands }: PressContext): Pressed {
  const target = isLent(view) || view.editor.search !== undefined ? undefined : completionTarget(view.editor);
  if (target === undefined) return only(view.overlay?.kind === 'menu' ? { ...view, overlay: undefined } : view);
  if (target.kind === 'command') {
    const choices = commandChoices(commands, target.query);
    return only({
      ...view,
      overlay: choices.length === 0 ? undefined : { kind: 'menu', target, choices, selected: -1 },
    });
  }
  const kept = view.overlay?.kind === 'menu' && view.overlay.target.kind === 'file' ? view.overlay.choices : [];
  const effects: readonly Effect[] = [{ type: 'find_files', query: target.query }];
  return { view: { ...view, overlay: { kind: 'menu', target, choices: kept, selected: -1 } }, effects };
}

/** Files for the `@` menu have been found; too late when the word has changed meanwhile. */
export function filesFound(view: ViewState, query: string, paths: readonly string[]): ViewState {
  const { overlay } = view;
  if (overlay?.kind !== 'menu' || overlay.target.kind !== 'file' || overlay.target.query !== query) return view;
  if (paths.length === 0) return { ...view, overlay: undefined };
  return {
    ...view,
    overlay: { ...overlay, choices: paths.map((path) => ({ id: path, label: path, detail: '' })), selected: -1 },
  };
}

/** Is a dialog using the composer for its own words? */
function isLent({ attention }: ViewState): boolean {
  return attention.stage === 'open' && attention.form.writing !== 'nothing';
}
