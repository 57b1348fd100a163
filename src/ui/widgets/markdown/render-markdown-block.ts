import { Lexer, type MarkedToken, type Token } from 'marked';
import { formatCount } from '../../../lib/text/format.ts';
import { expandTabs } from '../../../lib/text/text-width.ts';
import {
  colored,
  createProseLine,
  createStyledLine,
  type HighlightCode,
  type LogicalLine,
  plain,
  type StyledSpan,
} from '../../text/line.ts';
import {
  appendMarkdown,
  classifyMarkdownLine,
  createMarkdownStream,
  finishMarkdown,
  isPlainParagraph,
  type MarkdownBlock,
} from './markdown-stream.ts';

import { type InlineMarkdownOptions, isKnownMarkdownToken, renderInlineMarkdown } from './render-inline-markdown.ts';
import { renderMarkdownTable } from './render-markdown-table.ts';

/** The options for rendering a block. */
export type MarkdownRenderOptions = InlineMarkdownOptions & {
  /** Available columns, for tables. */
  readonly width: number;
  /** Highlighter; code is plain until it is loaded. */
  readonly highlight?: HighlightCode | undefined;
};

/** The lines of a block, and the code to pass on to the next part of a long code block. */
type RenderedBlock = { readonly lines: readonly LogicalLine[]; readonly openCode: string };

/** Maximum nesting of quotes and lists; deeper ones are shown unchanged. */
const MAX_DEPTH = 12;

/** Renders a block, preceded by an empty line if it has a gap. */
export function renderMarkdownBlock(
  block: MarkdownBlock,
  options: MarkdownRenderOptions,
  openCode = '',
): RenderedBlock {
  const gap = block.gap === 'line' ? [createStyledLine()] : [];
  if (block.kind === 'code') {
    const code = renderCodeBlock(block, openCode, options.highlight);
    return { lines: [...gap, ...code.lines], openCode: code.openCode };
  }
  return { lines: [...gap, ...renderProse(block.source, options, 0)], openCode: '' };
}

function renderProse(source: string, options: MarkdownRenderOptions, depth: number): LogicalLine[] {
  const start = classifyMarkdownLine(source.slice(0, Math.max(0, source.indexOf('\n')) || source.length)).kind;
  if (depth < MAX_DEPTH && start === 'item') return renderItem(source, options, depth);
  if (depth < MAX_DEPTH && start === 'quote') {
    const content = renderContent(stripQuoteMarkers(source), { ...options, width: options.width - 2 }, depth);
    return content.map((line) => ({ ...line, prefix: [colored('dim', '│ '), ...(line.prefix ?? [])] }));
  }
  if (depth >= MAX_DEPTH) return renderVerbatim(source);
  // The block lexer is slow on long paragraphs, and most blocks are plain paragraphs.
  if (start === 'text' && isPlainParagraph(source)) return renderParagraph(Lexer.lexInline(source.trim()), options);
  return new Lexer({ gfm: true })
    .lex(source)
    .flatMap((token) => (isKnownMarkdownToken(token) ? renderToken(token, options) : []));
}

/** Renders the content of a list item or a quote, which is Markdown again. */
function renderContent(source: string, options: MarkdownRenderOptions, depth: number): LogicalLine[] {
  const parsed = appendMarkdown(createMarkdownStream({ codeLines: Number.POSITIVE_INFINITY }), source);
  return [...parsed.finished, ...finishMarkdown(parsed.stream)].flatMap((block) => {
    const gap = block.gap === 'line' ? [createStyledLine()] : [];
    if (block.kind === 'code') return [...gap, ...renderCodeBlock(block, '', options.highlight).lines];
    return [...gap, ...renderProse(block.source, options, depth + 1)];
  });
}

/** Renders a list item: its marker, and its content indented after the marker. */
function renderItem(source: string, options: MarkdownRenderOptions, depth: number): LogicalLine[] {
  const item = parseItem(source);
  const hangingIndent = item.marker.length;
  const mark = item.marker + item.box;
  const [first = createProseLine(), ...rest] = renderContent(
    item.content,
    { ...options, width: options.width - hangingIndent },
    depth,
  );
  // Code stays at column 0, so that it can be copied unchanged; a marker before it gets its own row.
  const firstLines = isCode(first) ? [addLabel(createProseLine(), mark), first] : [addLabel(first, mark)];
  return [...firstLines, ...rest.map((line) => (isCode(line) ? line : indentLine(line, hangingIndent)))];
}

