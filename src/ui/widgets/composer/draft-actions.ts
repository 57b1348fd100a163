import { formatOneLine } from '../../../lib/text/format.ts';
import { truncateEnd } from '../../../lib/text/text-width.ts';
import { filterCommands } from '../../app-state/overlay.ts';
import { isBusy, type ViewState } from '../../app-state/view-state.ts';
import {
  type InputContext,
  type InputResult,
  type UiEffect,
  withEffects,
  withoutEffects,
} from '../../input/input-result.ts';

import { classifyDraft, findCompletableArgument, findCompletionTarget } from './classify-draft.ts';
import { applyDraftEditorAction, type DraftEditorAction } from './draft-editor-actions.ts';
import type { DraftEditorState } from './draft-editor-state.ts';
import { expandPlaceholders, splitDraftIntoParts } from './paste-placeholders.ts';

const STASH_HINT_MS = 5000;
const STASH_HINT_COLUMNS = 24;

/** Applies an editing action to the draft and updates the menu under it. */
export function editDraft(view: ViewState, action: DraftEditorAction, context: InputContext): InputResult {
  const editor = applyDraftEditorAction(view.editor, action, context.nowMs);
  const next: ViewState = {
    ...view,
    editor,
    ...(action.type === 'stash' ? formatStashHint(view.editor, editor, context.nowMs) : {}),
  };
  return editor.text === view.editor.text && editor.caret === view.editor.caret
    ? withoutEffects(next)
    : updateMenu(next, context);
}

/** Returns the hint after a draft was stashed or restored. */
function formatStashHint(before: DraftEditorState, after: DraftEditorState, nowMs: number): Pick<ViewState, 'hint'> {
  const excerpt = truncateEnd(formatOneLine(before.text.trim()), STASH_HINT_COLUMNS);
  const isStashed = after.stash.length > before.stash.length;
  const left = after.stash.length === 0 ? '' : `, ${after.stash.length} more stashed`;
  const restored = before.stash.length === 0 ? 'nothing is stashed' : `restored${left}`;
  const text = isStashed ? `stashed: ${excerpt}   ctrl+s on an empty draft restores it` : restored;
  return { hint: { text, untilMs: nowMs + STASH_HINT_MS } };
}

/** Handles a typed character: inserts it, extends the search query, or opens the help for `?` on an empty draft. */
export function typeIntoDraft(view: ViewState, text: string, context: InputContext): InputResult {
  if (text === '?' && view.editor.text === '' && view.overlay === undefined && !isUsedByDialog(view)) {
    return withoutEffects({ ...view, overlay: { kind: 'help', filter: '', isFiltering: false } });
  }
  const { search } = view.editor;
  if (search !== undefined) return editDraft(view, { type: 'search', query: search.query + text }, context);
  return editDraft(view, { type: 'insert', text }, context);
}

/** Lists the names of commands in the history, newest first. */
function listRecentCommands(entries: readonly string[]): readonly string[] {
  const names = entries.flatMap((entry) => /^\/([\w:-]+)/.exec(entry)?.[1] ?? []);
  return [...new Set(names.toReversed())];
}

/** Opens, updates or closes the menu according to the word at the caret. */
function updateMenu(view: ViewState, context: InputContext): InputResult {
  const canComplete = (name: string) =>
    context.commands.some((command) => command.name === name && command.completes === true);
  const target =
    isUsedByDialog(view) || view.editor.search !== undefined
      ? undefined
      : (findCompletionTarget(view.editor) ?? findCompletableArgument(view.editor, canComplete));
  if (target === undefined)
    return withoutEffects(view.overlay?.kind === 'menu' ? { ...view, overlay: undefined } : view);
  if (target.kind === 'command') {
    const choices = filterCommands(context.commands, target.query, listRecentCommands(view.editor.history.entries));
    return withoutEffects({
      ...view,
      overlay: choices.length === 0 ? undefined : { kind: 'menu', target, choices, selected: 0 },
    });
  }
  const { kind, query } = target;
  const previous = view.overlay?.kind === 'menu' && view.overlay.target.kind === kind ? view.overlay.choices : [];
  const effects: readonly UiEffect[] = [
    kind === 'file' ? { type: 'find_files', query } : { type: 'find_arguments', line: query },
  ];
  return { view: { ...view, overlay: { kind: 'menu', target, choices: previous, selected: -1 } }, effects };
}

