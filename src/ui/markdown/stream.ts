import type { Gap, MarkdownBlock } from './block.ts';
import { closesFence, indentOf, interruptsText, type LineStart, lineStart } from './line-kind.ts';

type Inside =
  | { readonly kind: 'nothing' | 'text' | 'quote' | 'item' | 'indented' }
  | { readonly kind: 'html'; readonly until: RegExp | 'blank' }
  | {
      readonly kind: 'fence';
      readonly marker: string;
      readonly indent: number;
      readonly language: string;
      readonly lines: number;
      readonly isParted: boolean;
    };

/**
 * Where in a markdown text we are. Blocks are told apart line by line and never looked at again, so the cost of
 * a stream is that of its length however it is cut.
 */
export type MarkdownStream = {
  readonly inside: Inside;
  /** The complete lines of the open block. */
  readonly source: string;
  /** The line that has no newline yet. */
  readonly partial: string;
  /** An empty line stands before what comes next. */
  readonly blank: boolean;
  readonly gap: Gap;
  readonly first: boolean;
  /** So many lines of code are held back before they are handed out as a part. */
  readonly codeLines: number;
};

/** What a piece of text brought: blocks that are complete now. */
export type Fed = { readonly stream: MarkdownStream; readonly finished: readonly MarkdownBlock[] };

// Of an open block longer than this only the end is laid out: more is never in view.
const OPEN_TAIL = 8192;

/** A stream at its start. */
export function startMarkdown(options: { readonly codeLines?: number } = {}): MarkdownStream {
  return {
    inside: { kind: 'nothing' },
    source: '',
    partial: '',
    blank: false,
    gap: 'none',
    first: true,
    codeLines: options.codeLines ?? 12,
  };
}

/** Takes in the next piece. */
export function feedMarkdown(stream: MarkdownStream, delta: string): Fed {
  const lines = (stream.partial + delta.replaceAll('\r', '')).split('\n');
  const partial = lines.pop() ?? '';
  if (lines.length === 0) return { stream: { ...stream, partial }, finished: [] };
  const finished: MarkdownBlock[] = [];
  let next: MarkdownStream = { ...stream, partial: '' };
  for (const line of lines) next = takeLine(next, line, finished);
  return { stream: { ...next, partial }, finished };
}

/** Closes whatever is open: the text has ended. */
export function finishMarkdown(stream: MarkdownStream): readonly MarkdownBlock[] {
  const finished: MarkdownBlock[] = [];
  const last = stream.partial === '' ? stream : takeLine({ ...stream, partial: '' }, stream.partial, finished);
  close(last, finished);
  return finished;
}

/** The block that is still growing, as far as it has come. */
export function openBlock(stream: MarkdownStream): MarkdownBlock | undefined {
  const { inside, partial, source } = stream;
  if (inside.kind === 'fence') {
    const mayClose = partial.trim() !== '' && inside.marker.startsWith(partial.trim());
    const code = source + (mayClose ? '' : partial);
    const gap = inside.isParted ? 'none' : stream.gap;
    const part = inside.isParted ? 'middle' : 'first';
    return { kind: 'code', language: inside.language, source: code.replace(/\n$/, ''), part, gap };
  }
  const text = source + partial;
  if (text.trim() === '') return undefined;
  const gap = inside.kind === 'nothing' && stream.blank && !stream.first ? 'line' : stream.gap;
  if (text.length <= OPEN_TAIL) return { kind: 'prose', source: text, gap };
  const from = text.indexOf('\n', text.length - OPEN_TAIL);
  return { kind: 'prose', source: text.slice(from === -1 ? -OPEN_TAIL : from + 1), gap: 'none' };
}

function takeLine(stream: MarkdownStream, line: string, finished: MarkdownBlock[]): MarkdownStream {
  const { inside } = stream;
  if (inside.kind === 'fence') return takeCode(stream, inside, line, finished);
  if (line.trim() === '') return takeBlank(stream, finished);
  if (inside.kind === 'html') {
    const grown = { ...stream, source: `${stream.source}${line}\n` };
    return inside.until !== 'blank' && inside.until.test(line) ? close(grown, finished) : grown;
  }
  const start = lineStart(line);
  if (inside.kind !== 'nothing' && staysInside(stream, line, start)) {
    return { ...stream, source: `${stream.source}${line}\n`, blank: false };
  }
  return begin(close(stream, finished), line, start, finished);
}

