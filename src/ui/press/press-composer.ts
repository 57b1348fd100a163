import { oneLine } from '../../lib/text/one-line.ts';
import { truncateEnd } from '../../lib/text/truncate.ts';
import { argumentTarget, completionTarget } from '../composer/draft-kind.ts';
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
  const completes = (name: string) => commands.some((command) => command.name === name && command.completes === true);
  const target =
    isLent(view) || view.editor.search !== undefined
      ? undefined
      : (completionTarget(view.editor) ?? argumentTarget(view.editor, completes));
  if (target === undefined) return only(view.overlay?.kind === 'menu' ? { ...view, overlay: undefined } : view);
  if (target.kind === 'command') {
    const choices = commandChoices(commands, target.query);
    return only({
      ...view,
      overlay: choices.length === 0 ? undefined : { kind: 'menu', target, choices, selected: -1 },
    });
  }
  const { kind, query } = target;
  const kept = view.overlay?.kind === 'menu' && view.overlay.target.kind === kind ? view.overlay.choices : [];
  const effects: readonly Effect[] = [
    kind === 'file' ? { type: 'find_files', query } : { type: 'find_arguments', line: query },
  ];
  return { view: { ...view, overlay: { kind: 'menu', target, choices: kept, selected: -1 } }, effects };
}

/** Files for the `@` menu, or arguments, have been found; too late when the word has changed meanwhile. */
export function choicesFound(
  view: ViewState,
  kind: 'file' | 'argument',
  query: string,
  found: readonly string[],
): ViewState {
  const { overlay } = view;
  if (overlay?.kind !== 'menu' || overlay.target.kind !== kind || overlay.target.query !== query) return view;
  if (found.length === 0) return { ...view, overlay: undefined };
  return {
    ...view,
    overlay: { ...overlay, choices: found.map((id) => ({ id, label: id, detail: '' })), selected: -1 },
  };
}

/** Is a dialog using the composer for its own words? */
function isLent({ attention }: ViewState): boolean {
  return attention.stage === 'open' && attention.form.writing !== 'nothing';
}
