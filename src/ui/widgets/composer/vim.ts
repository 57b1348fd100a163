import { type DraftEditorState, redoDraftEdit, replaceDraftText, undoDraftEdit } from './draft-editor-state.ts';
import { findLineEnd, findLineStart, findNextBoundary, findPreviousBoundary } from './text-boundaries.ts';
import {
  applyOperator,
  clampCaret,
  parseVimCommand,
  putKilledText,
  type VimCommand,
  type VimOperator,
} from './vim-commands.ts';
import {
  findCharacter,
  findFirstNonBlank,
  findTextObject,
  getVimLineRange,
  resolveVimMotion,
  type VimFind,
  type VimRange,
  type VimTarget,
} from './vim-motions.ts';

/** The state of vim mode between two keys. */
export type VimState = {
  readonly mode: 'insert' | 'normal' | 'visual' | 'visual-line';
  /** Keys of an incomplete command. */
  readonly pending: string;
  /** Fixed end of the selection. */
  readonly anchor: number;
  readonly find: VimFind | undefined;
  /** Last change, for `.`: the keys of the command and the text typed after it. */
  readonly change: { readonly keys: string; readonly typed: string };
};

/** The result of a key in vim mode. A key without a meaning in vim is `passed` on to the regular keymap. */
export type VimKeyResult = {
  readonly vim: VimState;
  readonly editor: DraftEditorState;
  readonly key: 'taken' | 'passed';
};

/** The state when vim mode is switched on. It starts in insert mode, so that a message can be typed at once. */
export const INITIAL_VIM_STATE: VimState = {
  mode: 'insert',
  pending: '',
  anchor: 0,
  find: undefined,
  change: { keys: '', typed: '' },
};

type RangeResult = { readonly vim: VimState; readonly range: VimRange | undefined };

type TargetResult = { readonly vim: VimState; readonly found: VimTarget | undefined };

type Key = { readonly chord: string; readonly text: string };

/** Handles one key. ESC is passed on only in normal mode without a pending command. */
export function handleVimKey(vim: VimState, editor: DraftEditorState, key: Key): VimKeyResult {
  if (vim.mode === 'insert') return handleInsertKey(vim, editor, key);
  if (key.chord === 'escape') {
    const isIdle = vim.mode === 'normal' && vim.pending === '';
    return { vim: { ...vim, mode: 'normal', pending: '' }, editor, key: isIdle ? 'passed' : 'taken' };
  }
  if (key.chord === 'ctrl+r') return takeKey({ ...vim, pending: '' }, clampCaret(redoDraftEdit(editor)));
  if (key.text === '' || /^(?:ctrl|alt|super)\+/.test(key.chord) || key.chord === 'enter' || key.chord === 'tab') {
    return { vim: { ...vim, pending: '' }, editor, key: 'passed' };
  }
  const keys = vim.pending + key.text;
  const command = parseVimCommand(keys, vim.mode === 'normal' ? 'normal' : 'visual');
  if (command === undefined) return takeKey({ ...vim, pending: keys }, editor);
  if (command === 'invalid') return takeKey({ ...vim, pending: '' }, editor);
  return runCommand({ ...vim, pending: '' }, editor, command, keys);
}

/** Returns the selected range, for display. */
export function getVimSelection(vim: VimState, editor: DraftEditorState): VimRange | undefined {
  if (vim.mode !== 'visual' && vim.mode !== 'visual-line') return undefined;
  const [from, last] = [Math.min(vim.anchor, editor.caret), Math.max(vim.anchor, editor.caret)];
  if (vim.mode === 'visual') return { from, to: findNextBoundary(editor.text, last), shape: 'text' };
  return getVimLineRange(editor.text, from, last);
}

function handleInsertKey(vim: VimState, editor: DraftEditorState, { chord, text }: Key): VimKeyResult {
  if (chord === 'escape') {
    const caret = Math.max(findLineStart(editor.text, editor.caret), findPreviousBoundary(editor.text, editor.caret));
    return takeKey({ ...vim, mode: 'normal' }, { ...editor, caret });
  }
  const { keys, typed } = vim.change;
  const next = chord === 'backspace' ? typed.slice(0, -1) : typed + (chord === 'enter' ? '' : text);
  return { vim: { ...vim, change: { keys, typed: next } }, editor, key: 'passed' };
}

