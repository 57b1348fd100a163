import { lineEnd, lineStart, nextBoundary, previousBoundary } from './boundaries.ts';
import { type EditorState, redoStep, replaceText, undoStep } from './editor-state.ts';
import { readVimCommand, type VimCommand, type VimOperator } from './vim-command.ts';
import { firstNonBlank, type VimFind, type VimTarget, vimFind, vimTarget } from './vim-motions.ts';
import { type VimRange, vimObject, wholeLines } from './vim-objects.ts';
import { operateOn, put, settledCaret } from './vim-operate.ts';

/** What vim mode remembers between keys. */
export type VimState = {
  readonly mode: 'insert' | 'normal' | 'visual' | 'visual-line';
  /** Keys of a command that is not complete. */
  readonly pending: string;
  /** The other end of a selection. */
  readonly anchor: number;
  readonly find: VimFind | undefined;
  /** The last change, for `.`: the keys of the command and what was typed after it. */
  readonly change: { readonly keys: string; readonly typed: string };
};

/** A key press understood. Keys that vim has no use for are `passed` on to the ordinary keymap. */
export type VimPress = { readonly vim: VimState; readonly editor: EditorState; readonly key: 'taken' | 'passed' };

/** Vim mode begins in insert mode: a message can be typed at once. */
export const STARTING_VIM: VimState = {
  mode: 'insert',
  pending: '',
  anchor: 0,
  find: undefined,
  change: { keys: '', typed: '' },
};

type Ranged = { readonly vim: VimState; readonly range: VimRange | undefined };

type Key = { readonly chord: string; readonly text: string };

/** Takes one key. ESC is passed on only when there is nothing of vim's left to leave. */
export function pressVim(vim: VimState, editor: EditorState, key: Key): VimPress {
  if (vim.mode === 'insert') return pressInInsert(vim, editor, key);
  if (key.chord === 'escape') {
    const isIdle = vim.mode === 'normal' && vim.pending === '';
    return { vim: { ...vim, mode: 'normal', pending: '' }, editor, key: isIdle ? 'passed' : 'taken' };
  }
  if (key.chord === 'ctrl+r') return taken({ ...vim, pending: '' }, settledCaret(redoStep(editor)));
  if (key.text === '' || /^(?:ctrl|alt|super)\+/.test(key.chord) || key.chord === 'enter' || key.chord === 'tab') {
    return { vim: { ...vim, pending: '' }, editor, key: 'passed' };
  }
  const keys = vim.pending + key.text;
  const command = readVimCommand(keys, vim.mode === 'normal' ? 'normal' : 'visual');
  if (command === undefined) return taken({ ...vim, pending: keys }, editor);
  if (command === 'nonsense') return taken({ ...vim, pending: '' }, editor);
  return run({ ...vim, pending: '' }, editor, command, keys);
}

/** The selected range, for drawing it. */
export function vimSelection(vim: VimState, editor: EditorState): VimRange | undefined {
  if (vim.mode !== 'visual' && vim.mode !== 'visual-line') return undefined;
  const [from, last] = [Math.min(vim.anchor, editor.caret), Math.max(vim.anchor, editor.caret)];
  if (vim.mode === 'visual') return { from, to: nextBoundary(editor.text, last), shape: 'text' };
  return wholeLines(editor.text, from, last);
}

function pressInInsert(vim: VimState, editor: EditorState, { chord, text }: Key): VimPress {
  if (chord === 'escape') {
    const caret = Math.max(lineStart(editor.text, editor.caret), previousBoundary(editor.text, editor.caret));
    return taken({ ...vim, mode: 'normal' }, { ...editor, caret });
  }
  const { keys, typed } = vim.change;
  const next = chord === 'backspace' ? typed.slice(0, -1) : typed + (chord === 'enter' ? '' : text);
  return { vim: { ...vim, change: { keys, typed: next } }, editor, key: 'passed' };
}

function run(vim: VimState, editor: EditorState, command: VimCommand, keys: string): VimPress {
  const { target, operator } = command;
  const selection = vimSelection(vim, editor);
  if (selection !== undefined) return runOnSelection(vim, editor, selection, command);
  if (target === '.') return repeatChange(vim, editor);
  const alias = ALIASES[target];
  if (alias !== undefined && operator === undefined) {
    return operate(vim, editor, { ...command, target: alias[1] }, alias[0], keys);
  }
  if (operator !== undefined) return operate(vim, editor, command, operator, keys);
  const simple = runSimple(vim, editor, command, keys);
  if (simple !== undefined) return simple;
  const { found, vim: after } = reach(vim, editor, command);
  return found === undefined ? taken(vim, editor) : taken(after, movedTo(editor, found));
}

// Commands that are short for an operator with a motion.
const ALIASES: Readonly<Record<string, readonly [VimOperator, string]>> = {
  x: ['d', 'l'],
  X: ['d', 'h'],
  D: ['d', '$'],
  C: ['c', '$'],
  Y: ['y', 'y'],
  s: ['c', 'l'],
  S: ['c', 'c'],
};

function operate(
  vim: VimState,
  editor: EditorState,
  command: VimCommand,
  operator: VimOperator,
  keys: string,
): VimPress {
  const { vim: after, range } = rangeOf(vim, editor, command, operator);
  if (range === undefined) return taken(after, editor);
  return apply({ ...after, change: operator === 'y' ? after.change : { keys, typed: '' } }, editor, range, operator);
}

