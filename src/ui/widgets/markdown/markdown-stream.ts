type OpenBlock =
  | { readonly kind: 'nothing' | 'text' | 'quote' | 'item' | 'indented' }
  | { readonly kind: 'html'; readonly until: RegExp | 'blank' }
  | {
      readonly kind: 'fence';
      readonly marker: string;
      readonly indent: number;
      readonly language: string;
      readonly lines: number;
      readonly isContinued: boolean;
    };

/** The state of the incremental Markdown parser, which reads each line once. */
export type MarkdownStream = {
  readonly openBlock: OpenBlock;
  /** Complete lines of the open block. */
  readonly source: string;
  /** Last line, which has no newline yet. */
  readonly partial: string;
  /** The previous line was empty. */
  readonly isAfterBlankLine: boolean;
  readonly gap: BlockGap;
  readonly isFirstBlock: boolean;
  /** Number of lines of code after which a part of a code block is finished. */
  readonly codeLines: number;
};

/** The parser state after a piece of text, and the blocks that it finished. */
type ParsedMarkdown = { readonly stream: MarkdownStream; readonly finished: readonly MarkdownBlock[] };

/** Maximum size of an open block that is rendered; of longer ones only the end is visible anyway. */
const MAX_OPEN_CHARS = 8192;

/** Creates the parser state for an empty text. */
export function createMarkdownStream(options: { readonly codeLines?: number } = {}): MarkdownStream {
  return {
    openBlock: { kind: 'nothing' },
    source: '',
    partial: '',
    isAfterBlankLine: false,
    gap: 'none',
    isFirstBlock: true,
    codeLines: options.codeLines ?? 12,
  };
}

/** Parses the next piece of text. */
export function appendMarkdown(stream: MarkdownStream, delta: string): ParsedMarkdown {
  const lines = (stream.partial + delta.replaceAll('\r', '')).split('\n');
  const partial = lines.pop() ?? '';
  if (lines.length === 0) return { stream: { ...stream, partial }, finished: [] };
  const finished: MarkdownBlock[] = [];
  let next: MarkdownStream = { ...stream, partial: '' };
  for (const line of lines) next = parseLine(next, line, finished);
  return { stream: { ...next, partial }, finished };
}

/** Ends the text and returns the blocks that were open. */
export function finishMarkdown(stream: MarkdownStream): readonly MarkdownBlock[] {
  const finished: MarkdownBlock[] = [];
  const last = stream.partial === '' ? stream : parseLine({ ...stream, partial: '' }, stream.partial, finished);
  closeBlock(last, finished);
  return finished;
}

/** Returns the open block at the end, as far as it has been received. */
export function getOpenMarkdownBlock(stream: MarkdownStream): MarkdownBlock | undefined {
  const { openBlock, partial, source } = stream;
  if (openBlock.kind === 'fence') {
    const isPossibleFence = partial.trim() !== '' && openBlock.marker.startsWith(partial.trim());
    const code = source + (isPossibleFence ? '' : partial);
    const gap = openBlock.isContinued ? 'none' : stream.gap;
    const part = openBlock.isContinued ? 'middle' : 'first';
    return { kind: 'code', language: openBlock.language, source: code.replace(/\n$/, ''), part, gap };
  }
  const text = source + partial;
  if (text.trim() === '') return undefined;
  const gap = openBlock.kind === 'nothing' && stream.isAfterBlankLine && !stream.isFirstBlock ? 'line' : stream.gap;
  if (text.length <= MAX_OPEN_CHARS) return { kind: 'prose', source: text, gap };
  const from = text.indexOf('\n', text.length - MAX_OPEN_CHARS);
  return { kind: 'prose', source: text.slice(from === -1 ? -MAX_OPEN_CHARS : from + 1), gap: 'none' };
}

function parseLine(stream: MarkdownStream, line: string, finished: MarkdownBlock[]): MarkdownStream {
  const { openBlock } = stream;
  if (openBlock.kind === 'fence') return parseCodeLine(stream, openBlock, line, finished);
  if (line.trim() === '') return parseBlankLine(stream, finished);
  if (openBlock.kind === 'html') {
    const grown = { ...stream, source: `${stream.source}${line}\n` };
    return openBlock.until !== 'blank' && openBlock.until.test(line) ? closeBlock(grown, finished) : grown;
  }
  const start = classifyMarkdownLine(line);
  if (openBlock.kind !== 'nothing' && continuesBlock(stream, line, start)) {
    return { ...stream, source: `${stream.source}${line}\n`, isAfterBlankLine: false };
  }
  return startBlock(closeBlock(stream, finished), line, start, finished);
}

