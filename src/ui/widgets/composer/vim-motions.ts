import { moveCaretByRow } from './caret-motions.ts';
import type { DraftEditorState } from './draft-editor-state.ts';
import { findLineEnd, findLineStart, findNextBoundary, findPreviousBoundary } from './text-boundaries.ts';

/** The target of a motion, and the extent that an operator applies to. */
export type VimTarget = { readonly to: number; readonly extent: 'exclusive' | 'inclusive' | 'line' };

/** A character search in the line, kept for `;` and `,`. */
export type VimFind = { readonly kind: string; readonly character: string };

/** Returns the target of a motion; undefined for an unknown motion. */
export function resolveVimMotion(
  editor: DraftEditorState,
  motion: string,
  count: number | undefined,
): VimTarget | undefined {
  const { text, caret } = editor;
  const times = count ?? 1;
  switch (motion) {
    case 'h':
      return createExclusiveTarget(
        repeat(times, caret, (at) => Math.max(findLineStart(text, caret), findPreviousBoundary(text, at))),
      );
    case 'l':
      return createExclusiveTarget(
        repeat(times, caret, (at) => Math.min(findLineEnd(text, caret), findNextBoundary(text, at))),
      );
    case 'j':
    case 'k':
      return { to: moveRows(editor, motion === 'j' ? 'down' : 'up', times), extent: 'line' };
    case 'w':
      return createExclusiveTarget(repeat(times, caret, (at) => findNextWordStart(text, at)));
    case 'b':
      return createExclusiveTarget(repeat(times, caret, (at) => findPreviousWordStart(text, at)));
    case 'e':
      return { to: repeat(times, caret, (at) => findWordEnd(text, at)), extent: 'inclusive' };
    case '0':
      return createExclusiveTarget(findLineStart(text, caret));
    case '^':
      return createExclusiveTarget(findFirstNonBlank(text, caret));
    case '$':
      return createExclusiveTarget(
        findLineEnd(
          text,
          repeat(times - 1, caret, (at) => Math.min(text.length, findLineEnd(text, at) + 1)),
        ),
      );
    case 'gg':
    case 'G':
      return { to: findNumberedLine(text, count, motion), extent: 'line' };
    default:
      return undefined;
  }
}

/** Finds a character in the line as `f`, `F`, `t` and `T` do. */
export function findCharacter(editor: DraftEditorState, find: VimFind, count: number): VimTarget | undefined {
  const { text, caret } = editor;
  const isForward = find.kind === 'f' || find.kind === 't';
  const [from, to] = [findLineStart(text, caret), findLineEnd(text, caret)];
  let at = caret;
  for (let left = count; left > 0; left -= 1) {
    at = isForward
      ? text.indexOf(find.character, findNextBoundary(text, at))
      : at > from
        ? text.lastIndexOf(find.character, at - 1)
        : -1;
    if (at < from || at >= to) return undefined;
  }
  if (find.kind === 't') return { to: findPreviousBoundary(text, at), extent: 'inclusive' };
  if (find.kind === 'T') return createExclusiveTarget(findNextBoundary(text, at));
  return { to: at, extent: isForward ? 'inclusive' : 'exclusive' };
}

/** Returns the offset of the first character of a line that is not white space. */
export function findFirstNonBlank(text: string, at: number): number {
  const end = findLineEnd(text, at);
  let first = findLineStart(text, at);
  while (first < end && /[ \t]/.test(text.charAt(first))) first += 1;
  return first;
}

/** Classifies the character at an offset. Words in vim are runs of one class. */
function classifyCharacter(text: string, at: number): 'word' | 'punctuation' | 'space' {
  const character = String.fromCodePoint(text.codePointAt(at) ?? 32);
  if (/\s/.test(character)) return 'space';
  return /[\p{L}\p{N}\p{M}_]/u.test(character) ? 'word' : 'punctuation';
}

function findNextWordStart(text: string, from: number): number {
  let at = from;
  const kind = classifyCharacter(text, at);
  while (at < text.length && kind !== 'space' && classifyCharacter(text, at) === kind) at = findNextBoundary(text, at);
  while (at < text.length && classifyCharacter(text, at) === 'space') at = findNextBoundary(text, at);
  return at;
}

function findPreviousWordStart(text: string, from: number): number {
  let at = findPreviousBoundary(text, from);
  while (at > 0 && classifyCharacter(text, at) === 'space') at = findPreviousBoundary(text, at);
  const kind = classifyCharacter(text, at);
  while (at > 0 && classifyCharacter(text, findPreviousBoundary(text, at)) === kind)
    at = findPreviousBoundary(text, at);
  return at;
}

function findWordEnd(text: string, from: number): number {
  let at = findNextBoundary(text, from);
  while (at < text.length && classifyCharacter(text, at) === 'space') at = findNextBoundary(text, at);
  const kind = classifyCharacter(text, at);
  for (let next = findNextBoundary(text, at); next < text.length && classifyCharacter(text, next) === kind; ) {
    at = next;
    next = findNextBoundary(text, at);
  }
  return Math.min(at, findPreviousBoundary(text, text.length));
}

function moveRows(editor: DraftEditorState, direction: 'up' | 'down', times: number): number {
  let moved = editor;
  for (let left = times; left > 0; left -= 1) moved = moveCaretByRow(moved, direction) ?? moved;
  return moved.caret;
}

