import { diffArrays } from 'diff';

/** One change of a text: these lines of it give way to those. */
type Edit = { readonly from: number; readonly to: number; readonly lines: readonly string[] };

const TIMEOUT_MS = 1_000;

/**
 * A text with the changes of two sides, line by line, each made to the same base. `undefined` when both changed the
 * same lines in different ways, or when it takes too long to tell.
 */
export function mergeLines(base: string, one: string, other: string): string | undefined {
  const lines = linesOf(base);
  const [left, right] = [editsOf(lines, one), editsOf(lines, other)];
  if (left === undefined || right === undefined) return undefined;
  const own = right.filter((edit) => !left.some((its) => isSame(its, edit)));
  if (own.some((edit) => left.some((its) => isOverlapping(its, edit)))) return undefined;
  const edits = [...left, ...own].toSorted((a, b) => a.from - b.from || a.to - b.to);
  const merged: string[] = [];
  let at = 0;
  for (const { from, to, lines: fresh } of edits) {
    merged.push(...lines.slice(at, from), ...fresh);
    at = to;
  }
  return [...merged, ...lines.slice(at)].join('');
}

/** Each with its newline, so that a missing last one is a difference as well. */
function linesOf(text: string): string[] {
  return text.match(/[^\n]*\n|[^\n]+/g) ?? [];
}

function editsOf(base: string[], text: string): readonly Edit[] | undefined {
  const parts = diffArrays(base, linesOf(text), { timeout: TIMEOUT_MS });
  const edits: Edit[] = [];
  let at = 0;
  let open: Edit | undefined;
  for (const { added, removed, value } of parts ?? []) {
    if (!added && !removed) {
      if (open !== undefined) edits.push(open);
      open = undefined;
      at += value.length;
      continue;
    }
    open ??= { from: at, to: at, lines: [] };
    if (removed) at += value.length;
    open = { from: open.from, to: at, lines: added ? [...open.lines, ...value] : open.lines };
  }
  if (open !== undefined) edits.push(open);
  return parts === undefined ? undefined : edits;
}

function isSame(a: Edit, b: Edit): boolean {
  return a.from === b.from && a.to === b.to && a.lines.join('') === b.lines.join('');
}

/** Two that only touch do not overlap; of two that put something into the same place nobody knows which comes first. */
function isOverlapping(a: Edit, b: Edit): boolean {
  return (a.from < b.to && b.from < a.to) || (a.from === b.from && (a.from === a.to) === (b.from === b.to));
}
