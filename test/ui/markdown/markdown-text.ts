import { asPrintable } from '../../../src/lib/printable.ts';
import type { MarkdownBlock } from '../../../src/ui/markdown/block.ts';
import { renderBlock } from '../../../src/ui/markdown/render-block.ts';
import { feedMarkdown, finishMarkdown, startMarkdown } from '../../../src/ui/markdown/stream.ts';
import type { Highlight } from '../../../src/ui/text/line.ts';
import { renderLines } from '../../../src/ui/text/render-lines.ts';

/** The blocks of a text that arrives in pieces. */
export function blocksOf(pieces: readonly string[], codeLines = 12): MarkdownBlock[] {
  let stream = startMarkdown({ codeLines });
  const blocks: MarkdownBlock[] = [];
  for (const piece of pieces) {
    const fed = feedMarkdown(stream, piece);
    blocks.push(...fed.finished);
    stream = fed.stream;
  }
  return [...blocks, ...finishMarkdown(stream)];
}

/** A text as it stands in the history, without colours. */
export function shown(source: string, width = 60, highlight?: Highlight): string {
  let carry = '';
  const lines = blocksOf([source]).flatMap((block) => {
    const rendered = renderBlock(block, { width, marks: 'hidden', links: 'printed', highlight }, carry);
    carry = rendered.carry;
    return rendered.lines;
  });
  return renderLines(lines, { width, paint: asPrintable, zone: 'history', links: 'printed' }).join('\n');
}
