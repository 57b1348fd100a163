import { lineEnd, lineStart, nextBoundary, previousBoundary } from './boundaries.ts';
import type { EditorState } from './editor-state.ts';
import { moveRow } from './motions.ts';

/** Where a motion leads and what an operator takes on the way. */
export type VimTarget = { readonly to: number; readonly reach: 'exclusive' | 'inclusive' | 'line' };

/** A search within the line, kept for `;` and `,`. */
export type VimFind = { readonly kind: string; readonly character: string };

/** Follows a motion; undefined when it leads nowhere. */
export function vimTarget(editor: EditorState, motion: string, count: number | undefined): VimTarget | undefined {
  const { text, caret } = editor;
  const times = count ?? 1;
  switch (motion) {
    case 'h':
      return exclusive(repeat(times, caret, (at) => Math.max(lineStart(text, caret), previousBoundary(text, at))));
    case 'l':
      return exclusive(repeat(times, caret, (at) => Math.min(lineEnd(text, caret), nextBoundary(text, at))));
    case 'j':
    case 'k':
      return { to: rowsAway(editor, motion === 'j' ? 'down' : 'up', times), reach: 'line' };
    case 'w':
      return exclusive(repeat(times, caret, (at) => nextWordStart(text, at)));
    case 'b':
      return exclusive(repeat(times, caret, (at) => previousWordStart(text, at)));
    case 'e':
      return { to: repeat(times, caret, (at) => wordEnd(text, at)), reach: 'inclusive' };
    case '0':
      return exclusive(lineStart(text, caret));
    case '^':
      return exclusive(firstNonBlank(text, caret));
    case '$':
      return exclusive(
        lineEnd(
          text,
          repeat(times - 1, caret, (at) => Math.min(text.length, lineEnd(text, at) + 1)),
        ),
      );
    case 'gg':
    case 'G':
      return { to: lineNumbered(text, count, motion), reach: 'line' };
    default:
      return undefined;
  }
}

/** The place of a character in the line, as `f`, `F`, `t` and `T` look for it. */
export function vimFind(editor: EditorState, find: VimFind, count: number): VimTarget | undefined {
  const { text, caret } = editor;
  const isForward = find.kind === 'f' || find.kind === 't';
  const [from, to] = [lineStart(text, caret), lineEnd(text, caret)];
  let at = caret;
  for (let left = count; left > 0; left -= 1) {
    at = isForward
      ? text.indexOf(find.character, nextBoundary(text, at))
      : at > from
        ? text.lastIndexOf(find.character, at - 1)
        : -1;
    if (at < from || at >= to) return undefined;
  }
  if (find.kind === 't') return { to: previousBoundary(text, at), reach: 'inclusive' };
  if (find.kind === 'T') return exclusive(nextBoundary(text, at));
  return { to: at, reach: isForward ? 'inclusive' : 'exclusive' };
}

/** The first character of a line that is not white space. */
export function firstNonBlank(text: string, at: number): number {
  const end = lineEnd(text, at);
  let first = lineStart(text, at);
  while (first < end && /[ \t]/.test(text.charAt(first))) first += 1;
  return first;
}

/** What kind of character stands at an offset: vim's words are runs of one kind. */
export function characterKind(text: string, at: number): 'word' | 'mark' | 'space' {
  const character = String.fromCodePoint(text.codePointAt(at) ?? 32);
  if (/\s/.test(character)) return 'space';
  return /[\p{L}\p{N}\p{M}_]/u.test(character) ? 'word' : 'mark';
}

function nextWordStart(text: string, from: number): number {
  let at = from;
  const kind = characterKind(text, at);
  while (at < text.length && kind !== 'space' && characterKind(text, at) === kind) at = nextBoundary(text, at);
  while (at < text.length && characterKind(text, at) === 'space') at = nextBoundary(text, at);
  return at;
}

function previousWordStart(text: string, from: number): number {
  let at = previousBoundary(text, from);
  while (at > 0 && characterKind(text, at) === 'space') at = previousBoundary(text, at);
  const kind = characterKind(text, at);
  while (at > 0 && characterKind(text, previousBoundary(text, at)) === kind) at = previousBoundary(text, at);
  return at;
}

function wordEnd(text: string, from: number): number {
  let at = nextBoundary(text, from);
  while (at < text.length && characterKind(text, at) === 'space') at = nextBoundary(text, at);
  const kind = characterKind(text, at);
  for (let next = nextBoundary(text, at); next < text.length && characterKind(text, next) === kind; ) {
    at = next;
    next = nextBoundary(text, at);
  }
  return Math.min(at, previousBoundary(text, text.length));
}

function rowsAway(editor: EditorState, way: 'up' | 'down', times: number): number {
  let moved = editor;
  for (let left = times; left > 0; left -= 1) moved = moveRow(moved, way) ?? moved;
  return moved.caret;
}

function lineNumbered(text: string, count: number | undefined, motion: 'gg' | 'G'): number {
  if (count === undefined && motion === 'G') return firstNonBlank(text, text.length);
  let at = 0;
  for (let line = 1; line < (count ?? 1) && lineEnd(text, at) < text.length; line += 1) at = lineEnd(text, at) + 1;
  return firstNonBlank(text, at);
}

function exclusive(to: number): VimTarget {
  return { to, reach: 'exclusive' };
}

function repeat(times: number, from: number, step: (at: number) => number): number {
  let at = from;
  for (let left = times; left > 0; left -= 1) at = step(at);
  return at;
}