function runCommand(vim: VimState, editor: DraftEditorState, command: VimCommand, keys: string): VimKeyResult {
  const { target, operator } = command;
  const selection = getVimSelection(vim, editor);
  if (selection !== undefined) return runOnSelection(vim, editor, selection, command);
  if (target === '.') return repeatChange(vim, editor);
  const alias = ALIASES[target];
  if (alias !== undefined && operator === undefined) {
    return operate(vim, editor, { ...command, target: alias[1] }, alias[0], keys);
  }
  if (operator !== undefined) return operate(vim, editor, command, operator, keys);
  const simple = runSimple(vim, editor, command, keys);
  if (simple !== undefined) return simple;
  const { found, vim: after } = resolveTarget(vim, editor, command);
  return found === undefined ? takeKey(vim, editor) : takeKey(after, moveTo(editor, found));
}

// Commands that are short for an operator and a motion.
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
  editor: DraftEditorState,
  command: VimCommand,
  operator: VimOperator,
  keys: string,
): VimKeyResult {
  const { vim: after, range } = findRange(vim, editor, command, operator);
  if (range === undefined) return takeKey(after, editor);
  return applyToRange(
    { ...after, change: operator === 'y' ? after.change : { keys, typed: '' } },
    editor,
    range,
    operator,
  );
}

function findRange(vim: VimState, editor: DraftEditorState, command: VimCommand, operator: VimOperator): RangeResult {
  const { text, caret } = editor;
  const { target, count } = command;
  if (target === operator) {
    let last = caret;
    for (let left = (count ?? 1) - 1; left > 0; left -= 1) last = Math.min(text.length, findLineEnd(text, last) + 1);
    return { vim, range: getVimLineRange(text, caret, last) };
  }
  if (/^[ia]/.test(target)) return { vim, range: findTextObject(text, caret, target) };
  const { found, vim: after } = resolveTarget(
    vim,
    editor,
    operator === 'c' && target === 'w' ? replaceWordMotion(editor, command) : command,
  );
  if (found === undefined) return { vim: after, range: undefined };
  const [from, to] = [Math.min(caret, found.to), Math.max(caret, found.to)];
  if (found.extent === 'line') return { vim: after, range: getVimLineRange(text, from, to) };
  const end = found.extent === 'inclusive' ? findNextBoundary(text, to) : to;
  return { vim: after, range: { from, to: end, shape: 'text' } };
}

/** Returns the motion of `cw`: on a word it keeps the following space, so it acts like `e` from inside the word. */
function replaceWordMotion({ text, caret }: DraftEditorState, { count = 1, ...command }: VimCommand): VimCommand {
  if (!/\S/.test(text.charAt(caret))) return { ...command, count };
  const atEnd = findTextObject(text, caret, 'iw')?.to === findNextBoundary(text, caret);
  return { ...command, target: 'e', count: atEnd ? count - 1 : count };
}

function resolveTarget(vim: VimState, editor: DraftEditorState, { target, count }: VimCommand): TargetResult {
  const [kind = '', character = ''] = [target.charAt(0), target.slice(1)];
  if (/^[fFtT]$/.test(kind) && character !== '') {
    const find: VimFind = { kind, character };
    return { vim: { ...vim, find }, found: findCharacter(editor, find, count ?? 1) };
  }
  if (kind !== ';' && kind !== ',') return { vim, found: resolveVimMotion(editor, target, count) };
  if (vim.find === undefined) return { vim, found: undefined };
  const reversed =
    vim.find.kind === vim.find.kind.toLowerCase() ? vim.find.kind.toUpperCase() : vim.find.kind.toLowerCase();
  const find: VimFind = kind === ';' ? vim.find : { ...vim.find, kind: reversed };
  return { vim, found: findCharacter(editor, find, count ?? 1) };
}