/** Shows found files or arguments in the menu, unless the word has changed in the meantime. */
export function showMenuChoices(
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
    overlay: {
      ...overlay,
      choices: found.map((id) => ({ id, label: id, detail: '' })),
      // Enter sends a typed argument unchanged, and completes a file.
      selected: kind === 'file' ? 0 : -1,
    },
  };
}

/** Reports whether a dialog uses the composer for its own text. */
function isUsedByDialog({ dialog }: ViewState): boolean {
  return dialog.stage === 'open' && dialog.form.typing !== 'nothing';
}

/** Words that exit other programs. */
const EXIT_WORDS: ReadonlySet<string> = new Set(['exit', 'quit', ':q', ':q!', ':wq']);

/** Sends the draft as what it is: a message, a command, a shell line or a note. */
export function sendDraft(view: ViewState, lane: 'next' | 'after', nowMs: number): InputResult {
  const { editor } = view;
  const text = expandPlaceholders(editor.text, editor.placeholders).trim();
  const kind = classifyDraft(editor);
  if (kind === 'empty') {
    const continues = (view.lastRunEnd === 'stopped' || view.lastRunEnd === 'limited') && !isBusy(view);
    return continues
      ? withEffects({ ...view, lastRunEnd: 'ended' }, { type: 'continue', text: '' })
      : withoutEffects(view);
  }
  if (EXIT_WORDS.has(text) && !isBusy(view))
    return withEffects(
      { ...view, editor: applyDraftEditorAction(editor, { type: 'clear' }, nowMs) },
      { type: 'leave' },
    );
  const hasFailed = view.lastRunEnd === 'failed' && !isBusy(view);
  const sent: ViewState = {
    ...view,
    overlay: undefined,
    editor: applyDraftEditorAction(editor, { type: 'sent', entry: text }, nowMs),
  };
  // As in a shell, a line that starts with a space is not stored in the history.
  const remember: readonly UiEffect[] = editor.text.startsWith(' ') ? [] : [{ type: 'remember', text: text }];
  switch (kind) {
    case 'command':
      return { view: sent, effects: [...remember, { type: 'command', line: text.slice(1) }] };
    case 'shell': {
      const command = text.slice(1).trim();
      return command === '' ? withoutEffects(view) : { view: sent, effects: [...remember, { type: 'shell', command }] };
    }
    case 'memory':
      return { view: sent, effects: [...remember, { type: 'command', line: `memory ${text.slice(1).trim()}` }] };
    default: {
      // The conversation already contains the failed prompt, so it is not sent a second time.
      const isSame = hasFailed && text === view.lastPrompt.trim();
      if (isSame) return withEffects({ ...sent, lastRunEnd: 'ended' }, { type: 'continue', text: text });
      const parts = splitDraftIntoParts(editor.text.trim(), editor.placeholders);
      if (hasFailed) return { view: sent, effects: [...remember, { type: 'prompt_instead', parts }] };
      const type = !isBusy(view) ? 'prompt' : lane === 'next' ? 'steer' : 'follow_up';
      return { view: sent, effects: [...remember, { type, parts }] };
    }
  }
}

/** Runs the command chosen in the menu, and remembers it in the history. */
export function runChosenMenuCommand(view: ViewState, line: string): InputResult {
  const editor = applyDraftEditorAction(view.editor, { type: 'sent', entry: `/${line}` }, 0);
  return {
    view: { ...view, overlay: undefined, editor },
    effects: [
      { type: 'remember', text: `/${line}` },
      { type: 'command', line },
    ],
  };
}
