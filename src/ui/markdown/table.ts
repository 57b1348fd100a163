import type { Tokens } from 'marked';
import { padWidth, textWidth } from '../../lib/text/text-width.ts';
import { wrapRanges } from '../../lib/text/text-wrap.ts';
import { type LogicalLine, plain, proseLine, type Span, sliceSpans, terminalLine, toned } from '../text/line.ts';
import { type InlineOptions, inlineLines } from './inline.ts';

type Cell = { readonly spans: readonly Span[]; readonly width: number };

const GAP = '  ';
const NARROWEST = 20;

/** A table: in columns when it fits, with wrapped cells when nearly, else as records. */
export function tableLines(table: Tokens.Table, width: number, options: InlineOptions): LogicalLine[] {
  const header = table.header.map((cell) => cellOf(cell, options));
  const rows = table.rows.map((row) => row.map((cell) => cellOf(cell, options)));
  const natural = header.map((cell, column) => Math.max(cell.width, ...rows.map((row) => row[column]?.width ?? 0), 3));
  const room = width - GAP.length * (natural.length - 1);
  const total = natural.reduce((sum, columns) => sum + columns, 0);
  if (total > room && room / natural.length < NARROWEST) return records(header, rows);
  const widths = total > room ? shrink(natural, room) : natural;
  const bold = header.map(({ spans, width }) => ({ spans: spans.map(emboldened), width }));
  const rule = terminalLine(toned('dim', widths.map((columns) => '─'.repeat(columns)).join(GAP)));
  const body = rows.flatMap((row) => rowLines(row, widths, table.align));
  return [...rowLines(bold, widths, table.align), rule, ...body];
}

function cellOf(cell: Tokens.TableCell, options: InlineOptions): Cell {
  const lines = inlineLines(cell.tokens, options);
  const spans = lines.flatMap((line, index) => (index === 0 ? line : [plain(' '), ...line]));
  return { spans, width: textWidth(spans.map(({ text }) => text).join('')) };
}

function records(header: readonly Cell[], rows: readonly (readonly Cell[])[]): LogicalLine[] {
  return rows.flatMap((row, index) => [
    ...(index > 0 ? [proseLine()] : []),
    ...row.map((cell, column) =>
      proseLine(...(header[column]?.spans ?? []).map(emboldened), plain(': '), ...cell.spans),
    ),
  ]);
}

/** The widest columns give way first. */
function shrink(natural: readonly number[], room: number): number[] {
  let limit = Math.max(...natural);
  const sum = (most: number) => natural.reduce((total, columns) => total + Math.min(columns, most), 0);
  while (limit > 1 && sum(limit) > room) limit -= 1;
  return natural.map((columns) => Math.min(columns, limit));
}

function rowLines(cells: readonly Cell[], widths: readonly number[], align: Tokens.Table['align']): LogicalLine[] {
  const columns = widths.map((width, column) => cellRows(cells[column]?.spans ?? [], width));
  const height = Math.max(1, ...columns.map((rows) => rows.length));
  return Array.from({ length: height }, (_, row) => {
    const spans = columns.flatMap((rows, column) => {
      const isLast = column === columns.length - 1;
      const cell = aligned(rows[row] ?? [], widths[column] ?? 0, align[column] ?? 'left', isLast ? 'ragged' : 'filled');
      return isLast ? cell : [...cell, plain(GAP)];
    });
    return terminalLine(...spans);
  });
}

function cellRows(spans: readonly Span[], width: number): Span[][] {
  const text = spans.map((span) => span.text).join('');
  const ranges = wrapRanges(text, width, { spaces: 'trim', longWords: 'break' });
  return ranges.map(({ from, to }) => sliceSpans(spans, from, to));
}

function aligned(
  spans: readonly Span[],
  width: number,
  align: 'left' | 'right' | 'center',
  end: 'filled' | 'ragged',
): readonly Span[] {
  const missing = Math.max(0, width - textWidth(spans.map((span) => span.text).join('')));
  const before = align === 'right' ? missing : align === 'center' ? Math.floor(missing / 2) : 0;
  const after = end === 'filled' ? missing - before : 0;
  return [plain(padWidth('', before)), ...spans, plain(padWidth('', after))].filter(({ text }) => text !== '');
}

function emboldened(span: Span): Span {
  return { ...span, style: { ...span.style, bold: true } };
}
