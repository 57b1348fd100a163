import type { DiffHunk } from '../../../contracts/display.ts';
import { expandTabs, getTextWidth, padToWidth } from '../../../lib/text/text-width.ts';
import { wrapHard } from '../../../lib/text/text-wrap.ts';
import { colored, createStyledLine, type LogicalLine, plain, type StyledSpan, sliceSpans } from '../../text/line.ts';
import type { RenderContext } from '../../text/render-context.ts';
import { countAdjacentDiffLines, findChangedRanges, highlightHunk, renderDiffLine } from './diff-lines.ts';

type NumberedLine = { readonly number: number; readonly spans: readonly StyledSpan[] };
type Pair = { readonly before: NumberedLine | undefined; readonly after: NumberedLine | undefined };

const TAB_WIDTH = 4;
const DIVIDER = ' │ ';

/** Renders a hunk with the old lines on the left and the new lines on the right; long lines wrap within their half. */
export function renderSideBySide(
  hunk: DiffHunk,
  path: string | undefined,
  { width, highlight }: Pick<RenderContext, 'width' | 'highlight'>,
): readonly LogicalLine[] {
  const highestNumber = Math.max(hunk.oldStart + hunk.oldLines, hunk.newStart + hunk.newLines);
  const digits = String(highestNumber).length;
  const room = Math.max(10, Math.floor((width - DIVIDER.length - 1) / 2) - digits - 1);
  const expanded = { ...hunk, lines: hunk.lines.map((line) => ({ ...line, text: expandTabs(line.text, TAB_WIDTH) })) };
  return pairLines(expanded, highlightHunk(expanded, path, highlight)).flatMap(({ before, after }) => {
    const [left, right] = [wrapCell(before, room), wrapCell(after, room)];
    return Array.from({ length: Math.max(left.length, right.length, 1) }, (_, row) =>
      createStyledLine(
        ...renderSide(left[row], row === 0 ? before?.number : undefined, digits, room),
        colored('dim', DIVIDER),
        ...renderSide(right[row], row === 0 ? after?.number : undefined, digits, room),
      ),
    );
  });
}

/** Pairs removed lines with the lines that replace them. */
function pairLines(hunk: DiffHunk, syntax: ReturnType<typeof highlightHunk>): readonly Pair[] {
  const ranges = findChangedRanges(hunk.lines);
  const pairs: Pair[] = [];
  let [oldLine, newLine] = [hunk.oldStart, hunk.newStart];
  for (let index = 0; index < hunk.lines.length; ) {
    const removedCount = countAdjacentDiffLines(hunk.lines, index, 'del');
    const addedCount = countAdjacentDiffLines(hunk.lines, index + removedCount, 'add');
    const getSpans = (lineIndex: number): readonly StyledSpan[] => {
      const line = hunk.lines[lineIndex];
      return line === undefined ? [] : renderDiffLine(line, ranges[lineIndex], syntax[lineIndex]);
    };
    if (removedCount + addedCount === 0) {
      pairs.push({
        before: { number: oldLine, spans: getSpans(index) },
        after: { number: newLine, spans: getSpans(index) },
      });
      [oldLine, newLine, index] = [oldLine + 1, newLine + 1, index + 1];
      continue;
    }
    for (let row = 0; row < Math.max(removedCount, addedCount); row += 1) {
      const before = row < removedCount ? { number: oldLine + row, spans: getSpans(index + row) } : undefined;
      const after =
        row < addedCount ? { number: newLine + row, spans: getSpans(index + removedCount + row) } : undefined;
      pairs.push({ before, after });
    }
    [oldLine, newLine, index] = [oldLine + removedCount, newLine + addedCount, index + removedCount + addedCount];
  }
  return pairs;
}

/** Wraps a line into rows of its half. */
function wrapCell(cell: NumberedLine | undefined, room: number): readonly (readonly StyledSpan[])[] {
  if (cell === undefined) return [];
  let from = 0;
  return wrapHard(cell.spans.map(({ text }) => text).join(''), room).map((row) => {
    const slice = sliceSpans(cell.spans, from, from + row.length);
    from += row.length;
    return slice;
  });
}

function renderSide(
  spans: readonly StyledSpan[] = [],
  number: number | undefined,
  digits: number,
  room: number,
): readonly StyledSpan[] {
  const usedWidth = spans.reduce((sum, { text }) => sum + getTextWidth(text), 0);
  const gutter = padToWidth(number === undefined ? '' : String(number).padStart(digits), digits);
  return [colored('dim', `${gutter} `), ...spans, plain(' '.repeat(Math.max(0, room - usedWidth)))];
}
