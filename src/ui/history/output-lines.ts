import { formatBytes, formatCount } from '../../lib/text/format.ts';
import { sanitizeScreen } from '../../lib/text/sanitize.ts';
import { textWidth } from '../../lib/text/text-width.ts';
import { truncateEnd } from '../../lib/text/truncate.ts';
import type { Drawing } from '../text/drawing.ts';
import { type LogicalLine, plain, terminalLine, toned } from '../text/line.ts';
import { OUTPUT_ROWS, type ToolEnding } from '../view/tool-entry.ts';

/** How much of a line is looked at. */
const TOLD_CHARS = 500;

/** What of a line says why something failed. */
const TELLING =
  /\bnot ok\b(?: \d+)?|\bFAIL\w*|✗|×|\b\w*Error\b[:( ]|\berror(?:\[\w+\])?:|panicked|Expected|expected|\bactual:|!==|\bfatal:|[\w./-]+\.\w+:\d+/;

/** The head of a text in YAML, as test runners write it: what it says comes below. */
const ANNOUNCING = /:\s*[|>][+-]?\s*$/;

type Output = {
  readonly rows: readonly string[];
  readonly status: ToolEnding['status'];
  /** Lines that went before these were kept. */
  readonly hiddenBefore?: number;
  /** The line of the call has counts: beside what tells why, its end says nothing more. */
  readonly isCounted?: boolean;
};

/** Output in at most so many rows of the screen: what tells of a failure first, else its beginning and its end. */
export function limitedLines(
  { rows, status, hiddenBefore = 0, isCounted = false }: Output,
  { glyphs, width }: Drawing,
): readonly LogicalLine[] {
  const room = status === 'failed' ? OUTPUT_ROWS.failed : OUTPUT_ROWS.done;
  const draw = (shown: readonly string[]) =>
    status === 'failed' ? shown.map((row) => tellingLine(row, glyphs.output)) : outputLines(shown, glyphs.output);
  const columns = Math.max(10, width - 2);
  const heightOf = (row: string) => Math.max(1, Math.ceil(textWidth(row) / columns));
  const total = rows.reduce((sum, row) => sum + heightOf(row), 0);
  if (total <= room && hiddenBefore === 0) return draw(rows);
  const order = status === 'failed' ? tellingFirst(rows, isCounted) : endsFirst(rows.length);
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
  const lines = draw(
    shown.map((at) => truncateEnd(rows[at] ?? '', status === 'failed' ? columns * 2 - 1 : columns - 1)),
  );
  const cut = rows.length - shown.length + hiddenBefore;
  const words = cut === 0 ? formatBytes(rows.join('\n').length) : formatCount(cut, 'line');
  const note = terminalLine(toned('dim', `${glyphs.output} ${glyphs.more} ${words}  ctrl+o`));
  const first = rows.findIndex((row) => row.trim() !== '');
  const gap = shown.findIndex((at, index) => at !== first + index);
  const isAround = isCounted && shown.every((at) => isTelling(rows[at] ?? ''));
  // What is left out of lines that tell why lies around each of them, not at one place.
  return gap === -1 || (isAround && status === 'failed') ? [...lines, note] : lines.toSpliced(gap, 0, note);
}

/** The lines that tell why, then the end, then the beginning. */
function tellingFirst(rows: readonly string[], isCounted: boolean): readonly number[] {
  const telling = rows.flatMap((row, at) => (isTelling(row) ? [at] : []));
  if (isCounted && telling.length > 0) return telling;
  return [...new Set([...telling.slice(0, OUTPUT_ROWS.failed - 3), ...rows.map((_, at) => rows.length - 1 - at)])];
}

function isTelling(row: string): boolean {
  return TELLING.test(row.slice(0, TOLD_CHARS)) && !ANNOUNCING.test(row);
}

/** What tells why stands out of the others. */
function tellingLine(row: string, bar: string): LogicalLine {
  const text = sanitizeScreen(row).trimEnd();
  const [told] = TELLING.exec(text.slice(0, TOLD_CHARS)) ?? [];
  if (told === undefined) return terminalLine(toned('dim', `${bar} ${text}`));
  const at = text.indexOf(told);
  return terminalLine(
    toned('dim', `${bar} `),
    plain(text.slice(0, at)),
    toned('error', told),
    plain(text.slice(at + told.length)),
  );
}

/** The first, the last, and so on inwards. */
function endsFirst(count: number): readonly number[] {
  return Array.from({ length: count }, (_, at) => (at % 2 === 0 ? at / 2 : count - (at + 1) / 2));
}

/** Lines of output behind a bar. */
export function outputLines(rows: readonly string[], bar: string): readonly LogicalLine[] {
  return rows.map((row) => terminalLine(toned('dim', `${bar} ${sanitizeScreen(row).trimEnd()}`)));
}