function takeBlank(stream: MarkdownStream, finished: MarkdownBlock[]): MarkdownStream {
  const { inside } = stream;
  const goesOn =
    inside.kind === 'item' || inside.kind === 'indented' || (inside.kind === 'html' && inside.until !== 'blank');
  if (goesOn) return { ...stream, source: `${stream.source}\n`, blank: true };
  return { ...close(stream, finished), blank: true };
}

function takeCode(
  stream: MarkdownStream,
  fence: Extract<Inside, { kind: 'fence' }>,
  line: string,
  finished: MarkdownBlock[],
): MarkdownStream {
  if (closesFence(line, fence.marker)) return close(stream, finished);
  const own = line.slice(0, fence.indent).trim() === '' ? line.slice(fence.indent) : line.trimStart();
  const source = `${stream.source}${own}\n`;
  const lines = fence.lines + 1;
  if (lines < stream.codeLines) return { ...stream, source, inside: { ...fence, lines } };
  const part = fence.isParted ? 'middle' : 'first';
  finished.push({ kind: 'code', language: fence.language, source: source.slice(0, -1), part, gap: stream.gap });
  return { ...stream, source: '', gap: 'none', first: false, inside: { ...fence, lines: 0, isParted: true } };
}

/** Whether a line belongs to the block above it. In doubt it does: the lexer sees the block as a whole. */
function staysInside(stream: MarkdownStream, line: string, start: LineStart): boolean {
  switch (stream.inside.kind) {
    case 'text':
      return !interruptsText(line, start);
    case 'quote':
      return start.kind === 'quote' || start.kind === 'text' || start.kind === 'indented' || start.kind === 'html';
    case 'indented':
      return start.kind === 'indented';
    case 'item':
      if (indentOf(line) >= 2) return true;
      return !stream.blank && (start.kind === 'text' || start.kind === 'quote' || start.kind === 'html');
    default:
      return false;
  }
}

function begin(stream: MarkdownStream, line: string, start: LineStart, finished: MarkdownBlock[]): MarkdownStream {
  const apart = stream.blank || start.kind === 'heading' || start.kind === 'fence';
  const opened: MarkdownStream = { ...stream, gap: apart && !stream.first ? 'line' : 'none', blank: false };
  const source = `${line}\n`;
  switch (start.kind) {
    case 'fence': {
      const { marker, indent, language } = start;
      return { ...opened, inside: { kind: 'fence', marker, indent, language, lines: 0, isParted: false } };
    }
    case 'heading':
    case 'rule':
      // A heading is set apart from what follows, as from what came before.
      return { ...close({ ...opened, source, inside: { kind: 'text' } }, finished), blank: true };
    case 'html': {
      const html: MarkdownStream = { ...opened, source, inside: { kind: 'html', until: start.until } };
      return start.until !== 'blank' && start.until.test(line) ? close(html, finished) : html;
    }
    default:
      return { ...opened, source, inside: { kind: start.kind } };
  }
}

function close(stream: MarkdownStream, finished: MarkdownBlock[]): MarkdownStream {
  const { inside, gap } = stream;
  const closed: MarkdownStream = { ...stream, inside: { kind: 'nothing' }, source: '', gap: 'none', first: false };
  if (inside.kind === 'fence') {
    const source = stream.source.replace(/\n$/, '');
    const part = inside.isParted ? 'last' : 'whole';
    if (part === 'whole' || source !== '' || stream.source !== '') {
      finished.push({ kind: 'code', language: inside.language, source, part, gap });
    }
    return { ...closed, blank: true };
  }
  if (inside.kind === 'nothing') return stream;
  finished.push({ kind: 'prose', source: stream.source.replace(/\n+$/, ''), gap });
  return closed;
}
