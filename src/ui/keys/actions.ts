import type { EditorAction } from '../composer/edit.ts';

/** What a key can be asked to do. Editing actions go to the draft as they are. */
export type Command =
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
  | 'edit_all_queued';

export type Binding = Command | EditorAction;

type Action = { readonly does: Binding; readonly words: string; readonly group: ActionGroup };

/** The chapters of the list of keys. */
export const ACTION_GROUPS = ['Say', 'Move', 'Change', 'While it works', 'Look', 'Session'] as const;
export type ActionGroup = (typeof ACTION_GROUPS)[number];

/** Everything a key can be bound to, by the name used in settings. */
export const ACTIONS = {
  send: act('Say', 'send', 'send the draft; while it works: after the running tool'),
  'send-after': act('Say', 'send_after', 'a new line; while it works: send when everything is finished'),
  newline: act('Say', 'newline', 'a new line'),
  complete: act('Say', 'complete', 'take the suggestion, or fill in from the menu'),
  older: act('Say', { type: 'older' }, 'an earlier message'),
  newer: act('Say', { type: 'newer' }, 'a later message, at the end the draft'),
  'history-search': act(
    'Say',
    'history_search',
    'search earlier messages of this folder; again: of all, of this session',
  ),
  'external-editor': act('Say', 'external_editor', 'the draft in $VISUAL or $EDITOR'),
  'paste-image': act('Say', 'paste_image', 'the picture in the clipboard'),
  stash: act('Say', { type: 'stash' }, 'put the draft aside; on an empty draft: take it back'),
  'expand-paste': act('Say', { type: 'expand' }, 'turn a folded paste into text'),
  'look-at-paste': act('Say', 'look_at_paste', 'read a folded paste'),
  up: act('Move', 'up', 'a row up; from the first row: an earlier message'),
  down: act('Move', 'down', 'a row down; from the last row: a later message'),
  left: act('Move', { type: 'move', to: 'left' }, 'a character to the left'),
  right: act('Move', 'right', 'a character to the right; at the end: take the suggestion'),
  'char-right': act('Move', { type: 'move', to: 'right' }, 'a character to the right'),
  'word-left': act('Move', { type: 'move', to: 'word-left' }, 'a word to the left'),
  'word-right': act('Move', { type: 'move', to: 'word-right' }, 'a word to the right'),
  'line-start': act('Move', { type: 'move', to: 'line-start' }, 'the start of the line; again: of the text'),
  'line-end': act('Move', 'end', 'the end of the line; at the end: take the suggestion'),
  'row-start': act('Move', { type: 'move', to: 'row-start' }, 'the start of the row on screen'),
  'row-end': act('Move', { type: 'move', to: 'row-end' }, 'the end of the row on screen'),
  'text-start': act('Move', { type: 'move', to: 'text-start' }, 'the start of the draft'),
  'text-end': act('Move', { type: 'move', to: 'text-end' }, 'the end of the draft'),
  'delete-left': act('Change', { type: 'delete', what: 'left' }, 'delete the character before the cursor'),
  'delete-right': act('Change', { type: 'delete', what: 'right' }, 'delete the character at the cursor'),
  'delete-word-left': act('Change', { type: 'delete', what: 'word-left' }, 'cut the word before the cursor'),
  'delete-word-right': act('Change', { type: 'delete', what: 'word-right' }, 'cut the word behind the cursor'),
  'delete-space-word-left': act('Change', { type: 'delete', what: 'space-word-left' }, 'cut back to the last blank'),
  'delete-to-line-start': act('Change', { type: 'delete', what: 'to-line-start' }, 'cut to the start of the line'),
  'delete-to-line-end': act('Change', { type: 'delete', what: 'to-line-end' }, 'cut to the end of the line'),
  yank: act('Change', 'answer_or_yank', 'put back what was cut; when something waits for an answer: answer it'),
  'yank-pop': act('Change', { type: 'yank-pop' }, 'right after it: what was cut before that'),
  undo: act('Change', { type: 'undo' }, 'undo'),
  redo: act('Change', { type: 'redo' }, 'redo'),
  escape: act('While it works', 'escape', 'stop; at rest twice: go back to an earlier message'),
  interrupt: act('While it works', 'interrupt', 'stop; else clear the draft; on an empty draft twice: leave'),
  background: act('While it works', 'background_or_left', 'what is waited for to the background; else left'),
  'edit-queued': act('While it works', 'edit_all_queued', 'take all waiting messages back into the draft'),
  'drop-queued': act('While it works', 'drop_queued', 'drop the last waiting message'),
  transcript: act('Look', 'transcript', 'everything that was said; in a dialog: details'),
  tasks: act('Look', 'tasks', 'the tasks as a row or a list'),
  repaint: act('Look', 'repaint', 'draw the lower part of the screen again'),
  'cycle-mode': act('Session', 'cycle_mode', 'ask, edits, plan'),
  'model-menu': act('Session', 'model_menu', 'another model'),
  suspend: act('Session', 'suspend', 'stop the program; fg in the shell brings it back'),
  'leave-or-delete': act('Session', 'leave_or_delete', 'delete to the right; on an empty draft twice: leave'),
} as const satisfies Readonly<Record<string, Action>>;

export type ActionName = keyof typeof ACTIONS;

/** The action of this name, if there is one. */
export function actionNamed(name: string): ActionName | undefined {
  return ACTION_NAMES.find((known) => known === name);
}

function isName(name: string): name is ActionName {
  return Object.hasOwn(ACTIONS, name);
}

/** All names, in the order of the list of keys. */
export const ACTION_NAMES: readonly ActionName[] = Object.keys(ACTIONS).filter(isName);

function act(group: ActionGroup, does: Binding, words: string): Action {
  return { does, words, group };
}
