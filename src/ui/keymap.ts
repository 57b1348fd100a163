import type { EditorAction } from './composer/edit.ts';

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
  | 'repaint'
  | 'history_search'
  | 'right'
  | 'end'
  | 'model_menu'
  | 'chord'
  | 'drop_queued'
  | 'edit_all_queued';

export type Binding = Command | EditorAction;

const move = (to: Extract<EditorAction, { type: 'move' }>['to']): EditorAction => ({ type: 'move', to });
const remove = (what: Extract<EditorAction, { type: 'delete' }>['what']): EditorAction => ({ type: 'delete', what });

/** Which key does what. The one place to look, and to change. */
export const KEYMAP: Readonly<Record<string, Binding>> = {
  enter: 'send',
  'alt+enter': 'send_after',
  'shift+enter': 'newline',
  'ctrl+j': 'newline',
  escape: 'escape',
  'ctrl+c': 'interrupt',
  'ctrl+d': 'leave_or_delete',
  'ctrl+z': 'suspend',
  up: 'up',
  down: 'down',
  tab: 'complete',
  'shift+tab': 'cycle_mode',
  'ctrl+y': 'answer_or_yank',
  'ctrl+o': 'transcript',
  'ctrl+t': 'tasks',
  'ctrl+b': 'background_or_left',
  'ctrl+g': 'external_editor',
  'ctrl+l': 'repaint',
  'ctrl+r': 'history_search',
  'ctrl+x': 'chord',
  'alt+p': 'model_menu',
  'alt+up': 'edit_all_queued',
  'ctrl+p': { type: 'older' },
  'ctrl+n': { type: 'newer' },
  left: move('left'),
  right: 'right',
  'ctrl+f': move('right'),
  'ctrl+a': move('line-start'),
  'ctrl+e': 'end',
  home: move('row-start'),
  end: move('row-end'),
  'ctrl+home': move('text-start'),
  'ctrl+end': move('text-end'),
  'alt+<': move('text-start'),
  'alt+>': move('text-end'),
  'alt+b': move('word-left'),
  'alt+f': move('word-right'),
  'ctrl+left': move('word-left'),
  'ctrl+right': move('word-right'),
  'alt+left': move('word-left'),
  'alt+right': move('word-right'),
  backspace: remove('left'),
  'shift+backspace': remove('left'),
  delete: remove('right'),
  'ctrl+w': remove('space-word-left'),
  'alt+backspace': remove('word-left'),
  'ctrl+backspace': remove('word-left'),
  'alt+d': remove('word-right'),
  'ctrl+delete': remove('word-right'),
  'ctrl+u': remove('to-line-start'),
  'ctrl+k': remove('to-line-end'),
  'alt+y': { type: 'yank-pop' },
  'ctrl+_': { type: 'undo' },
  'ctrl+shift+-': { type: 'undo' },
  'alt+_': { type: 'redo' },
  'ctrl+s': { type: 'stash' },
};

/** What a second key means after `ctrl+x`. */
export const CHORDS: Readonly<Record<string, Binding>> = {
  'ctrl+e': 'external_editor',
  'ctrl+x': { type: 'expand' },
  'ctrl+d': 'drop_queued',
};
