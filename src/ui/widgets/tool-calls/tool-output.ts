import { formatBytes, formatCount } from '../../../lib/text/format.ts';
import { sanitizeForScreen } from '../../../lib/text/sanitize.ts';
import { getTextWidth, truncateEnd } from '../../../lib/text/text-width.ts';
import { colored, createStyledLine, type LogicalLine, plain } from '../../text/line.ts';
import type { RenderContext } from '../../text/render-context.ts';
import { type EndedCallOutcome, MAX_OUTPUT_ROWS, MIN_HIDDEN_LINES } from './tool-entry.ts';

/** Maximum number of characters of a line that are searched for an error. */
const MAX_SEARCHED_CHARS = 500;

/** Parts of a line that tell the reason of a failure. */
const ERROR_PATTERN =
  /\bnot ok\b(?: \d+)?|\bFAIL\w*|✗|×|\b\w*Error\b[:( ]|\berror(?:\[\w+\])?:|panicked|Expected|expected|\bactual:|!==|\bfatal:|(?<![\w./-])[\w./-]+\.\w+:\d+/;

/** Header of a YAML block as test runners write it; the reason follows below. */
const BLOCK_HEADER = /:\s*[|>][+-]?\s*$/;

type OutputOptions = {
  readonly rows: readonly string[];
  readonly status: EndedCallOutcome['status'];
  /** Maximum number of rows on the screen. */
  readonly room: number;
  /** Number of earlier lines that were dropped. */
  readonly hiddenBefore?: number;
  /** The title of the call has test counts, so the end of the output adds nothing. */
  readonly isCounted?: boolean;
};

/** Renders output in a limited number of rows: lines with reasons of a failure first, otherwise its start and end. */
export function renderLimitedOutput(
  { rows, status, room, hiddenBefore = 0, isCounted = false }: OutputOptions,
  { glyphs, width }: RenderContext,
): readonly LogicalLine[] {
  const renderRows = (shown: readonly string[]) =>
    status === 'failed'
      ? shown.map((row) => createErrorLine(row, glyphs.output))
      : renderToolOutput(shown, glyphs.output);
  const columns = Math.max(10, width - 2);
  const measureRow = (row: string) => Math.max(1, Math.ceil(getTextWidth(row) / columns));
  const total = rows.reduce((sum, row) => sum + measureRow(row), 0);
  if (total <= room && hiddenBefore === 0) return renderRows(rows);
  const filled = rows.filter((row) => row.trim() !== '');
  const hidesLittle = filled.length - (room - 1) < MIN_HIDDEN_LINES && filled.every((row) => measureRow(row) === 1);
  if (hidesLittle && hiddenBefore === 0) return renderRows(filled);
  const order = status === 'failed' ? orderErrorsFirst(rows, isCounted) : orderFromEnds(rows.length);
  const selected = new Set<number>();
  let freeRows = room - 1;
  // Empty rows are skipped, as there is room for few rows.
  for (const index of order.filter((row) => rows[row]?.trim() !== '')) {
    const height = Math.min(measureRow(rows[index] ?? ''), status === 'failed' ? 2 : 1);
    if (height > freeRows) break;
    freeRows -= height;
    selected.add(index);
  }
  const shown = [...selected].sort((a, b) => a - b);
  const lines = renderRows(
    shown.map((index) => truncateEnd(rows[index] ?? '', status === 'failed' ? columns * 2 - 1 : columns - 1)),
  );
  const hiddenCount = rows.length - shown.length + hiddenBefore;
  const amount = hiddenCount === 0 ? formatBytes(rows.join('\n').length) : formatCount(hiddenCount, 'line');
  const note = createStyledLine(colored('dim', `${glyphs.output} ${glyphs.ellipsis} ${amount}  ctrl+o`));
  const first = rows.findIndex((row) => row.trim() !== '');
  const gapIndex = shown.findIndex((rowIndex, index) => rowIndex !== first + index);
  const hasErrorsOnly = isCounted && shown.every((index) => isErrorLine(rows[index] ?? ''));
  // If only error lines are shown, lines are hidden in several places, so the note goes to the end.
  return gapIndex === -1 || (hasErrorsOnly && status === 'failed')
    ? [...lines, note]
    : lines.toSpliced(gapIndex, 0, note);
}

/** Orders the rows by importance: error lines, then from the end to the start. */
function orderErrorsFirst(rows: readonly string[], isCounted: boolean): readonly number[] {
  const errorRows = rows.flatMap((row, index) => (isErrorLine(row) ? [index] : []));
  if (isCounted && errorRows.length > 0) return errorRows;
  return [
    ...new Set([...errorRows.slice(0, MAX_OUTPUT_ROWS.failed - 3), ...rows.map((_, index) => rows.length - 1 - index)]),
  ];
}

function isErrorLine(row: string): boolean {
  return ERROR_PATTERN.test(row.slice(0, MAX_SEARCHED_CHARS)) && !BLOCK_HEADER.test(row);
}

/** Renders a line with the error in it highlighted. */
function createErrorLine(row: string, bar: string): LogicalLine {
  const text = sanitizeForScreen(row).trimEnd();
  const [match] = ERROR_PATTERN.exec(text.slice(0, MAX_SEARCHED_CHARS)) ?? [];
  if (match === undefined) return createStyledLine(colored('dim', `${bar} ${text}`));
  const index = text.indexOf(match);
  return createStyledLine(
    colored('dim', `${bar} `),
    plain(text.slice(0, index)),
    colored('error', match),
    plain(text.slice(index + match.length)),
  );
}

/** Orders rows alternately from the start and the end inwards. */
function orderFromEnds(count: number): readonly number[] {
  return Array.from({ length: count }, (_, index) => (index % 2 === 0 ? index / 2 : count - (index + 1) / 2));
}

/** Renders lines of output behind a bar. */
export function renderToolOutput(rows: readonly string[], bar: string): readonly LogicalLine[] {
  return rows.map((row) => createStyledLine(colored('dim', `${bar} ${sanitizeForScreen(row).trimEnd()}`)));
}
