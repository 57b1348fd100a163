import type { DiffHunk } from '../../contracts/display.ts';
import { sanitizeScreen } from '../../lib/text/sanitize.ts';
import { diffLines } from '../history/diff-lines.ts';
import type { Drawing } from '../text/drawing.ts';
import { type LogicalLine, plain, type Span, terminalLine, toned } from '../text/line.ts';
import type { HunkMark, ReviewPage } from '../view/review-page.ts';
import { sideBySide } from './side-by-side.ts';
import type { PageEntry } from './transcript-entries.ts';

/** Two texts beside each other need this much. */
const SIDE_BY_SIDE = 120;
const SIGNS = { add: '+', del: '-', same: ' ' } as const;

/** A change part by part, each below a line that says what was decided about it. */
export function reviewEntries(page: ReviewPage, drawing: Drawing): readonly PageEntry[] {
  return page.hunks.map((hunk, at) => {
    const lines =
      drawing.width >= SIDE_BY_SIDE ? sideBySide(hunk, drawing.width) : diffLines({ hunks: [hunk] }, drawing.width);
    return {
      lines: [headLine(page, hunk, at, drawing), ...lines, terminalLine()],
      block: hunk.lines.map(({ kind, text }) => `${SIGNS[kind]}${text}`).join('\n'),
      mark: 'start',
    };
  });
}

function headLine(page: ReviewPage, { newStart, newLines }: DiffHunk, at: number, { glyphs }: Drawing): LogicalLine {
  const isHere = at === page.at;
  const place = newLines <= 1 ? `line ${newStart}` : `lines ${newStart}-${newStart + newLines - 1}`;
  const words = `part ${at + 1} of ${page.hunks.length}, ${place}`;
  const name: Span = isHere ? { text: `> ${words} `, style: { token: 'select' } } : toned('accent', `  ${words} `);
  return terminalLine(name, ...markSpans(page.marks[at], glyphs));
}

function markSpans(mark: HunkMark | undefined, { done, failed }: Drawing['glyphs']): readonly Span[] {
  if (mark === undefined || mark.verdict === 'open') return [];
  if (mark.verdict === 'yes') return [toned('ok', `  ${done} yes`)];
  const why = mark.why === '' ? [] : [plain(`: ${sanitizeScreen(mark.why)}`)];
  return [toned('error', `  ${failed} no`), ...why];
}
