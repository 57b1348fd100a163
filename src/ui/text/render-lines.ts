import { asPrintable, joinPrinted, type Printable, printed } from '../../lib/printable.ts';
import { expandTabs } from '../../lib/text/text-width.ts';
import { type TextRange, wrapHard, wrapRanges } from '../../lib/text/text-wrap.ts';
import type { Paint } from '../theme/paint.ts';
import { type LogicalLine, type Span, sliceSpans, spansWidth } from './line.ts';

/** Where lines are broken into rows. */
export type LineRoom = {
  readonly width: number;
  /** `history` leaves lines unbroken for the terminal to wrap, `live` breaks every row so that rows can be counted. */
  readonly zone: 'history' | 'live';
  /** Prose as one unbroken line too, for those who copy more than they read. */
  readonly prose?: 'words' | 'terminal';
};

/** Where rows are drawn. */
type RowTarget = { readonly paint: Paint; readonly links: 'clickable' | 'printed' };

/** Where lines are drawn. */
export type LineTarget = LineRoom & RowTarget;

/** What stands on one row of the screen. */
export type Row = readonly Span[];

const WIDEST_PROSE = 100;
const TAB_WIDTH = 4;
const CONTROLS = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/g;

/** Lines as strings to be written. No string holds a line break. */
export function renderLines(lines: readonly LogicalLine[], target: LineTarget): Printable[] {
  return breakLines(lines, target).map((row) => paintRow(row, target));
}

/** Lines as the rows they take. */
function breakLines(lines: readonly LogicalLine[], room: LineRoom): readonly Row[] {
  return lines.flatMap((line) => breakLine(line, room));
}

/** The rows lines take where each row is redrawn. */
export function liveRows(lines: readonly LogicalLine[], width: number): readonly Row[] {
  return breakLines(lines, { width, zone: 'live' });
}

/** A row as a string to be written. */
export function paintRow(row: Row, { paint, links }: RowTarget): Printable {
  return joinPrinted(
    row.map(({ text, style, href }) => {
      const painted = paint(text, style);
      return href === undefined || links === 'printed' || text === '' ? painted : linked(painted, href);
    }),
  );
}

/** What a row says, without its look. */
export function rowText(row: Row): string {
  return row.map(({ text }) => text).join('');
}

function breakLine(line: LogicalLine, target: LineRoom): readonly Row[] {
  const spans = line.spans.map((span) => clean(span, target));
  const text = spans.map((span) => span.text).join('');
  const prefix = line.prefix ?? [];
  const label = line.label ? [line.label] : [];
  if (text === '' && label.length === 0) return [trimmedEnd(prefix)];
  const room = Math.max(1, target.width - line.indent - spansWidth(prefix));
  return rangesOf(text, line, room, target).map(({ from, to }, row) => {
    const before = row === 0 ? label : [];
    const indent = ' '.repeat(Math.max(0, line.indent - spansWidth(before)));
    const slice = sliceSpans(spans, from, to);
    return [...prefix, { text: indent }, ...before, ...(line.glued === true ? slice.map(unheld) : slice)];
  });
}

function unheld(span: Span): Span {
  return { ...span, text: span.text.replaceAll('\u00a0', ' ') };
}

function trimmedEnd(row: Row): Row {
  return row.map((span, at) => (at === row.length - 1 ? { ...span, text: span.text.trimEnd() } : span));
}

function rangesOf(text: string, line: LogicalLine, room: number, target: LineRoom): TextRange[] {
  const isProse = line.wrap === 'words' && target.prose !== 'terminal';
  if (target.zone === 'history') {
    if (!isProse) return [{ from: 0, to: text.length }];
    return wrapRanges(text, Math.min(room, WIDEST_PROSE), { spaces: 'trim', longWords: 'keep' });
  }
  if (isProse) return wrapRanges(text, Math.min(room, WIDEST_PROSE), { spaces: 'trim', longWords: 'break' });
  let from = 0;
  return wrapHard(text, room).map((row) => {
    const range = { from, to: from + row.length };
    from = range.to;
    return range;
  });
}

function clean(span: Span, target: LineRoom): Span {
  const oneLine = span.text.replaceAll('\n', ' ').replace(CONTROLS, '');
  return { ...span, text: target.zone === 'live' ? expandTabs(oneLine, TAB_WIDTH) : oneLine };
}

function linked(text: Printable, href: string): Printable {
  const address = asPrintable(href.replace(/[^\x21-\x7e]/gu, encodeURI));
  return printed`\u001b]8;;${address}\u001b\\${text}\u001b]8;;\u001b\\`;
}
