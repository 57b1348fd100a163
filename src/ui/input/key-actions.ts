import type { DraftEditorAction } from '../widgets/composer/draft-editor-actions.ts';

/** A command that a key can run. Editing actions are applied to the draft directly. */
export type KeyCommand =
  | 'send'
  | 'send_after'
  | 'newline'
  | 'escape'
  | 'interrupt'
  | 'leave_or_delete'
  | 'suspend'
  | 'up'
  | 'down'
  | 'complete'
  | 'cycle_mode'
  | 'answer_or_yank'
  | 'transcript'
  | 'tasks'
  | 'background_or_left'
  | 'external_editor'
  | 'paste_image'
  | 'repaint'
  | 'history_search'
  | 'right'
  | 'end'
  | 'look_at_paste'
  | 'model_menu'
  | 'drop_queued'
  | 'drop_context'
  | 'edit_all_queued';

/** The effect of a key: a command or an editing action. */
export type KeyBinding = KeyCommand | DraftEditorAction;

type Action = { readonly binding: KeyBinding; readonly description: string; readonly group: KeyActionGroup };

/** The sections of the list of keys in docs/keys.md. */
export const KEY_ACTION_GROUPS = ['Messages', 'Cursor', 'Editing', 'During a turn', 'View', 'Session'] as const;
/** One section of the list of keys. */
export type KeyActionGroup = (typeof KEY_ACTION_GROUPS)[number];

/** Everything that a key can be bound to, by the name used in the settings. */
export const KEY_ACTIONS = {
  send: createAction('Messages', 'send', 'send the message; during a turn: after the running tool'),
  'send-after': createAction('Messages', 'send_after', 'insert a newline; during a turn: send when the turn ends'),
  newline: createAction('Messages', 'newline', 'insert a newline'),
  complete: createAction('Messages', 'complete', 'accept the suggestion or the menu entry'),
  older: createAction('Messages', { type: 'older' }, 'previous message'),
  newer: createAction('Messages', { type: 'newer' }, 'next message, then the draft'),
  'history-search': createAction(
    'Messages',
    'history_search',
    'search earlier messages of this folder; again: of all folders, of this session',
  ),
  'drop-context': createAction('Messages', 'drop_context', "remove the editor's file and selection from the context"),
  'external-editor': createAction('Messages', 'external_editor', 'edit the draft in $VISUAL or $EDITOR'),
  'paste-image': createAction('Messages', 'paste_image', 'paste the image from the clipboard'),
  stash: createAction('Messages', { type: 'stash' }, 'stash the draft; on an empty draft: restore it'),
  'expand-paste': createAction('Messages', { type: 'expand' }, 'expand a collapsed paste'),
  'look-at-paste': createAction('Messages', 'look_at_paste', 'view a collapsed paste'),
  up: createAction('Cursor', 'up', 'move up a row; from the first row: previous message'),
  down: createAction('Cursor', 'down', 'move down a row; from the last row: next message'),
  left: createAction('Cursor', { type: 'move', to: 'left' }, 'move left'),
  right: createAction('Cursor', 'right', 'move right; at the end: accept the suggestion'),
  'char-right': createAction('Cursor', { type: 'move', to: 'right' }, 'move right'),
  'word-left': createAction('Cursor', { type: 'move', to: 'word-left' }, 'move to the start of the word'),
  'word-right': createAction('Cursor', { type: 'move', to: 'word-right' }, 'move to the end of the word'),
  'line-start': createAction(
    'Cursor',
    { type: 'move', to: 'line-start' },
    'move to the start of the line; again: of the draft',
  ),
  'line-end': createAction('Cursor', 'end', 'move to the end of the line; at the end: accept the suggestion'),
  'row-start': createAction('Cursor', { type: 'move', to: 'row-start' }, 'move to the start of the screen row'),
  'row-end': createAction('Cursor', { type: 'move', to: 'row-end' }, 'move to the end of the screen row'),
  'text-start': createAction('Cursor', { type: 'move', to: 'text-start' }, 'move to the start of the draft'),
  'text-end': createAction('Cursor', { type: 'move', to: 'text-end' }, 'move to the end of the draft'),
  'delete-left': createAction('Editing', { type: 'delete', what: 'left' }, 'delete the character before the cursor'),
  'delete-right': createAction('Editing', { type: 'delete', what: 'right' }, 'delete the character at the cursor'),
  'delete-word-left': createAction('Editing', { type: 'delete', what: 'word-left' }, 'cut the word before the cursor'),
  'delete-word-right': createAction('Editing', { type: 'delete', what: 'word-right' }, 'cut the word after the cursor'),
  'delete-space-word-left': createAction(
    'Editing',
    { type: 'delete', what: 'space-word-left' },
    'cut back to the previous space',
  ),
  'delete-to-line-start': createAction(
    'Editing',
    { type: 'delete', what: 'to-line-start' },
    'cut to the start of the line',
  ),
  'delete-to-line-end': createAction('Editing', { type: 'delete', what: 'to-line-end' }, 'cut to the end of the line'),
  yank: createAction(
    'Editing',
    'answer_or_yank',
    'paste the text cut last; with a question waiting: open the question',
  ),
  'yank-pop': createAction('Editing', { type: 'yank-pop' }, 'after a yank: replace it with the text cut before'),
  undo: createAction('Editing', { type: 'undo' }, 'undo'),
  redo: createAction('Editing', { type: 'redo' }, 'redo'),
  escape: createAction('During a turn', 'escape', 'stop the turn; when idle, twice: rewind to an earlier message'),
  interrupt: createAction(
    'During a turn',
    'interrupt',
    'stop the turn, else clear the draft; on an empty draft, twice: exit',
  ),
  background: createAction(
    'During a turn',
    'background_or_left',
    'move the running command or sub-agent to the background, else move left',
  ),
  'edit-queued': createAction('During a turn', 'edit_all_queued', 'move all queued messages back into the draft'),
  'drop-queued': createAction('During a turn', 'drop_queued', 'remove the last queued message'),
  transcript: createAction('View', 'transcript', 'show the transcript; in a dialog: show details'),
  tasks: createAction('View', 'tasks', 'show the tasks as a row or as a list'),
  repaint: createAction('View', 'repaint', 'redraw the lower part of the screen'),
  'cycle-mode': createAction('Session', 'cycle_mode', 'cycle the permission mode: ask, accept edits, plan'),
  'model-menu': createAction('Session', 'model_menu', 'choose a model'),
  suspend: createAction('Session', 'suspend', 'suspend the program; fg in the shell resumes it'),
  'leave-or-delete': createAction('Session', 'leave_or_delete', 'delete to the right; on an empty draft, twice: exit'),
} as const satisfies Readonly<Record<string, Action>>;

/** The name of an action in the settings. */
export type KeyActionName = keyof typeof KEY_ACTIONS;

/** Returns the action with this name, if there is one. */
export function findKeyActionByName(name: string): KeyActionName | undefined {
  return KEY_ACTION_NAMES.find((known) => known === name);
}

function isActionName(name: string): name is KeyActionName {
  return Object.hasOwn(KEY_ACTIONS, name);
}

/** The names of all actions, in the order of the list of keys. */
export const KEY_ACTION_NAMES: readonly KeyActionName[] = Object.keys(KEY_ACTIONS).filter(isActionName);

function createAction(group: KeyActionGroup, binding: KeyBinding, description: string): Action {
  return { binding, description, group };
}
