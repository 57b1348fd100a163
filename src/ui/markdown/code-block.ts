import { expandTabs } from '../../lib/text/text-width.ts';
import type { Highlight } from '../text/line.ts';
import { type LogicalLine, plain, type Span, terminalLine, toned } from '../text/line.ts';
import type { MarkdownBlock } from './block.ts';

type CodeBlock = Extract<MarkdownBlock, { kind: 'code' }>;

/** Lines of code, and the code before them that the next part must be read with. */
export type CodeLines = { readonly lines: readonly LogicalLine[]; readonly carry: string };

// A comment or string that stays open longer than this is no longer followed.
const CARRY = 16_384;
const TAB_WIDTH = 4;

/** A part of a code block: a dim tag line where it begins, then the code at column 0. */
export function codeBlockLines(block: CodeBlock, carry: string, highlight: Highlight | undefined): CodeLines {
  const begins = block.part === 'whole' || block.part === 'first';
  const tag = begins && block.language !== '' ? [terminalLine(toned('dim', block.language))] : [];
  if (block.source === '' && begins) return { lines: tag, carry: '' };
  const before = begins ? '' : carry;
  const colored = highlight?.(before + block.source, block.language);
  if (colored === undefined) {
    const lines = block.source.split('\n').map((text) => terminalLine(...flat([plain(text)])));
    return { lines: [...tag, ...lines], carry: '' };
  }
  const own = colored.slice(before === '' ? 0 : before.split('\n').length - 1);
  const lines = own.map(({ spans }) => terminalLine(...flat(spans)));
  return {
    lines: [...tag, ...lines],
    carry: unsettled(
      before + block.source,
      colored.findLastIndex((line) => line.settled),
    ),
  };
}

/** The code behind the last line after which nothing is open. */
function unsettled(code: string, settledLine: number): string {
  const rest = code.split('\n').slice(settledLine + 1);
  const carry = rest.length === 0 ? '' : `${rest.join('\n')}\n`;
  return carry.length > CARRY ? '' : carry;
}

function flat(spans: readonly Span[]): readonly Span[] {
  const text = spans.map((span) => span.text).join('');
  if (text === '') return [];
  if (!text.includes('\t')) return spans;
  if (/^\t+[^\t]*$/.test(text) || spans.length === 1) {
    return spans.map((span) => ({ ...span, text: expandTabs(span.text, TAB_WIDTH) }));
  }
  return spans.map((span) => ({ ...span, text: span.text.replaceAll('\t', ' '.repeat(TAB_WIDTH)) }));
}
