import { exhaustive } from '../../lib/errors.ts';
import { moveQueuedToDraft } from '../app-state/message-text.ts';
import { isBusy, type KeyTimingState, type ViewState } from '../app-state/view-state.ts';
import { editDraft, sendDraft } from '../widgets/composer/draft-actions.ts';
import { applyDraftEditorAction } from '../widgets/composer/draft-editor-actions.ts';
import type { HistoryScope } from '../widgets/composer/draft-editor-state.ts';
import { findPlaceholderAtCaret } from '../widgets/composer/paste.ts';
import { getSuggestion } from '../widgets/composer/prompt-history.ts';
import { hasCallEnded } from '../widgets/tool-calls/tool-entry.ts';
import { type InputContext, type InputResult, type UiEffect, withEffects, withoutEffects } from './input-result.ts';
import type { KeyCommand } from './key-actions.ts';

/** The scope that the history search switches to when it is requested again. */
const NEXT_SCOPE: Readonly<Record<HistoryScope, HistoryScope>> = { folder: 'all', all: 'session', session: 'folder' };

/** Tools whose calls can be moved to the background. */
const BACKGROUND_TOOLS: readonly string[] = ['Bash', 'Task', 'Agent'];
/** Permission modes that the mode key cycles through. */
const MODES: readonly string[] = ['default', 'acceptEdits', 'plan'];

/** Runs the command that a key is bound to. */
export function runKeyCommand(view: ViewState, command: KeyCommand, context: InputContext): InputResult {
  const { editor } = view;
  switch (command) {
    case 'send':
      if (editor.search !== undefined) return editDraft(view, { type: 'search-accept' }, context);
      return editor.text.charAt(editor.caret - 1) === '\\'
        ? continueLine(view, context)
        : sendDraft(view, 'next', context.nowMs);
    case 'send_after':
      return isBusy(view)
        ? sendDraft(view, 'after', context.nowMs)
        : editDraft(view, { type: 'insert', text: '\n' }, context);
    case 'newline':
      return editDraft(view, { type: 'insert', text: '\n' }, context);
    case 'escape':
      if (editor.search !== undefined) return editDraft(view, { type: 'search-cancel' }, context);
      return handleEscape(view, context.nowMs);
    case 'interrupt':
      return handleInterrupt(view, context.nowMs);
    case 'leave_or_delete':
      return editor.text === ''
        ? handleExitKey(view, context.nowMs)
        : editDraft(view, { type: 'delete', what: 'right' }, context);
    case 'up':
      if (editor.search !== undefined) return editDraft(view, { type: 'search-older' }, context);
      if (editor.text === '' && view.queue.length > 0) return moveQueuedToDraft(view, 'last');
      return editDraft(view, { type: 'up' }, context);
    case 'down':
      if (editor.search !== undefined) return editDraft(view, { type: 'search-newer' }, context);
      return editDraft(view, { type: 'down' }, context);
    case 'complete':
      return editDraft(view, { type: 'accept-suggestion' }, context);
    case 'right':
    case 'end':
      if (getSuggestion(editor) !== undefined) return editDraft(view, { type: 'accept-suggestion' }, context);
      return editDraft(view, { type: 'move', to: command === 'right' ? 'right' : 'line-end' }, context);
    case 'cycle_mode': {
      const modes = view.facts.hasAutoMode === true ? [...MODES, 'auto'] : MODES;
      return withEffects(view, {
        type: 'mode',
        mode: modes[(modes.indexOf(view.facts.mode) + 1) % modes.length] ?? 'default',
      });
    }
    case 'answer_or_yank':
      return editDraft(view, { type: 'yank' }, context);
    case 'history_search':
      return editor.search === undefined
        ? withEffects(editDraft(view, { type: 'search', query: '' }, context).view, { type: 'recall', scope: 'folder' })
        : withEffects(view, { type: 'recall', scope: NEXT_SCOPE[editor.search.scope] });
    case 'background_or_left':
      return view.pieces.some((piece) => piece.kind === 'tool' && BACKGROUND_TOOLS.includes(piece.entry.tool))
        ? withEffects(view, { type: 'background' })
        : editDraft(view, { type: 'move', to: 'left' }, context);
    case 'look_at_paste': {
      const fold = findPlaceholderAtCaret(editor)?.placeholder;
      return fold?.kind === 'paste' ? withEffects(view, { type: 'view_paste', text: fold.text }) : withoutEffects(view);
    }
    case 'model_menu':
      return withEffects(view, { type: 'command', line: 'model' });
    case 'drop_queued':
      return view.queue.length === 0
        ? withoutEffects(view)
        : withEffects(view, { type: 'unqueue', id: view.queue.at(-1)?.id ?? '' });
    case 'drop_context':
      return withEffects({ ...view, editorContext: undefined }, { type: 'drop_context' });
    case 'edit_all_queued':
      return moveQueuedToDraft(view, 'all');
    case 'tasks':
      return withoutEffects({ ...view, todosShown: view.todosShown === 'row' ? 'column' : 'row' });
    case 'transcript':
      return openTranscript(view);
    case 'suspend':
    case 'paste_image':
    case 'external_editor':
    case 'repaint':
      return withEffects(view, { type: command });
    default:
      return exhaustive(command);
  }
}

