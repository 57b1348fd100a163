import type { Tokens } from 'marked';
import { getTextWidth, padToWidth } from '../../../lib/text/text-width.ts';
import { wrapRanges } from '../../../lib/text/text-wrap.ts';
import {
  colored,
  createProseLine,
  createStyledLine,
  type LogicalLine,
  plain,
  type StyledSpan,
  sliceSpans,
} from '../../text/line.ts';
import { type InlineMarkdownOptions, renderInlineMarkdown } from './render-inline-markdown.ts';

type Cell = { readonly spans: readonly StyledSpan[]; readonly width: number };

const GAP = '  ';
const MIN_COLUMN_WIDTH = 20;

/** Renders a table in columns if it fits, with wrapped cells if it almost fits, otherwise as a list of records. */
export function renderMarkdownTable(table: Tokens.Table, width: number, options: InlineMarkdownOptions): LogicalLine[] {
  const header = table.header.map((cell) => createCell(cell, options));
  const rows = table.rows.map((row) => row.map((cell) => createCell(cell, options)));
  const natural = header.map((cell, column) => Math.max(cell.width, ...rows.map((row) => row[column]?.width ?? 0), 3));
  const availableWidth = width - GAP.length * (natural.length - 1);
  const totalWidth = natural.reduce((sum, columns) => sum + columns, 0);
  if (totalWidth > availableWidth && availableWidth / natural.length < MIN_COLUMN_WIDTH)
    return createRecords(header, rows);
  const widths = totalWidth > availableWidth ? shrinkColumns(natural, availableWidth) : natural;
  const bold = header.map(({ spans, width }) => ({ spans: spans.map(makeBold), width }));
  const rule = createStyledLine(colored('dim', widths.map((columns) => '─'.repeat(columns)).join(GAP)));
  const body = rows.flatMap((row) => createRowLines(row, widths, table.align));
  return [...createRowLines(bold, widths, table.align), rule, ...body];
}

function createCell(cell: Tokens.TableCell, options: InlineMarkdownOptions): Cell {
  const lines = renderInlineMarkdown(cell.tokens, options);
  const spans = lines.flatMap((line, index) => (index === 0 ? line : [plain(' '), ...line]));
  return { spans, width: getTextWidth(spans.map(({ text }) => text).join('')) };
}

function createRecords(header: readonly Cell[], rows: readonly (readonly Cell[])[]): LogicalLine[] {
  return rows.flatMap((row, index) => [
    ...(index > 0 ? [createProseLine()] : []),
    ...row.map((cell, column) =>
      createProseLine(...(header[column]?.spans ?? []).map(makeBold), plain(': '), ...cell.spans),
    ),
  ]);
}

/** Reduces the widest columns first. */
function shrinkColumns(natural: readonly number[], availableWidth: number): number[] {
  let limit = Math.max(...natural);
  const sum = (maximum: number) => natural.reduce((total, columns) => total + Math.min(columns, maximum), 0);
  while (limit > 1 && sum(limit) > availableWidth) limit -= 1;
  return natural.map((columns) => Math.min(columns, limit));
}

function createRowLines(
  cells: readonly Cell[],
  widths: readonly number[],
  align: Tokens.Table['align'],
): LogicalLine[] {
  const columns = widths.map((width, column) => wrapCell(cells[column]?.spans ?? [], width));
  const height = Math.max(1, ...columns.map((rows) => rows.length));
  return Array.from({ length: height }, (_, row) => {
    const spans = columns.flatMap((rows, column) => {
      const isLast = column === columns.length - 1;
      const cell = alignCell(
        rows[row] ?? [],
        widths[column] ?? 0,
        align[column] ?? 'left',
        isLast ? 'ragged' : 'filled',
      );
      return isLast ? cell : [...cell, plain(GAP)];
    });
    return createStyledLine(...spans);
  });
}

function wrapCell(spans: readonly StyledSpan[], width: number): StyledSpan[][] {
  const text = spans.map((span) => span.text).join('');
  const ranges = wrapRanges(text, width, { spaces: 'trim', longWords: 'break' });
  return ranges.map(({ from, to }) => sliceSpans(spans, from, to));
}

function alignCell(
  spans: readonly StyledSpan[],
  width: number,
  align: 'left' | 'right' | 'center',
  end: 'filled' | 'ragged',
): readonly StyledSpan[] {
  const missing = Math.max(0, width - getTextWidth(spans.map((span) => span.text).join('')));
  const before = align === 'right' ? missing : align === 'center' ? Math.floor(missing / 2) : 0;
  const after = end === 'filled' ? missing - before : 0;
  return [plain(padToWidth('', before)), ...spans, plain(padToWidth('', after))].filter(({ text }) => text !== '');
}

function makeBold(span: StyledSpan): StyledSpan {
  return { ...span, style: { ...span.style, bold: true } };
}
