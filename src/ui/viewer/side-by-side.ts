import type { DiffHunk, DiffLine } from '../../contracts/display.ts';
import { expandTabs, padWidth, textWidth } from '../../lib/text/text-width.ts';
import { wrapHard } from '../../lib/text/text-wrap.ts';
import { changedWords } from '../history/changed-words.ts';
import { changed } from '../history/diff-lines.ts';
import { type LogicalLine, plain, type Span, sliceSpans, terminalLine, toned } from '../text/line.ts';

/** A line of one side with its number. */
type Cell = { readonly number: number; readonly spans: readonly Span[] };
type Pair = { readonly old: Cell | undefined; readonly fresh: Cell | undefined };

const TAB_WIDTH = 4;
const MIDDLE = ' │ ';

/** A hunk with the old lines on the left and the new ones on the right; long lines go on below themselves. */
export function sideBySide(hunk: DiffHunk, width: number): readonly LogicalLine[] {
  const highest = Math.max(hunk.oldStart + hunk.oldLines, hunk.newStart + hunk.newLines);
  const digits = String(highest).length;
  const room = Math.max(10, Math.floor((width - MIDDLE.length - 1) / 2) - digits - 1);
  return pairsOf(hunk).flatMap(({ old, fresh }) => {
    const [left, right] = [rowsOf(old, room), rowsOf(fresh, room)];
    return Array.from({ length: Math.max(left.length, right.length, 1) }, (_, row) =>
      terminalLine(
        ...side(left[row], row === 0 ? old?.number : undefined, digits, room),
        toned('dim', MIDDLE),
        ...side(right[row], row === 0 ? fresh?.number : undefined, digits, room),
      ),
    );
  });
}

/** Lines that were taken out stand beside those that came in their place. */
function pairsOf(hunk: DiffHunk): readonly Pair[] {
  const words = changedWords(hunk.lines);
  const pairs: Pair[] = [];
  let [oldLine, newLine] = [hunk.oldStart, hunk.newStart];
  for (let at = 0; at < hunk.lines.length; ) {
    const gone = runLength(hunk.lines, at, 'del');
    const come = runLength(hunk.lines, at + gone, 'add');
    const spansAt = (index: number): readonly Span[] => {
      const line = hunk.lines[index];
      return line === undefined ? [] : changed(line.kind, expandTabs(line.text, TAB_WIDTH), words[index]);
    };
    if (gone + come === 0) {
      pairs.push({ old: { number: oldLine, spans: spansAt(at) }, fresh: { number: newLine, spans: spansAt(at) } });
      [oldLine, newLine, at] = [oldLine + 1, newLine + 1, at + 1];
      continue;
    }
    for (let row = 0; row < Math.max(gone, come); row += 1) {
      const old = row < gone ? { number: oldLine + row, spans: spansAt(at + row) } : undefined;
      const fresh = row < come ? { number: newLine + row, spans: spansAt(at + gone + row) } : undefined;
      pairs.push({ old, fresh });
    }
    [oldLine, newLine, at] = [oldLine + gone, newLine + come, at + gone + come];
  }
  return pairs;
}

function runLength(lines: readonly DiffLine[], from: number, kind: DiffLine['kind']): number {
  let length = 0;
  while (lines[from + length]?.kind === kind) length += 1;
  return length;
}

/** A cell broken into rows of its half. */
function rowsOf(cell: Cell | undefined, room: number): readonly (readonly Span[])[] {
  if (cell === undefined) return [];
  let from = 0;
  return wrapHard(cell.spans.map(({ text }) => text).join(''), room).map((row) => {
    const slice = sliceSpans(cell.spans, from, from + row.length);
    from += row.length;
    return slice;
  });
}

function side(spans: readonly Span[] = [], number: number | undefined, digits: number, room: number): readonly Span[] {
  const used = spans.reduce((sum, { text }) => sum + textWidth(text), 0);
  const gutter = padWidth(number === undefined ? '' : String(number).padStart(digits), digits);
  return [toned('dim', `${gutter} `), ...spans, plain(' '.repeat(Math.max(0, room - used)))];
}
