import { findClosestWord } from '../../lib/text/closest-word.ts';
import {
  findKeyActionByName,
  KEY_ACTION_NAMES,
  KEY_ACTIONS,
  type KeyActionName,
  type KeyBinding,
} from './key-actions.ts';

/** The default key bindings. A space separates the two keys of a sequence. @internal Exported for tests. */
export const DEFAULT_KEY_BINDINGS: Readonly<Record<string, KeyActionName>> = {
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
  'alt+e': 'drop-context',
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

/** A keymap in the form in which keys are looked up. */
export type Keymap = {
  /** Returns the binding of a key. `prefix` is the first key of a sequence; empty for a single key. */
  readonly findBinding: (prefix: string, chord: string) => KeyBinding | 'prefix' | undefined;
};

/** Creates a keymap from chords, of which some have a prefix key. */
export function createKeymap(keys: Readonly<Record<string, KeyActionName>>): Keymap {
  const bindings = new Map<string, KeyBinding | 'prefix'>();
  for (const [chord, name] of Object.entries(keys)) {
    const [first = '', second] = chord.split(' ');
    if (second !== undefined) bindings.set(first, 'prefix');
    bindings.set(chord, KEY_ACTIONS[name].binding);
  }
  return { findBinding: (prefix, chord) => bindings.get(prefix === '' ? chord : `${prefix} ${chord}`) };
}

/** The keymap without changes by the user. */
export const DEFAULT_KEYMAP = createKeymap(DEFAULT_KEY_BINDINGS);

/** The resolved key bindings, with a message for each entry that could not be applied. */
type ResolvedKeys = { readonly keys: Readonly<Record<string, KeyActionName>>; readonly problems: readonly string[] };

const MODIFIERS = ['ctrl', 'alt', 'shift'];
const KEY_NAMES = new Set(
  'enter escape tab space backspace delete insert home end pageup pagedown up down left right f1 f2 f3 f4'.split(' '),
);
const KEY_ALIASES: Readonly<Record<string, string>> = {
  control: 'ctrl',
  meta: 'alt',
  option: 'alt',
  return: 'enter',
  esc: 'escape',
  del: 'delete',
};
/** Actions that must stay reachable: they keep their default key when no other key is bound to them. */
const REQUIRED_ACTIONS: readonly KeyActionName[] = ['send', 'escape', 'interrupt', 'delete-left'];

/** Applies the user's bindings to the default ones: `"ctrl+k": "send"`, `"ctrl+x t": "tasks"`, `"ctrl+s": "none"`. */
export function resolveUserKeyBindings(userBindings: Readonly<Record<string, string>>): ResolvedKeys {
  const keys: Record<string, KeyActionName> = { ...DEFAULT_KEY_BINDINGS };
  const problems: string[] = [];
  const assigned = new Map<string, string>();
  for (const [written, action] of Object.entries(userBindings)) {
    const chord = parseChord(written);
    if (chord === undefined) {
      problems.push(`Unknown key "${written}". Use a form like ctrl+k, alt+enter, f2, or "ctrl+x t" for a sequence.`);
      continue;
    }
    const previous = assigned.get(chord);
    if (previous !== undefined && previous !== action) {
      problems.push(`${chord} is bound twice, to ${previous} and to ${action}; the second binding applies.`);
    }
    assigned.set(chord, action);
    const name = findKeyActionByName(action);
    if (name !== undefined) keys[chord] = name;
    else if (action === 'none') delete keys[chord];
    else problems.push(formatUnknownAction(chord, action));
  }
  return { keys, problems: [...problems, ...resolvePrefixConflicts(keys, assigned), ...restoreRequired(keys)] };
}

function formatUnknownAction(chord: string, action: string): string {
  const suggestion = findClosestWord(action, KEY_ACTION_NAMES);
  return `${chord}: unknown action "${action}".${suggestion === undefined ? '' : ` Did you mean ${suggestion}?`}`;
}

/** Removes one binding where a key is bound and also starts a sequence; bindings of the user win. */
function resolvePrefixConflicts(
  keys: Record<string, KeyActionName>,
  assigned: ReadonlyMap<string, string>,
): readonly string[] {
  const problems: string[] = [];
  for (const chord of Object.keys(keys)) {
    const [first = '', second] = chord.split(' ');
    const single = keys[first];
    if (second === undefined || single === undefined) continue;
    const loser = assigned.has(chord) || !assigned.has(first) ? first : chord;
    problems.push(`${first} is bound to ${single} and also starts "${chord}"; the binding of "${loser}" is ignored.`);
    delete keys[loser];
  }
  return problems;
}

/** Gives required actions without a key their default key back. */
function restoreRequired(keys: Record<string, KeyActionName>): readonly string[] {
  return REQUIRED_ACTIONS.filter((name) => !Object.values(keys).includes(name)).map((name) => {
    const chord = Object.keys(DEFAULT_KEY_BINDINGS).find((key) => DEFAULT_KEY_BINDINGS[key] === name) ?? '';
    keys[chord] = name;
    return `No other key is bound to ${name}, so ${chord} keeps this binding.`;
  });
}

/** Returns a key or a sequence in canonical spelling; `undefined` for an invalid one. */
function parseChord(written: string): string | undefined {
  const parts = written.trim().split(/\s+/);
  if (parts.length > 2) return undefined;
  const keys = parts.map(parseKey);
  const [first, second] = keys;
  if (first === undefined || (parts.length === 2 && second === undefined)) return undefined;
  // A single character without modifiers always inserts itself, so it cannot be bound.
  return isText(first) ? undefined : keys.join(' ');
}

function parseKey(written: string): string | undefined {
  const parts = written === '+' ? ['+'] : written.split(/\+(?=.)/);
  const name = normalizeName(parts.at(-1) ?? '');
  const modifiers = new Set(parts.slice(0, -1).map(normalizeName));
  if ([...modifiers].some((modifier) => !MODIFIERS.includes(modifier))) return undefined;
  if (!KEY_NAMES.has(name) && [...name].length !== 1) return undefined;
  // Terminals send control characters without case.
  const key = modifiers.has('ctrl') ? name.toLowerCase() : name;
  return [...MODIFIERS.filter((modifier) => modifiers.has(modifier)), key].join('+');
}

function normalizeName(part: string): string {
  const lower = [...part].length === 1 ? part : part.toLowerCase();
  return KEY_ALIASES[lower] ?? lower;
}

function isText(chord: string): boolean {
  return [...chord].length === 1 || chord === 'space';
}
