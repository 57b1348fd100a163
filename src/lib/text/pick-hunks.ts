import { lineEndingOf } from './lines.ts';

/** Where a hunk stands in both texts; lines are counted from 1. */
type Place = {
  readonly oldStart: number;
  readonly oldLines: number;
  readonly newStart: number;
  readonly newLines: number;
};

/** The new text with some of its hunks left as they were in the old one. Lines outside of hunks keep their old ends. */
export function withoutHunks(
  before: string,
  after: string,
  hunks: readonly Place[],
  refused: readonly number[],
): string {
  if (refused.length === 0) return after;
  const [old, fresh] = [linesOf(before), linesOf(after)];
  let at = 0;
  const parts = hunks.flatMap(({ oldStart, oldLines, newStart, newLines }, index) => {
    const kept = old.slice(at, oldStart - 1);
    at = oldStart - 1 + oldLines;
    const own = refused.includes(index)
      ? old.slice(at - oldLines, at)
      : fresh.slice(newStart - 1, newStart - 1 + newLines);
    return [...kept, ...own];
  });
  return [...parts, ...old.slice(at)].join('');
}

/** Each with its line end, so that they joined again are the text. */
function linesOf(text: string): readonly string[] {
  return text.match(lineEndingOf(text) === '\r' ? /[^\r]*\r|[^\r]+/g : /[^\n]*\n|[^\n]+/g) ?? [];
}
