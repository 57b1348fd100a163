import type { LineEnding } from '../../lib/text/lines.ts';

const MAX_CELLS = 1_000_000;

/** Adds line endings to the new text: unchanged lines keep theirs, new lines get the ending of the line before. */
export function applyLineEndings(
  before: string,
  after: string,
  endings: readonly LineEnding[],
  fallback: LineEnding,
): string {
  const first = endings[0] ?? fallback;
  if (endings.every((ending) => ending === first)) return after.replaceAll('\n', first);
  const oldLines = before.split('\n');
  const newLines = after.split('\n');
  const oldIndexes = alignEqualLines(oldLines, newLines);
  let lastEnding: LineEnding = first;
  return newLines
    .map((line, index) => {
      if (index === newLines.length - 1) return line;
      const oldIndex = oldIndexes[index];
      lastEnding = (oldIndex === undefined ? undefined : endings[oldIndex]) ?? lastEnding;
      return line + lastEnding;
    })
    .join('');
}

/** Returns for each new line the index of the equal old line, by the longest common subsequence. */
export function alignEqualLines(
  oldLines: readonly string[],
  newLines: readonly string[],
): readonly (number | undefined)[] {
  const oldIndexes: (number | undefined)[] = newLines.map(() => undefined);
  if (oldLines.length * newLines.length > MAX_CELLS) return oldIndexes.map((_, index) => index);
  const width = newLines.length + 1;
  const lengths = new Uint32Array((oldLines.length + 1) * width);
  const at = (row: number, column: number) => lengths[row * width + column] ?? 0;
  for (let row = oldLines.length - 1; row >= 0; row -= 1) {
    for (let column = newLines.length - 1; column >= 0; column -= 1) {
      const isSame = oldLines[row] === newLines[column];
      lengths[row * width + column] = isSame
        ? at(row + 1, column + 1) + 1
        : Math.max(at(row + 1, column), at(row, column + 1));
    }
  }
  let row = 0;
  let column = 0;
  while (row < oldLines.length && column < newLines.length) {
    if (oldLines[row] === newLines[column]) {
      oldIndexes[column] = row;
      row += 1;
      column += 1;
    } else if (at(row + 1, column) >= at(row, column + 1)) row += 1;
    else column += 1;
  }
  return oldIndexes;
}

/** A text with all line endings folded to `\n`, and the mapping back to the original. */
export type FoldedLineEndings = {
  readonly text: string;
  /** Returns the offset in the original text. */
  toOriginal(at: number): number;
  /** Returns the original line endings between two offsets of the folded text. */
  endingsWithin(from: number, to: number): readonly LineEnding[];
  /** Returns the ending for a new line at an offset. */
  endingNear(at: number): LineEnding;
};

/** Folds CRLF, and lone CR if the text has no other ending. */
export function foldTextLineEndings(original: string): FoldedLineEndings {
  const onlyCr = !original.includes('\n') && original.includes('\r');
  if (onlyCr) return createUniformText(original.replaceAll('\r', '\n'), '\r');
  if (!original.includes('\r\n')) return createUniformText(original, '\n');
  const text = original.replaceAll('\r\n', '\n');
  const crlfOffsets: number[] = [];
  for (let at = original.indexOf('\r\n'); at !== -1; at = original.indexOf('\r\n', at + 2))
    crlfOffsets.push(at - crlfOffsets.length);
  const countCrlfBefore = (at: number) => lowerBound(crlfOffsets, at);
  const getEndingAt = (at: number): LineEnding => (crlfOffsets[countCrlfBefore(at)] === at ? '\r\n' : '\n');
  return {
    text,
    toOriginal: (at) => at + countCrlfBefore(at),
    endingsWithin(from, to) {
      const endings: LineEnding[] = [];
      for (let at = text.indexOf('\n', from); at !== -1 && at < to; at = text.indexOf('\n', at + 1))
        endings.push(getEndingAt(at));
      return endings;
    },
    endingNear(at) {
      const next = text.indexOf('\n', at);
      return getEndingAt(next === -1 ? text.lastIndexOf('\n') : next);
    },
  };
}

/** Creates a folded text with a single kind of one-character ending: offsets are the same in both texts. */
function createUniformText(text: string, ending: LineEnding): FoldedLineEndings {
  return {
    text,
    toOriginal: (at) => at,
    endingsWithin: (from, to) => Array.from({ length: text.slice(from, to).split('\n').length - 1 }, () => ending),
    endingNear: () => ending,
  };
}

function lowerBound(sorted: readonly number[], target: number): number {
  let low = 0;
  let high = sorted.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((sorted[middle] ?? 0) < target) low = middle + 1;
    else high = middle;
  }
  return low;
}