/** Opens the transcript of the running sub-agent, the list of several ones, or else the transcript of the session. */
function openTranscript(view: ViewState): InputResult {
  const [agent, another] = view.pieces.flatMap((piece) =>
    piece.kind === 'tool' && !hasCallEnded(piece.entry) && piece.entry.progress?.kind === 'agent'
      ? [piece.entry.progress]
      : [],
  );
  if (agent === undefined) return withEffects(view, { type: 'transcript' });
  return withEffects(
    view,
    another === undefined ? { type: 'watch', agentId: agent.agentId } : { type: 'command', line: 'agents' },
  );
}

/** Replaces the backslash before the caret by a newline. */
function continueLine(view: ViewState, context: InputContext): InputResult {
  const { editor } = view;
  const replaced = applyDraftEditorAction(
    editor,
    { type: 'replace', from: editor.caret - 1, to: editor.caret, text: '\n' },
    context.nowMs,
  );
  return withoutEffects({ ...view, editor: replaced });
}

const EXIT_ARMED_MS = 2000;
const REWIND_ARMED_MS = 500;
/** A little longer than a stopped process may take to exit. Until then, stopping again kills it. */
const KILL_ARMED_MS = 4000;

/** Handles ESC when nothing is open: stops the run; when idle, a second ESC opens the list of earlier messages. */
function handleEscape(view: ViewState, nowMs: number): InputResult {
  const kill = getKillEffects(view, nowMs);
  if (isBusy(view)) return stopRun(view, nowMs);
  if (view.editor.text !== '') return withEffects(view, ...kill);
  if (nowMs < view.keys.rewindArmedUntilMs) return withEffects(view, { type: 'command', line: 'rewind' });
  const armed: ViewState = {
    ...view,
    keys: { ...view.keys, rewindArmedUntilMs: nowMs + REWIND_ARMED_MS },
    hint: { text: 'esc again to rewind', untilMs: nowMs + EXIT_ARMED_MS },
  };
  return withEffects(armed, ...kill);
}

/** Handles Ctrl-C: stops the run, else clears the draft (undo restores it), else exits on the second press. */
function handleInterrupt(view: ViewState, nowMs: number): InputResult {
  if (isBusy(view) && view.activity.status !== 'stopping') return stopRun(view, nowMs);
  if (view.editor.search !== undefined)
    return withoutEffects({ ...view, editor: applyDraftEditorAction(view.editor, { type: 'search-cancel' }, nowMs) });
  if (view.editor.text !== '' && !isBusy(view)) {
    const keys: KeyTimingState = { ...view.keys, exitArmedUntilMs: 0 };
    const cleared: ViewState = {
      ...view,
      keys,
      overlay: undefined,
      editor: applyDraftEditorAction(view.editor, { type: 'clear' }, nowMs),
    };
    return withEffects(cleared, ...getKillEffects(view, nowMs));
  }
  const exit = handleExitKey(view, nowMs);
  return { view: exit.view, effects: [...getKillEffects(view, nowMs), ...exit.effects] };
}

/** Returns the effect that kills processes which were stopped a moment ago and still run. */
function getKillEffects({ keys }: ViewState, nowMs: number): readonly UiEffect[] {
  return nowMs < keys.exitingUntilMs ? [{ type: 'kill_stopping' }] : [];
}

/** Handles a key that exits: the first press shows a hint, the second one exits. */
function handleExitKey(view: ViewState, nowMs: number): InputResult {
  const isArmed = nowMs < view.keys.exitArmedUntilMs && view.hint !== undefined;
  return isArmed ? withEffects(view, { type: 'leave' }) : withoutEffects(armExit(view, nowMs));
}

/** Aborts the run and moves the queued messages back into the draft. */
function stopRun(view: ViewState, nowMs: number): InputResult {
  const restored = moveQueuedToDraft(view, 'all');
  const keys: KeyTimingState = { ...restored.view.keys, exitingUntilMs: nowMs + KILL_ARMED_MS };
  return {
    view: { ...restored.view, keys },
    effects: [...restored.effects, { type: 'abort' }, ...getKillEffects(view, nowMs)],
  };
}

function armExit(view: ViewState, nowMs: number): ViewState {
  const untilMs = nowMs + EXIT_ARMED_MS;
  const keys: KeyTimingState = { ...view.keys, exitArmedUntilMs: untilMs };
  return { ...view, keys, hint: { text: 'ctrl+c again to exit', untilMs } };
}