function parseBlankLine(stream: MarkdownStream, finished: MarkdownBlock[]): MarkdownStream {
  const { openBlock } = stream;
  const continues =
    openBlock.kind === 'item' ||
    openBlock.kind === 'indented' ||
    (openBlock.kind === 'html' && openBlock.until !== 'blank');
  if (continues) return { ...stream, source: `${stream.source}\n`, isAfterBlankLine: true };
  return { ...closeBlock(stream, finished), isAfterBlankLine: true };
}

function parseCodeLine(
  stream: MarkdownStream,
  fence: Extract<OpenBlock, { kind: 'fence' }>,
  line: string,
  finished: MarkdownBlock[],
): MarkdownStream {
  if (closesFence(line, fence.marker)) return closeBlock(stream, finished);
  const code = line.slice(0, fence.indent).trim() === '' ? line.slice(fence.indent) : line.trimStart();
  const source = `${stream.source}${code}\n`;
  const lines = fence.lines + 1;
  if (lines < stream.codeLines) return { ...stream, source, openBlock: { ...fence, lines } };
  const part = fence.isContinued ? 'middle' : 'first';
  finished.push({ kind: 'code', language: fence.language, source: source.slice(0, -1), part, gap: stream.gap });
  return {
    ...stream,
    source: '',
    gap: 'none',
    isFirstBlock: false,
    openBlock: { ...fence, lines: 0, isContinued: true },
  };
}

/** Returns whether a line belongs to the block above it. In doubt it does: the lexer sees the whole block later. */
function continuesBlock(stream: MarkdownStream, line: string, start: MarkdownLineStart): boolean {
  switch (stream.openBlock.kind) {
    case 'text':
      return !endsParagraph(line, start);
    case 'quote':
      return start.kind === 'quote' || start.kind === 'text' || start.kind === 'indented' || start.kind === 'html';
    case 'indented':
      return start.kind === 'indented';
    case 'item':
      if (getIndent(line) >= 2) return true;
      return !stream.isAfterBlankLine && (start.kind === 'text' || start.kind === 'quote' || start.kind === 'html');
    default:
      return false;
  }
}

function startBlock(
  stream: MarkdownStream,
  line: string,
  start: MarkdownLineStart,
  finished: MarkdownBlock[],
): MarkdownStream {
  const hasGap = stream.isAfterBlankLine || start.kind === 'heading' || start.kind === 'fence';
  const opened: MarkdownStream = {
    ...stream,
    gap: hasGap && !stream.isFirstBlock ? 'line' : 'none',
    isAfterBlankLine: false,
  };
  const source = `${line}\n`;
  switch (start.kind) {
    case 'fence': {
      const { marker, indent, language } = start;
      return { ...opened, openBlock: { kind: 'fence', marker, indent, language, lines: 0, isContinued: false } };
    }
    case 'heading':
    case 'rule':
      // Headings are followed by an empty line.
      return { ...closeBlock({ ...opened, source, openBlock: { kind: 'text' } }, finished), isAfterBlankLine: true };
    case 'html': {
      const html: MarkdownStream = { ...opened, source, openBlock: { kind: 'html', until: start.until } };
      return start.until !== 'blank' && start.until.test(line) ? closeBlock(html, finished) : html;
    }
    default:
      return { ...opened, source, openBlock: { kind: start.kind } };
  }
}

function closeBlock(stream: MarkdownStream, finished: MarkdownBlock[]): MarkdownStream {
  const { openBlock, gap } = stream;
  const closed: MarkdownStream = {
    ...stream,
    openBlock: { kind: 'nothing' },
    source: '',
    gap: 'none',
    isFirstBlock: false,
  };
  if (openBlock.kind === 'fence') {
    const source = stream.source.replace(/\n$/, '');
    const part = openBlock.isContinued ? 'last' : 'whole';
    if (part === 'whole' || source !== '' || stream.source !== '') {
      finished.push({ kind: 'code', language: openBlock.language, source, part, gap });
    }
    return { ...closed, isAfterBlankLine: true };
  }
  if (openBlock.kind === 'nothing') return stream;
  finished.push({ kind: 'prose', source: stream.source.replace(/(?<!\n)\n+$/, ''), gap });
  return closed;
}