function applyToRange(vim: VimState, editor: DraftEditorState, range: VimRange, operator: VimOperator): VimKeyResult {
  const mode = operator === 'c' ? 'insert' : 'normal';
  return takeKey({ ...vim, mode }, applyOperator(editor, range, operator));
}

function runOnSelection(
  vim: VimState,
  editor: DraftEditorState,
  selection: VimRange,
  command: VimCommand,
): VimKeyResult {
  const { target } = command;
  if (target === 'v' || target === 'V') return takeKey({ ...vim, mode: 'normal' }, editor);
  const operator = ({ d: 'd', x: 'd', X: 'd', c: 'c', s: 'c', y: 'y' } as const)[target];
  if (operator !== undefined) return applyToRange(vim, editor, selection, operator);
  if (/^[ia]./.test(target)) {
    const range = findTextObject(editor.text, editor.caret, target);
    if (range === undefined) return takeKey(vim, editor);
    return takeKey({ ...vim, anchor: range.from }, { ...editor, caret: findPreviousBoundary(editor.text, range.to) });
  }
  const { vim: after, found } = resolveTarget(vim, editor, command);
  return takeKey(after, found === undefined ? editor : moveTo(editor, found));
}

function runSimple(
  vim: VimState,
  editor: DraftEditorState,
  { target, count }: VimCommand,
  keys: string,
): VimKeyResult | undefined {
  const { text, caret } = editor;
  const insertAt = (at: number, state = editor): VimKeyResult =>
    takeKey({ ...vim, mode: 'insert', change: { keys, typed: '' } }, { ...state, caret: at, goalColumn: undefined });
  const end = findLineEnd(text, caret);
  switch (target.charAt(0)) {
    case 'i':
      return insertAt(caret);
    case 'a':
      return insertAt(Math.min(end, findNextBoundary(text, caret)));
    case 'I':
      return insertAt(findFirstNonBlank(text, caret));
    case 'A':
      return insertAt(end);
    case 'o':
      return insertAt(end + 1, replaceDraftText(editor, { from: end, to: end, insert: '\n' }));
    case 'O': {
      const start = findLineStart(text, caret);
      return insertAt(start, replaceDraftText(editor, { from: start, to: start, insert: '\n', caret: start }));
    }
    case 'p':
    case 'P':
      return takeKey(
        { ...vim, change: { keys, typed: '' } },
        putKilledText(editor, target === 'p' ? 'after' : 'before', count ?? 1),
      );
    case 'u':
      return takeKey(vim, clampCaret(undoDraftEdit(editor)));
    case 'v':
    case 'V':
      return takeKey({ ...vim, mode: target === 'v' ? 'visual' : 'visual-line', anchor: caret }, editor);
    case 'r': {
      const to = findNextBoundary(text, caret);
      if (caret === end) return takeKey(vim, editor);
      return takeKey(
        { ...vim, change: { keys, typed: '' } },
        replaceDraftText(editor, { from: caret, to, insert: target.slice(1), caret }),
      );
    }
    default:
      return undefined;
  }
}

function repeatChange(vim: VimState, editor: DraftEditorState): VimKeyResult {
  const { change } = vim;
  if (change.keys === '') return takeKey(vim, editor);
  let result = takeKey({ ...vim, pending: '' }, editor);
  for (const text of change.keys) result = handleVimKey(result.vim, result.editor, { chord: text, text });
  if (result.vim.mode === 'insert') {
    const at = result.editor.caret;
    result = handleInsertKey(result.vim, replaceDraftText(result.editor, { from: at, to: at, insert: change.typed }), {
      chord: 'escape',
      text: '',
    });
  }
  return takeKey({ ...result.vim, change }, result.editor);
}

function moveTo(editor: DraftEditorState, { to, extent }: VimTarget): DraftEditorState {
  const goalColumn = extent === 'line' ? editor.goalColumn : undefined;
  return clampCaret({ ...editor, caret: to, goalColumn, lastAction: { kind: 'none' } });
}

function takeKey(vim: VimState, editor: DraftEditorState): VimKeyResult {
  return { vim, editor, key: 'taken' };
}