function findNumberedLine(text: string, count: number | undefined, motion: 'gg' | 'G'): number {
  if (count === undefined && motion === 'G') return findFirstNonBlank(text, text.length);
  let at = 0;
  for (let line = 1; line < (count ?? 1) && findLineEnd(text, at) < text.length; line += 1)
    at = findLineEnd(text, at) + 1;
  return findFirstNonBlank(text, at);
}

function createExclusiveTarget(to: number): VimTarget {
  return { to, extent: 'exclusive' };
}

function repeat(times: number, from: number, step: (at: number) => number): number {
  let at = from;
  for (let left = times; left > 0; left -= 1) at = step(at);
  return at;
}

/** The range of an operator, as half-open offsets. */
export type VimRange = { readonly from: number; readonly to: number; readonly shape: 'text' | 'lines' };

type Span = { readonly from: number; readonly to: number };

const PAIRS: Readonly<Record<string, readonly [string, string]>> = {
  '(': ['(', ')'],
  ')': ['(', ')'],
  b: ['(', ')'],
  '[': ['[', ']'],
  ']': ['[', ']'],
  '{': ['{', '}'],
  '}': ['{', '}'],
};

/** Returns the range of the lines between two offsets, without the last newline. */
export function getVimLineRange(text: string, from: number, to: number): VimRange {
  return { from: findLineStart(text, from), to: findLineEnd(text, to), shape: 'lines' };
}

/** Returns the range of a text object such as `iw`, `a"` or `ip` around an offset. */
export function findTextObject(text: string, at: number, object: string): VimRange | undefined {
  const range = findSpan(text, at, object.startsWith('a') ? 'around' : 'inside', object.slice(1));
  return range && { ...range, shape: 'text' };
}

function findSpan(text: string, at: number, around: 'inside' | 'around', kind: string): Span | undefined {
  if (kind === 'w') return findWord(text, at, around);
  if (kind === 'p') return findParagraph(text, at, around);
  const pair = PAIRS[kind];
  const inside = pair ? findBracketPair(text, at, pair) : findQuoted(text, at, kind);
  if (inside === undefined || around === 'inside') return inside;
  return { from: inside.from - 1, to: inside.to + 1 };
}

function findWord(text: string, at: number, around: 'inside' | 'around'): Span | undefined {
  if (text === '') return undefined;
  const inside = findRun(text, at);
  if (around === 'inside') return inside;
  const after =
    classifyCharacter(text, inside.to) === 'space' && inside.to < text.length ? findRun(text, inside.to).to : inside.to;
  if (after > inside.to)
    return { from: inside.from, to: Math.min(after, Math.max(inside.to, findLineEnd(text, inside.to))) };
  const before = findPreviousBoundary(text, inside.from);
  const blank =
    inside.from > 0 && classifyCharacter(text, before) === 'space' ? findRun(text, before).from : inside.from;
  return { from: Math.max(blank, findLineStart(text, inside.from)), to: inside.to };
}

/** Returns the run of characters of one class around an offset, within its line. */
function findRun(text: string, at: number): Span {
  const kind = classifyCharacter(text, at);
  let from = at;
  let to = findNextBoundary(text, at);
  while (from > findLineStart(text, at) && classifyCharacter(text, findPreviousBoundary(text, from)) === kind)
    from = findPreviousBoundary(text, from);
  while (to < findLineEnd(text, at) && classifyCharacter(text, to) === kind) to = findNextBoundary(text, to);
  return { from, to };
}

function findParagraph(text: string, at: number, around: 'inside' | 'around'): Span {
  const before = text.lastIndexOf('\n\n', at - 1);
  const from = before === -1 ? 0 : before + 2;
  const after = text.indexOf('\n\n', at);
  if (after === -1) return { from, to: text.length };
  return { from, to: around === 'around' ? after + 2 : after };
}

function findQuoted(text: string, at: number, quote: string): Span | undefined {
  const [start, end] = [findLineStart(text, at), findLineEnd(text, at)];
  for (let open = text.indexOf(quote, start); open !== -1 && open < end; ) {
    const close = text.indexOf(quote, open + 1);
    if (close === -1 || close >= end) return undefined;
    if (close >= at) return { from: open + 1, to: close };
    open = text.indexOf(quote, close + 1);
  }
  return undefined;
}

function findBracketPair(text: string, at: number, [open, close]: readonly [string, string]): Span | undefined {
  const from = findBracket(text, text.charAt(at) === open ? at : at - 1, -1, open, close);
  if (from === undefined) return undefined;
  const to = findBracket(text, from + 1, 1, close, open);
  return to === undefined ? undefined : { from: from + 1, to };
}

/** Finds the next `wanted` bracket in one direction that is not closed before. */
function findBracket(text: string, start: number, step: 1 | -1, wanted: string, other: string): number | undefined {
  let depth = 0;
  for (let at = start; at >= 0 && at < text.length; at += step) {
    const character = text.charAt(at);
    if (character === wanted && depth === 0) return at;
    if (character === wanted) depth -= 1;
    // The bracket under the caret itself does not count as nested.
    if (character === other && !(step === -1 && at === start + 1)) depth += 1;
  }
  return undefined;
}