/** A block of Markdown: finished, or the open one at the end of a stream. */
export type MarkdownBlock =
  | { readonly kind: 'prose'; readonly source: string; readonly gap: BlockGap }
  | {
      readonly kind: 'code';
      readonly language: string;
      /** The code without its fences; a long block comes in several parts. */
      readonly source: string;
      readonly part: 'whole' | 'first' | 'middle' | 'last';
      readonly gap: BlockGap;
    };

/** The empty line before a block. */
type BlockGap = 'none' | 'line';

/** The kind of block that a line starts. */
type MarkdownLineStart =
  | { readonly kind: 'fence'; readonly marker: string; readonly indent: number; readonly language: string }
  | { readonly kind: 'html'; readonly until: RegExp | 'blank' }
  | { readonly kind: 'heading' | 'rule' | 'item' | 'quote' | 'indented' | 'text' };

const FENCE = /^( {0,3})(`{3,}|~{3,}(?!~))(?=[^`]*$)[ \t]*([^\s`]*)/;
const TILDE_FENCE = /^( {0,3})(~{3,})[ \t]*(\S*)/;
const HEADING = /^ {0,3}#{1,6}(?:[ \t]|$)/;
const RULE = /^ {0,3}(?:(?:\*[ \t]*){3,}|(?:-[ \t]*){3,}|(?:_[ \t]*){3,})$/;
const ITEM = /^ ?(?:[-*+]|\d{1,9}[.)])(?:[ \t]+\S|[ \t]*$)/;
const ITEM_IN_TEXT = /^ ?(?:[-*+]|1[.)])[ \t]+\S/;
const HTML_ENDINGS: readonly (readonly [RegExp, RegExp])[] = [
  [/^ {0,3}<(?:script|pre|style|textarea)(?:[\s>]|$)/i, /<\/(?:script|pre|style|textarea)>/i],
  [/^ {0,3}<!--/, /-->/],
  [/^ {0,3}<\?/, /\?>/],
  [/^ {0,3}<!\[CDATA\[/, /\]\]>/],
  [/^ {0,3}<![a-z]/i, />/],
];
const HTML_BLOCK =
  /^ {0,3}<\/?(?:address|article|aside|blockquote|body|center|dd|details|dialog|dir|div|dl|dt|fieldset|figcaption|figure|footer|form|h[1-6]|head|header|hr|html|iframe|li|link|main|menu|nav|ol|optgroup|option|p|param|section|summary|table|tbody|td|tfoot|th|thead|title|tr|ul)(?:[\s/>]|$)/i;

/** Classifies a line that is neither blank nor inside another block. */
export function classifyMarkdownLine(line: string): MarkdownLineStart {
  const fence = FENCE.exec(line) ?? TILDE_FENCE.exec(line);
  if (fence) {
    const [, indent = '', marker = '', language = ''] = fence;
    return { kind: 'fence', marker, indent: indent.length, language };
  }
  if (/^(?: {4}| {0,3}\t)/.test(line)) return { kind: 'indented' };
  if (HEADING.test(line)) return { kind: 'heading' };
  if (RULE.test(line)) return { kind: 'rule' };
  if (ITEM.test(line)) return { kind: 'item' };
  if (/^ {0,3}>/.test(line)) return { kind: 'quote' };
  const html = HTML_ENDINGS.find(([start]) => start.test(line));
  if (html) return { kind: 'html', until: html[1] };
  return HTML_BLOCK.test(line) ? { kind: 'html', until: 'blank' } : { kind: 'text' };
}

function closesFence(line: string, marker: string): boolean {
  const closing = /^ {0,3}(`{3,}|~{3,})[ \t]*$/.exec(line)?.[1];
  return closing !== undefined && closing.charAt(0) === marker.charAt(0) && closing.length >= marker.length;
}

/** Returns whether a line ends the paragraph above it without an empty line between them. */
function endsParagraph(line: string, start: MarkdownLineStart): boolean {
  if (start.kind === 'fence' || start.kind === 'heading' || start.kind === 'quote') return true;
  return start.kind === 'item' && ITEM_IN_TEXT.test(line);
}

/** Returns the indentation of a line in columns. */
function getIndent(line: string): number {
  return line.length - line.trimStart().length + 3 * (/^ *\t/.test(line) ? 1 : 0);
}

/** Returns whether a block that starts as text is only a paragraph: no underlined heading, table or definition. */
export function isPlainParagraph(source: string): boolean {
  return !/^ {0,3}(?:=+[ \t]*$|[-|:][-|: \t]*$|[*_][*_ \t]*$|\[(?:\\[\s\S]|[^\][\\])+\]:|<)/m.test(source);
}
