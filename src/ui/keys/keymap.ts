import { ACTIONS, type ActionName, type Binding } from './actions.ts';

/** Which key does what, unless somebody says otherwise. Two keys in a row stand with a blank between them. */
export const DEFAULT_KEYS: Readonly<Record<string, ActionName>> = {
  enter: 'send',
  'alt+enter': 'send-after',
  'shift+enter': 'newline',
  'ctrl+j': 'newline',
  tab: 'complete',
  'ctrl+p': 'older',
  'ctrl+n': 'newer',
  'ctrl+r': 'history-search',
  'ctrl+g': 'external-editor',
  'ctrl+x ctrl+e': 'external-editor',
  'ctrl+v': 'paste-image',
  'alt+v': 'paste-image',
  'ctrl+s': 'stash',
  'ctrl+x ctrl+x': 'expand-paste',
  'ctrl+x p': 'look-at-paste',
  up: 'up',
  down: 'down',
  left: 'left',
  right: 'right',
  'ctrl+f': 'char-right',
  'alt+b': 'word-left',
  'ctrl+left': 'word-left',
  'alt+left': 'word-left',
  'alt+f': 'word-right',
  'ctrl+right': 'word-right',
  'alt+right': 'word-right',
  'ctrl+a': 'line-start',
  'ctrl+e': 'line-end',
  home: 'row-start',
  end: 'row-end',
  'ctrl+home': 'text-start',
  'alt+<': 'text-start',
  'ctrl+end': 'text-end',
  'alt+>': 'text-end',
  backspace: 'delete-left',
  'shift+backspace': 'delete-left',
  delete: 'delete-right',
  'alt+backspace': 'delete-word-left',
  'ctrl+backspace': 'delete-word-left',
  'alt+d': 'delete-word-right',
  'ctrl+delete': 'delete-word-right',
  'ctrl+w': 'delete-space-word-left',
  'ctrl+u': 'delete-to-line-start',
  'ctrl+k': 'delete-to-line-end',
  'ctrl+y': 'yank',
  'alt+y': 'yank-pop',
  'ctrl+_': 'undo',
  'ctrl+shift+-': 'undo',
  'alt+_': 'redo',
  escape: 'escape',
  'ctrl+c': 'interrupt',
  'ctrl+b': 'background',
  'alt+up': 'edit-queued',
  'ctrl+x ctrl+d': 'drop-queued',
  'ctrl+o': 'transcript',
  'ctrl+t': 'tasks',
  'ctrl+l': 'repaint',
  'shift+tab': 'cycle-mode',
  'alt+p': 'model-menu',
  'ctrl+z': 'suspend',
  'ctrl+d': 'leave-or-delete',
};

/** A keymap as keys are looked up in it. */
export type Keymap = {
  /** `prefix` is the first of two keys; empty when there is none. */
  readonly bindingOf: (prefix: string, chord: string) => Binding | 'prefix' | undefined;
};

/** The keymap of such a table. */
export function keymapOf(keys: Readonly<Record<string, ActionName>>): Keymap {
  const bindings = new Map<string, Binding | 'prefix'>();
  for (const [chord, name] of Object.entries(keys)) {
    const [first = '', second] = chord.split(' ');
    if (second !== undefined) bindings.set(first, 'prefix');
    bindings.set(chord, ACTIONS[name].does);
  }
  return { bindingOf: (prefix, chord) => bindings.get(prefix === '' ? chord : `${prefix} ${chord}`) };
}

export const DEFAULT_KEYMAP = keymapOf(DEFAULT_KEYS);
