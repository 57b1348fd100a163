import { Lexer, type MarkedToken, type Token } from 'marked';
import { type Highlight, type LogicalLine, plain, proseLine, type Span, terminalLine, toned } from '../text/line.ts';
import type { MarkdownBlock } from './block.ts';
import { codeBlockLines } from './code-block.ts';
import { type InlineOptions, inlineLines, isKnown } from './inline.ts';
import { isPlainParagraph, lineStart } from './line-kind.ts';
import { feedMarkdown, finishMarkdown, startMarkdown } from './stream.ts';
import { tableLines } from './table.ts';

/** What the look of a block depends on besides its text. */
export type RenderOptions = InlineOptions & {
  /** Columns there are, for tables. */
  readonly width: number;
  /** Colours code; code is plain until it is loaded. */
  readonly highlight?: Highlight | undefined;
};

/** The lines of a block, and what must be handed in with the next part of a long code block. */
export type RenderedBlock = { readonly lines: readonly LogicalLine[]; readonly carry: string };

// Quotes in quotes and lists in lists deeper than this are shown as they are written.
const DEEPEST = 12;

/** Lays out one block; the empty line that sets it apart comes first. */
export function renderBlock(block: MarkdownBlock, options: RenderOptions, carry = ''): RenderedBlock {
  const gap = block.gap === 'line' ? [terminalLine()] : [];
  if (block.kind === 'code') {
    const code = codeBlockLines(block, carry, options.highlight);
    return { lines: [...gap, ...code.lines], carry: code.carry };
  }
  return { lines: [...gap, ...proseLines(block.source, options, 0)], carry: '' };
}

function proseLines(source: string, options: RenderOptions, depth: number): LogicalLine[] {
  const start = lineStart(source.slice(0, Math.max(0, source.indexOf('\n')) || source.length)).kind;
  if (depth < DEEPEST && start === 'item') return itemLines(source, options, depth);
  if (depth < DEEPEST && start === 'quote') {
    const content = contentLines(quoteContent(source), { ...options, width: options.width - 2 }, depth);
    return content.map((line) => ({ ...line, prefix: [toned('dim', '│ '), ...(line.prefix ?? [])] }));
  }
  if (depth >= DEEPEST) return verbatim(source);
  // The block lexer is slow on long paragraphs, and most blocks are nothing else.
  if (start === 'text' && isPlainParagraph(source)) return paragraphLines(Lexer.lexInline(source.trim()), options);
  return new Lexer({ gfm: true }).lex(source).flatMap((token) => (isKnown(token) ? tokenLines(token, options) : []));
}

/** What stands in an item or a quote is markdown again. */
function contentLines(source: string, options: RenderOptions, depth: number): LogicalLine[] {
  const fed = feedMarkdown(startMarkdown({ codeLines: Number.POSITIVE_INFINITY }), source);
  return [...fed.finished, ...finishMarkdown(fed.stream)].flatMap((block) => {
    const gap = block.gap === 'line' ? [terminalLine()] : [];
    if (block.kind === 'code') return [...gap, ...codeBlockLines(block, '', options.highlight).lines];
    return [...gap, ...proseLines(block.source, options, depth + 1)];
  });
}

/** An item: its mark as in the source, its text and everything in it indented behind the mark. */
function itemLines(source: string, options: RenderOptions, depth: number): LogicalLine[] {
  const item = itemContent(source);
  const hang = item.mark.length;
  const mark = item.mark + item.box;
  const [first = proseLine(), ...rest] = contentLines(item.content, { ...options, width: options.width - hang }, depth);
  // Code keeps column 0, so that it can be copied as it is: a mark before it gets a row of its own.
  const opening = isCode(first) ? [labelled(proseLine(), mark), first] : [labelled(first, mark)];
  return [...opening, ...rest.map((line) => (isCode(line) ? line : indented(line, hang)))];
}

function tokenLines(token: MarkedToken, options: RenderOptions): LogicalLine[] {
  switch (token.type) {
    case 'space':
      return [];
    case 'heading':
      return paragraphLines(token.tokens, options).map((line) => ({
        ...line,
        spans: line.spans.map((span) => headed(span, token.depth)),
      }));
    case 'paragraph':
      return paragraphLines(token.tokens, options);
    case 'code': {
      const [language = ''] = (token.lang ?? '').split(/\s/);
      const block = { kind: 'code', language, source: token.text, part: 'whole', gap: 'none' } as const;
      return [...codeBlockLines(block, '', options.highlight).lines];
    }
    case 'table':
      return tableLines(token, options.width, options);
    case 'hr':
      return [terminalLine(toned('dim', '───'))];
    case 'def':
      return [terminalLine(toned('dim', token.raw.trim()))];
    default:
      return verbatim(token.raw);
  }
}

function paragraphLines(tokens: readonly Token[], options: RenderOptions): LogicalLine[] {
  return inlineLines(tokens, options).map((spans) => proseLine(...spans));
}

function labelled(line: LogicalLine, mark: string): LogicalLine {
  const label = line.label === undefined ? toned('accent', mark) : { ...line.label, text: mark + line.label.text };
  return { ...line, indent: line.indent + mark.length, label };
}

function indented(line: LogicalLine, columns: number): LogicalLine {
  if (line.prefix === undefined) return { ...line, indent: line.indent + columns };
  return { ...line, prefix: [plain(' '.repeat(columns)), ...line.prefix] };
}

function isCode(line: LogicalLine): boolean {
  return line.wrap === 'terminal' && line.spans.length > 0 && line.prefix === undefined && line.label === undefined;
}

function headed(span: Span, depth: number): Span {
  const style = { ...span.style, bold: true } as const;
  return { ...span, style: depth === 1 ? { ...style, underline: true } : style };
}

function verbatim(raw: string): LogicalLine[] {
  return raw
    .replace(/\n+$/, '')
    .split('\n')
    .map((text) => terminalLine(...(text === '' ? [] : [plain(text)])));
}

/** A list item taken apart: its mark, its task box, and what it holds without its indentation. */
type ItemContent = { readonly mark: string; readonly box: string; readonly content: string };

const MARK = /^( *)([-*+]|\d{1,9}[.)])([ \t]+|$)/;
const TASK = /^\[([ xX])\][ \t]+/;

/** Reads a list item. Numbers stay as they are written, every bullet becomes a dash. */
function itemContent(source: string): ItemContent {
  const [firstLine = '', ...lines] = source.split('\n');
  const [whole = '', , marker = '-', space = ''] = MARK.exec(firstLine) ?? [];
  // Five spaces behind the mark are one and an indented code block.
  const offset = space.length > 4 ? whole.length - space.length + 1 : whole.length;
  const rest = firstLine.slice(offset);
  const task = TASK.exec(rest);
  const first = task ? rest.slice(task[0].length) : rest;
  const content = [first, ...lines.map((line) => dedented(line, Math.max(2, offset)))].join('\n');
  const box = task ? `[${task[1]?.toLowerCase()}] ` : '';
  return { mark: /\d/.test(marker) ? `${marker} ` : '- ', box, content };
}

/** A quote without its bars. A line that only goes on with the paragraph has none. */
function quoteContent(source: string): string {
  return source.replace(/^ {0,3}> ?/gm, '');
}

function dedented(line: string, columns: number): string {
  const tabless = line.startsWith('\t') ? `    ${line.slice(1)}` : line;
  const indent = tabless.length - tabless.trimStart().length;
  return tabless.slice(Math.min(indent, columns));
}
