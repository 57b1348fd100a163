import { joinPrintable, markAsPrintable, type Printable, printable } from '../../lib/printable.ts';
import { expandTabs } from '../../lib/text/text-width.ts';
import { type RowTextRange, wrapHard, wrapRanges } from '../../lib/text/text-wrap.ts';
import type { Paint } from '../theme/paint.ts';
import { type LogicalLine, measureSpans, type StyledSpan, sliceSpans } from './line.ts';

/** The width and the rules for wrapping lines into rows. */
export type RowWrapOptions = {
  readonly width: number;
  /** `history` leaves lines unbroken for the terminal to wrap, `live` wraps all lines so that rows can be counted. */
  readonly zone: 'history' | 'live';
  /** `terminal` leaves prose unbroken too, which is better for copying. */
  readonly prose?: 'words' | 'terminal';
};

type RowTarget = { readonly paint: Paint; readonly links: 'clickable' | 'printed' };

/** The options for wrapping and painting lines. */
export type RenderLinesOptions = RowWrapOptions & RowTarget;

/** The content of one row of the screen. */
export type ScreenRow = readonly StyledSpan[];

const WIDEST_PROSE = 100;
const TAB_WIDTH = 4;
const CONTROLS = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/g;

/** Renders lines as painted strings without line breaks. */
export function renderLines(lines: readonly LogicalLine[], target: RenderLinesOptions): Printable[] {
  return wrapAll(lines, target).map((row) => paintRow(row, target));
}

function wrapAll(lines: readonly LogicalLine[], room: RowWrapOptions): readonly ScreenRow[] {
  return lines.flatMap((line) => wrapLine(line, room));
}

/** Wraps lines into rows for the redrawn part of the screen. */
export function wrapLines(lines: readonly LogicalLine[], width: number): readonly ScreenRow[] {
  return wrapAll(lines, { width, zone: 'live' });
}

/** Paints a row for the terminal, with its links. */
export function paintRow(row: ScreenRow, { paint, links }: RowTarget): Printable {
  return joinPrintable(
    row.map(({ text, style, href }) => {
      const painted = paint(text, style);
      return href === undefined || links === 'printed' || text === '' ? painted : addHyperlink(painted, href);
    }),
  );
}

/** Returns the text of a row without styles. */
export function getRowText(row: ScreenRow): string {
  return row.map(({ text }) => text).join('');
}

function wrapLine(line: LogicalLine, target: RowWrapOptions): readonly ScreenRow[] {
  const spans = line.spans.map((span) => sanitizeSpan(span, target));
  const text = spans.map((span) => span.text).join('');
  const prefix = line.prefix ?? [];
  const label = line.label ? [line.label] : [];
  if (text === '' && label.length === 0) return [trimRowEnd(prefix)];
  const room = Math.max(1, target.width - line.indent - measureSpans(prefix));
  return wrapText(text, line, room, target).map(({ from, to }, row) => {
    const before = row === 0 ? label : [];
    const indent = ' '.repeat(Math.max(0, line.indent - measureSpans(before)));
    const slice = sliceSpans(spans, from, to);
    return [
      ...prefix,
      { text: indent },
      ...before,
      ...(line.hasNoBreakSpaces === true ? slice.map(restoreSpaces) : slice),
    ];
  });
}

function restoreSpaces(span: StyledSpan): StyledSpan {
  return { ...span, text: span.text.replaceAll('\u00a0', ' ') };
}

function trimRowEnd(row: ScreenRow): ScreenRow {
  return row.map((span, index) => (index === row.length - 1 ? { ...span, text: span.text.trimEnd() } : span));
}

function wrapText(text: string, line: LogicalLine, room: number, target: RowWrapOptions): RowTextRange[] {
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

function sanitizeSpan(span: StyledSpan, target: RowWrapOptions): StyledSpan {
  const text = span.text.replaceAll('\n', ' ').replace(CONTROLS, '');
  return { ...span, text: target.zone === 'live' ? expandTabs(text, TAB_WIDTH) : text };
}

function addHyperlink(text: Printable, href: string): Printable {
  const address = markAsPrintable(href.replace(/[^\x21-\x7e]/gu, encodeURI));
  return printable`\u001b]8;;${address}\u001b\\${text}\u001b]8;;\u001b\\`;
}
