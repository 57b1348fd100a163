import { formatBytes, formatCount } from '../../lib/text/format.ts';
import { sanitizeScreen } from '../../lib/text/sanitize.ts';
import { textWidth } from '../../lib/text/text-width.ts';
import { truncateEnd } from '../../lib/text/truncate.ts';
import type { Drawing } from '../text/drawing.ts';
import { type LogicalLine, terminalLine, toned } from '../text/line.ts';
import type { ToolEnding } from '../view/tool-entry.ts';

/** How many rows of the screen the output of a call may take. */
const ROWS = { done: 3, failed: 8 } as const;

/** Lines that say why something failed. */
const TELLING =
  /\bnot ok\b|\bFAIL|✗|×|\b\w*Error\b[:( ]|\berror(?:\[\w+\])?:|panicked|Expected|expected|\bfatal:|[\w./-]+\.\w+:\d+/;

/** Output in at most so many rows of the screen: what tells of a failure first, else its beginning and its end. */
export function limitedLines(
  rows: readonly string[],
  status: ToolEnding['status'],
  hiddenBefore: number,
  { glyphs, width }: Drawing,
): readonly LogicalLine[] {
  const room = status === 'failed' ? ROWS.failed : ROWS.done;
  const columns = Math.max(10, width - 2);
  const heightOf = (row: string) => Math.max(1, Math.ceil(textWidth(row) / columns));
  const total = rows.reduce((sum, row) => sum + heightOf(row), 0);
  if (total <= room && hiddenBefore === 0) return outputLines(rows, glyphs.output);
  const order = status === 'failed' ? tellingFirst(rows) : endsFirst(rows.length);
  const kept = new Set<number>();
  let left = room - 1;
  // An empty row says nothing, and there is room for few.
  for (const at of order.filter((one) => rows[one]?.trim() !== '')) {
    const height = Math.min(heightOf(rows[at] ?? ''), status === 'failed' ? 2 : 1);
    if (height > left) break;
    left -= height;
    kept.add(at);
  }
  const shown = [...kept].sort((a, b) => a - b);
  const lines = outputLines(
    shown.map((at) => truncateEnd(rows[at] ?? '', status === 'failed' ? columns * 2 - 1 : columns - 1)),
    glyphs.output,
  );
  const cut = rows.length - shown.length + hiddenBefore;
  const words = cut === 0 ? formatBytes(rows.join('\n').length) : formatCount(cut, 'more line');
  const note = terminalLine(toned('dim', `${glyphs.output} ${glyphs.more} ${words}  ctrl+o`));
  const first = rows.findIndex((row) => row.trim() !== '');
  const gap = shown.findIndex((at, index) => at !== first + index);
  return gap <= 0 ? [...lines, note] : lines.toSpliced(gap, 0, note);
}

/** The lines that tell why, then the end, then the beginning. */
function tellingFirst(rows: readonly string[]): readonly number[] {
  const telling = rows.flatMap((row, at) => (TELLING.test(row.slice(0, 500)) ? [at] : []));
  return [...new Set([...telling.slice(0, ROWS.failed - 3), ...rows.map((_, at) => rows.length - 1 - at)])];
}

/** The first, the last, and so on inwards. */
function endsFirst(count: number): readonly number[] {
  return Array.from({ length: count }, (_, at) => (at % 2 === 0 ? at / 2 : count - (at + 1) / 2));
}

/** Lines of output behind a bar. */
export function outputLines(rows: readonly string[], bar: string): readonly LogicalLine[] {
  return rows.map((row) => terminalLine(toned('dim', `${bar} ${sanitizeScreen(row).trimEnd()}`)));
}