function renderToken(token: MarkedToken, options: MarkdownRenderOptions): LogicalLine[] {
  switch (token.type) {
    case 'space':
      return [];
    case 'heading':
      return renderParagraph(token.tokens, options).map((line) => ({
        ...line,
        spans: line.spans.map((span) => styleHeading(span, token.depth)),
      }));
    case 'paragraph':
      return renderParagraph(token.tokens, options);
    case 'code': {
      const [language = ''] = (token.lang ?? '').split(/\s/);
      const block = { kind: 'code', language, source: token.text, part: 'whole', gap: 'none' } as const;
      return [...renderCodeBlock(block, '', options.highlight).lines];
    }
    case 'table':
      return renderMarkdownTable(token, options.width, options);
    case 'hr':
      return [createStyledLine(colored('dim', '───'))];
    case 'def':
      return [createStyledLine(colored('dim', token.raw.trim()))];
    default:
      return renderVerbatim(token.raw);
  }
}

function renderParagraph(tokens: readonly Token[], options: MarkdownRenderOptions): LogicalLine[] {
  return renderInlineMarkdown(tokens, options).map((spans) => createProseLine(...spans));
}

function addLabel(line: LogicalLine, mark: string): LogicalLine {
  const label = line.label === undefined ? colored('accent', mark) : { ...line.label, text: mark + line.label.text };
  return { ...line, indent: line.indent + mark.length, label };
}

function indentLine(line: LogicalLine, columns: number): LogicalLine {
  if (line.prefix === undefined) return { ...line, indent: line.indent + columns };
  return { ...line, prefix: [plain(' '.repeat(columns)), ...line.prefix] };
}

function isCode(line: LogicalLine): boolean {
  return line.wrap === 'terminal' && line.spans.length > 0 && line.prefix === undefined && line.label === undefined;
}

function styleHeading(span: StyledSpan, depth: number): StyledSpan {
  const style = { ...span.style, bold: true } as const;
  return { ...span, style: depth === 1 ? { ...style, underline: true } : style };
}

function renderVerbatim(raw: string): LogicalLine[] {
  return raw
    .replace(/(?<!\n)\n+$/, '')
    .split('\n')
    .map((text) => createStyledLine(...(text === '' ? [] : [plain(text)])));
}

/** The parts of a list item: marker, task box, and content without indentation. */
type ListItem = { readonly marker: string; readonly box: string; readonly content: string };

const ITEM_MARKER = /^( *)([-*+]|\d{1,9}[.)])([ \t]+|$)/;
const TASK_BOX = /^\[([ xX])\][ \t]+/;

/** Parses a list item. Numbers stay unchanged, every bullet becomes a dash. */
function parseItem(source: string): ListItem {
  const [firstLine = '', ...lines] = source.split('\n');
  const [matched = '', , marker = '-', space = ''] = ITEM_MARKER.exec(firstLine) ?? [];
  // Five spaces after the marker are one space and an indented code block.
  const contentColumn = space.length > 4 ? matched.length - space.length + 1 : matched.length;
  const rest = firstLine.slice(contentColumn);
  const task = TASK_BOX.exec(rest);
  const first = task ? rest.slice(task[0].length) : rest;
  const content = [first, ...lines.map((line) => dedent(line, Math.max(2, contentColumn)))].join('\n');
  const box = task ? `[${task[1]?.toLowerCase()}] ` : '';
  return { marker: /\d/.test(marker) ? `${marker} ` : '- ', box, content };
}

/** Removes the `>` markers of a quote. Lazy continuation lines have none. */
function stripQuoteMarkers(source: string): string {
  return source.replace(/^ {0,3}> ?/gm, '');
}

function dedent(line: string, columns: number): string {
  const withoutTab = line.startsWith('\t') ? `    ${line.slice(1)}` : line;
  const indent = withoutTab.length - withoutTab.trimStart().length;
  return withoutTab.slice(Math.min(indent, columns));
}

