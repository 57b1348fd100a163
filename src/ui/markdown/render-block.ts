import { Lexer, type MarkedToken, type Token, type Tokens } from 'marked';
import { type LogicalLine, plain, proseLine, type Span, terminalLine, toned } from '../lines/line.ts';
import type { MarkdownBlock } from './block.ts';
import { codeBlockLines } from './code-block.ts';
import type { Highlight } from './highlight.ts';
import { type InlineOptions, inlineLines, isKnown } from './inline.ts';
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

/** Lays out one block; the empty line that sets it apart comes first. */
export function renderBlock(block: MarkdownBlock, options: RenderOptions, carry = ''): RenderedBlock {
  const gap = block.gap === 'line' ? [terminalLine()] : [];
  if (block.kind === 'code') {
    const code = codeBlockLines(block, carry, options.highlight);
    return { lines: [...gap, ...code.lines], carry: code.carry };
  }
  const tokens = new Lexer({ gfm: true }).lex(block.source);
  return { lines: [...gap, ...blockLines(tokens, options)], carry: '' };
}

function blockLines(tokens: readonly Token[], options: RenderOptions): LogicalLine[] {
  const lines: LogicalLine[] = [];
  let apart = false;
  for (const token of tokens) {
    if (!isKnown(token)) continue;
    if (token.type === 'space') {
      apart = lines.length > 0;
      continue;
    }
    const own = tokenLines(token, options);
    if (own.length === 0) continue;
    if (apart) lines.push(terminalLine());
    lines.push(...own);
    apart = /\n[ \t]*\n$/.test(token.raw);
  }
  return lines;
}

function tokenLines(token: MarkedToken, options: RenderOptions): LogicalLine[] {
  switch (token.type) {
    case 'heading':
      return inlineLines(token.tokens, options).map((spans) =>
        proseLine(...spans.map((span) => headed(span, token.depth))),
      );
    case 'paragraph':
      return inlineLines(token.tokens, options).map((spans) => proseLine(...spans));
    case 'text':
      return inlineLines([token], options).map((spans) => proseLine(...spans));
    case 'list':
      return token.items.flatMap((item, index) => [
        ...(token.loose && index > 0 ? [terminalLine()] : []),
        ...itemLines(item, options),
      ]);
    case 'code': {
      const [language = ''] = (token.lang ?? '').split(/\s/);
      const block: MarkdownBlock = { kind: 'code', language, source: token.text, part: 'whole', gap: 'none' };
      return [...codeBlockLines(block, '', options.highlight).lines];
    }
    case 'blockquote':
      return blockLines(token.tokens, { ...options, width: options.width - 2 }).map(quoted);
    case 'table':
      return tableLines(token, options.width, options);
    case 'hr':
      return [terminalLine(toned('dim', '───'))];
    case 'html':
      return verbatim(token.raw);
    case 'def':
      return [terminalLine(toned('dim', token.raw.trim()))];
    case 'checkbox':
      return [];
    default:
      return verbatim(token.raw);
  }
}

/** An item: its mark as in the source, its text and everything in it indented behind the mark. */
function itemLines(item: Tokens.ListItem, options: RenderOptions): LogicalLine[] {
  const number = /^\s*(\d+[.)])/.exec(item.raw)?.[1];
  const box = item.task ? (item.checked === true ? '[x] ' : '[ ] ') : '';
  const mark = `${number ?? '-'} ${box}`;
  const hang = mark.length - box.length;
  const content = blockLines(item.tokens, { ...options, width: options.width - hang });
  const [first = proseLine(), ...rest] = content;
  // Code keeps column 0, so that it can be copied as it is: a mark before it gets a row of its own.
  const opening = isCode(first) ? [labelled(proseLine(), mark), first] : [labelled(first, mark)];
  return [...opening, ...rest.map((line) => (isCode(line) ? line : { ...line, indent: line.indent + hang }))];
}

function labelled(line: LogicalLine, mark: string): LogicalLine {
  if (line.label !== undefined)
    return { ...line, indent: line.indent + mark.length, label: { ...line.label, text: mark + line.label.text } };
  return { ...line, indent: line.indent + mark.length, label: toned('accent', mark) };
}

function isCode(line: LogicalLine): boolean {
  return line.wrap === 'terminal' && line.spans.length > 0 && line.prefix === undefined && line.label === undefined;
}

function quoted(line: LogicalLine): LogicalLine {
  return { ...line, prefix: [toned('dim', '│ '), ...(line.prefix ?? [])] };
}

function headed(span: Span, depth: number): Span {
  return {
    ...span,
    style: depth === 1 ? { ...span.style, bold: true, underline: true } : { ...span.style, bold: true },
  };
}

function verbatim(raw: string): LogicalLine[] {
  return raw
    .replace(/\n+$/, '')
    .split('\n')
    .map((text) => terminalLine(...(text === '' ? [] : [plain(text)])));
}