function rangeOf(vim: VimState, editor: EditorState, command: VimCommand, operator: VimOperator): Ranged {
  const { text, caret } = editor;
  const { target, count } = command;
  if (target === operator) {
    let last = caret;
    for (let left = (count ?? 1) - 1; left > 0; left -= 1) last = Math.min(text.length, lineEnd(text, last) + 1);
    return { vim, range: wholeLines(text, caret, last) };
  }
  if (/^[ia]/.test(target)) return { vim, range: vimObject(text, caret, target) };
  const { found, vim: after } = reach(
    vim,
    editor,
    operator === 'c' && target === 'w' ? changedWord(editor, command) : command,
  );
  if (found === undefined) return { vim: after, range: undefined };
  const [from, to] = [Math.min(caret, found.to), Math.max(caret, found.to)];
  if (found.reach === 'line') return { vim: after, range: wholeLines(text, from, to) };
  const end = found.reach === 'inclusive' ? nextBoundary(text, to) : to;
  return { vim: after, range: { from, to: end, shape: 'text' } };
}

/** `cw` on a word leaves the space behind it alone, so it is an `e` that counts the end it stands on. */
function changedWord({ text, caret }: EditorState, { count = 1, ...command }: VimCommand): VimCommand {
  if (!/\S/.test(text.charAt(caret))) return { ...command, count };
  const atEnd = vimObject(text, caret, 'iw')?.to === nextBoundary(text, caret);
  return { ...command, target: 'e', count: atEnd ? count - 1 : count };
}

function reach(vim: VimState, editor: EditorState, { target, count }: VimCommand) {
  const [kind = '', character = ''] = [target.charAt(0), target.slice(1)];
  if (/^[fFtT]$/.test(kind) && character !== '') {
    const find = { kind, character };
    return { vim: { ...vim, find }, found: vimFind(editor, find, count ?? 1) };
  }
  if (kind !== ';' && kind !== ',') return { vim, found: vimTarget(editor, target, count) };
  if (vim.find === undefined) return { vim, found: undefined };
  const turned =
    vim.find.kind === vim.find.kind.toLowerCase() ? vim.find.kind.toUpperCase() : vim.find.kind.toLowerCase();
  const find = kind === ';' ? vim.find : { ...vim.find, kind: turned };
  return { vim, found: vimFind(editor, find, count ?? 1) };
}

function apply(vim: VimState, editor: EditorState, range: VimRange, operator: VimOperator): VimPress {
  const mode = operator === 'c' ? 'insert' : 'normal';
  return taken({ ...vim, mode }, operateOn(editor, range, operator));
}

function runOnSelection(vim: VimState, editor: EditorState, selection: VimRange, command: VimCommand): VimPress {
  const { target } = command;
  if (target === 'v' || target === 'V') return taken({ ...vim, mode: 'normal' }, editor);
  const operator = ({ d: 'd', x: 'd', X: 'd', c: 'c', s: 'c', y: 'y' } as const)[target];
  if (operator !== undefined) return apply(vim, editor, selection, operator);
  if (/^[ia]./.test(target)) {
    const range = vimObject(editor.text, editor.caret, target);
    if (range === undefined) return taken(vim, editor);
    return taken({ ...vim, anchor: range.from }, { ...editor, caret: previousBoundary(editor.text, range.to) });
  }
  const { vim: after, found } = reach(vim, editor, command);
  return taken(after, found === undefined ? editor : movedTo(editor, found));
}

function runSimple(
  vim: VimState,
  editor: EditorState,
  { target, count }: VimCommand,
  keys: string,
): VimPress | undefined {
  const { text, caret } = editor;
  const insertAt = (at: number, state = editor): VimPress =>
    taken({ ...vim, mode: 'insert', change: { keys, typed: '' } }, { ...state, caret: at, goal: undefined });
  const end = lineEnd(text, caret);
  switch (target.charAt(0)) {
    case 'i':
      return insertAt(caret);
    case 'a':
      return insertAt(Math.min(end, nextBoundary(text, caret)));
    case 'I':
      return insertAt(firstNonBlank(text, caret));
    case 'A':
      return insertAt(end);
    case 'o':
      return insertAt(end + 1, replaceText(editor, { from: end, to: end, insert: '\n' }));
    case 'O': {
      const start = lineStart(text, caret);
      return insertAt(start, replaceText(editor, { from: start, to: start, insert: '\n', caret: start }));
    }
    case 'p':
    case 'P':
      return taken(
        { ...vim, change: { keys, typed: '' } },
        put(editor, target === 'p' ? 'after' : 'before', count ?? 1),
      );
    case 'u':
      return taken(vim, settledCaret(undoStep(editor)));
    case 'v':
    case 'V':
      return taken({ ...vim, mode: target === 'v' ? 'visual' : 'visual-line', anchor: caret }, editor);
    case 'r': {
      const to = nextBoundary(text, caret);
      if (caret === end) return taken(vim, editor);
      return taken(
        { ...vim, change: { keys, typed: '' } },
        replaceText(editor, { from: caret, to, insert: target.slice(1), caret }),
      );
    }
    default:
      return undefined;
  }
}

function repeatChange(vim: VimState, editor: EditorState): VimPress {
  const { change } = vim;
  if (change.keys === '') return taken(vim, editor);
  let press = taken({ ...vim, pending: '' }, editor);
  for (const text of change.keys) press = pressVim(press.vim, press.editor, { chord: text, text });
  if (press.vim.mode === 'insert') {
    const at = press.editor.caret;
    press = pressInInsert(press.vim, replaceText(press.editor, { from: at, to: at, insert: change.typed }), {
      chord: 'escape',
      text: '',
    });
  }
  return taken({ ...press.vim, change }, press.editor);
}

function movedTo(editor: EditorState, { to, reach }: VimTarget): EditorState {
  const goal = reach === 'line' ? editor.goal : undefined;
  return settledCaret({ ...editor, caret: to, goal, last: { kind: 'none' } });
}

function taken(vim: VimState, editor: EditorState): VimPress {
  return { vim, editor, key: 'taken' };
}