const SEPARATOR = /^ {0,3}\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)*(?:\|[ \t]*)?$/;

/** Renders the open block of a stream; of a table, whose columns still change, only the row count. */
export function renderOpenMarkdownBlock(
  block: MarkdownBlock,
  options: MarkdownRenderOptions & { readonly ellipsis: string },
  openCode: string,
): readonly LogicalLine[] {
  const table = block.kind === 'prose' ? findTable(block.source) : undefined;
  if (block.kind !== 'prose' || table === undefined) return renderMarkdownBlock(block, options, openCode).lines;
  const before = table.before === '' ? [] : renderMarkdownBlock({ ...block, source: table.before }, options).lines;
  const gap = block.gap === 'line' && before.length === 0 ? [createStyledLine()] : [];
  const note = colored('dim', `${options.ellipsis} table, ${formatCount(table.rows, 'row')}`);
  return [...gap, ...before, createStyledLine(note)];
}

/** Finds a table; returns the text before it and its number of rows. */
function findTable(source: string): { readonly before: string; readonly rows: number } | undefined {
  const lines = source.split('\n');
  const separatorIndex = lines.findIndex((line, index) => {
    return index > 0 && line.includes('-') && SEPARATOR.test(line) && lines[index - 1]?.includes('|') === true;
  });
  if (separatorIndex === -1 || separatorIndex === lines.length - 1) return undefined;
  const rows = lines.slice(separatorIndex + 1).filter((line) => line.trim() !== '').length;
  return { before: lines.slice(0, separatorIndex - 1).join('\n'), rows };
}

type CodeBlock = Extract<MarkdownBlock, { kind: 'code' }>;

/** The lines of a part of a code block, and the code that the highlighter needs before the next part. */
type RenderedCode = { readonly lines: readonly LogicalLine[]; readonly openCode: string };

/** Maximum size of that code: comments and strings that stay open for longer lose their color. */
const MAX_OPEN_CODE_CHARS = 16_384;
const TAB_WIDTH = 4;

/** Renders a part of a code block: a dim line with the language at its start, then the code at column 0. */
export function renderCodeBlock(
  block: CodeBlock,
  openCode: string,
  highlight: HighlightCode | undefined,
): RenderedCode {
  const isStart = block.part === 'whole' || block.part === 'first';
  const tag = isStart && block.language !== '' ? [createStyledLine(colored('dim', block.language))] : [];
  if (block.source === '' && isStart) return { lines: tag, openCode: '' };
  const before = isStart ? '' : openCode;
  const highlighted = highlight?.(before + block.source, block.language);
  if (highlighted === undefined) {
    const lines = block.source.split('\n').map((text) => createStyledLine(...expandSpanTabs([plain(text)])));
    return { lines: [...tag, ...lines], openCode: '' };
  }
  const ownLines = highlighted.slice(before === '' ? 0 : before.split('\n').length - 1);
  const lines = ownLines.map(({ spans }) => createStyledLine(...expandSpanTabs(spans)));
  return {
    lines: [...tag, ...lines],
    openCode: getOpenCode(
      before + block.source,
      highlighted.findLastIndex((line) => line.isClosed),
    ),
  };
}

/** Returns the code after the last line at whose end no comment or string is open. */
function getOpenCode(code: string, settledLine: number): string {
  const rest = code.split('\n').slice(settledLine + 1);
  const openCode = rest.length === 0 ? '' : `${rest.join('\n')}\n`;
  return openCode.length > MAX_OPEN_CODE_CHARS ? '' : openCode;
}

function expandSpanTabs(spans: readonly StyledSpan[]): readonly StyledSpan[] {
  const text = spans.map((span) => span.text).join('');
  if (text === '') return [];
  if (!text.includes('\t')) return spans;
  if (/^\t+[^\t]*$/.test(text) || spans.length === 1) {
    return spans.map((span) => ({ ...span, text: expandTabs(span.text, TAB_WIDTH) }));
  }
  return spans.map((span) => ({ ...span, text: span.text.replaceAll('\t', ' '.repeat(TAB_WIDTH)) }));
}
