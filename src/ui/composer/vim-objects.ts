import { lineEnd, lineStart, nextBoundary, previousBoundary } from './boundaries.ts';
import { characterKind } from './vim-motions.ts';

/** Half-open offsets an operator works on. */
export type VimRange = { readonly from: number; readonly to: number; readonly shape: 'text' | 'lines' };

type Range = { readonly from: number; readonly to: number };

const PAIRS: Readonly<Record<string, readonly [string, string]>> = {
  '(': ['(', ')'],
  ')': ['(', ')'],
  b: ['(', ')'],
  '[': ['[', ']'],
  ']': ['[', ']'],
  '{': ['{', '}'],
  '}': ['{', '}'],
};

/** The lines from one offset to another, without the newline behind them. */
export function wholeLines(text: string, from: number, to: number): VimRange {
  return { from: lineStart(text, from), to: lineEnd(text, to), shape: 'lines' };
}

/** The range of a text object such as `iw`, `a"` or `ip` around an offset. */
export function vimObject(text: string, at: number, object: string): VimRange | undefined {
  const range = objectRange(text, at, object.startsWith('a') ? 'around' : 'inside', object.slice(1));
  return range && { ...range, shape: 'text' };
}

function objectRange(text: string, at: number, around: 'inside' | 'around', kind: string): Range | undefined {
  if (kind === 'w') return wordObject(text, at, around);
  if (kind === 'p') return paragraphObject(text, at, around);
  const pair = PAIRS[kind];
  const inside = pair ? bracketObject(text, at, pair) : quoteObject(text, at, kind);
  if (inside === undefined || around === 'inside') return inside;
  return { from: inside.from - 1, to: inside.to + 1 };
}

function wordObject(text: string, at: number, around: 'inside' | 'around'): Range | undefined {
  if (text === '') return undefined;
  const inside = run(text, at);
  if (around === 'inside') return inside;
  const after =
    characterKind(text, inside.to) === 'space' && inside.to < text.length ? run(text, inside.to).to : inside.to;
  if (after > inside.to)
    return { from: inside.from, to: Math.min(after, Math.max(inside.to, lineEnd(text, inside.to))) };
  const before = previousBoundary(text, inside.from);
  const blank = inside.from > 0 && characterKind(text, before) === 'space' ? run(text, before).from : inside.from;
  return { from: Math.max(blank, lineStart(text, inside.from)), to: inside.to };
}

/** The characters of one kind around an offset, within its line. */
function run(text: string, at: number): Range {
  const kind = characterKind(text, at);
  let from = at;
  let to = nextBoundary(text, at);
  while (from > lineStart(text, at) && characterKind(text, previousBoundary(text, from)) === kind)
    from = previousBoundary(text, from);
  while (to < lineEnd(text, at) && characterKind(text, to) === kind) to = nextBoundary(text, to);
  return { from, to };
}

function paragraphObject(text: string, at: number, around: 'inside' | 'around'): Range {
  const before = text.lastIndexOf('\n\n', at - 1);
  const from = before === -1 ? 0 : before + 2;
  const after = text.indexOf('\n\n', at);
  if (after === -1) return { from, to: text.length };
  return { from, to: around === 'around' ? after + 2 : after };
}

function quoteObject(text: string, at: number, quote: string): Range | undefined {
  const [start, end] = [lineStart(text, at), lineEnd(text, at)];
  for (let open = text.indexOf(quote, start); open !== -1 && open < end; ) {
    const close = text.indexOf(quote, open + 1);
    if (close === -1 || close >= end) return undefined;
    if (close >= at) return { from: open + 1, to: close };
    open = text.indexOf(quote, close + 1);
  }
  return undefined;
}

function bracketObject(text: string, at: number, [open, close]: readonly [string, string]): Range | undefined {
  const from = matching(text, text.charAt(at) === open ? at : at - 1, -1, open, close);
  if (from === undefined) return undefined;
  const to = matching(text, from + 1, 1, close, open);
  return to === undefined ? undefined : { from: from + 1, to };
}

/** The next `wanted` bracket that is not closed again on the way. */
function matching(text: string, start: number, step: 1 | -1, wanted: string, other: string): number | undefined {
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
