import { exhaustive } from '../../lib/exhaustive.ts';
import { edit } from '../composer/edit.ts';
import type { HistoryScope } from '../composer/editor-state.ts';
import { foldAtCaret } from '../composer/paste.ts';
import { suggestion } from '../composer/recall.ts';
import type { Command } from '../keys/actions.ts';
import { hasEnded } from '../view/tool-entry.ts';
import { isBusy, type ViewState } from '../view/view-state.ts';
import { only, type Pressed, withEffects } from './effects.ts';
import { editDraft } from './press-composer.ts';
import type { PressContext } from './press-context.ts';
import { sendDraft } from './send.ts';
import { interruptRun, leaveKey, pressEscape, pullQueued } from './stop.ts';

/** Searched again, wider; then from the start. */
const NEXT_SCOPE: Readonly<Record<HistoryScope, HistoryScope>> = { folder: 'all', all: 'session', session: 'folder' };

/** Calls that can be sent to the background, by their tool. */
const LEAVING: readonly string[] = ['Bash', 'Task', 'Agent'];
const MODES: readonly string[] = ['default', 'acceptEdits', 'plan'];

/** What the keys of the composer do. */
export function performCommand(view: ViewState, command: Command, context: PressContext): Pressed {
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
      return pressEscape(view, context.nowMs);
    case 'interrupt':
      return interruptRun(view, context.nowMs);
    case 'leave_or_delete':
      return editor.text === ''
        ? leaveKey(view, context.nowMs)
        : editDraft(view, { type: 'delete', what: 'right' }, context);
    case 'up':
      if (editor.search !== undefined) return editDraft(view, { type: 'search-older' }, context);
      if (editor.text === '' && view.queue.length > 0) return pullQueued(view, 'last');
      return editDraft(view, { type: 'up' }, context);
    case 'down':
      if (editor.search !== undefined) return editDraft(view, { type: 'search-newer' }, context);
      return editDraft(view, { type: 'down' }, context);
    case 'complete':
      return editDraft(view, { type: 'accept-suggestion' }, context);
    case 'right':
    case 'end':
      if (suggestion(editor) !== undefined) return editDraft(view, { type: 'accept-suggestion' }, context);
      return editDraft(view, { type: 'move', to: command === 'right' ? 'right' : 'line-end' }, context);
    case 'cycle_mode': {
      const modes = view.facts.offersAuto === true ? [...MODES, 'auto'] : MODES;
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
      return view.pieces.some((piece) => piece.kind === 'tool' && LEAVING.includes(piece.entry.tool))
        ? withEffects(view, { type: 'background' })
        : editDraft(view, { type: 'move', to: 'left' }, context);
    case 'look_at_paste': {
      const fold = foldAtCaret(editor)?.fold;
      return fold?.kind === 'paste' ? withEffects(view, { type: 'view_paste', text: fold.text }) : only(view);
    }
    case 'model_menu':
      return withEffects(view, { type: 'command', line: 'model' });
    case 'drop_queued':
      return view.queue.length === 0
        ? only(view)
        : withEffects(view, { type: 'unqueue', id: view.queue.at(-1)?.id ?? '' });
    case 'edit_all_queued':
      return pullQueued(view, 'all');
    case 'tasks':
      return only({ ...view, todosShown: view.todosShown === 'row' ? 'column' : 'row' });
    case 'transcript':
      return look(view);
    case 'suspend':
    case 'paste_image':
    case 'external_editor':
    case 'repaint':
      return withEffects(view, { type: command });
    default:
      return exhaustive(command);
  }
}

/** The sub-agents at work, to read along; without any, everything that was said. */
function look(view: ViewState): Pressed {
  const [agent, another] = view.pieces.flatMap((piece) =>
    piece.kind === 'tool' && !hasEnded(piece.entry) && piece.entry.progress?.kind === 'agent'
      ? [piece.entry.progress]
      : [],
  );
  if (agent === undefined) return withEffects(view, { type: 'transcript' });
  return withEffects(
    view,
    another === undefined ? { type: 'watch', agentId: agent.agentId } : { type: 'command', line: 'agents' },
  );
}

/** A backslash at the end of a line means: the message goes on. */
function continueLine(view: ViewState, context: PressContext): Pressed {
  const { editor } = view;
  const replaced = edit(
    editor,
    { type: 'replace', from: editor.caret - 1, to: editor.caret, text: '\n' },
    context.nowMs,
  );
  return only({ ...view, editor: replaced });
}
