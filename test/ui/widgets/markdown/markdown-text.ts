import { markAsPrintable } from '../../../../src/lib/printable.ts';
import type { HighlightCode } from '../../../../src/ui/text/line.ts';
import { renderLines } from '../../../../src/ui/text/render-lines.ts';
import {
  appendMarkdown,
  createMarkdownStream,
  finishMarkdown,
  type MarkdownBlock,
} from '../../../../src/ui/widgets/markdown/markdown-stream.ts';
import { renderMarkdownBlock } from '../../../../src/ui/widgets/markdown/render-markdown-block.ts';

/** The blocks of a text that arrives in pieces. */
export function blocksOf(pieces: readonly string[], codeLines = 12): MarkdownBlock[] {
  let stream = createMarkdownStream({ codeLines });
  const blocks: MarkdownBlock[] = [];
  for (const piece of pieces) {
    const fed = appendMarkdown(stream, piece);
    blocks.push(...fed.finished);
    stream = fed.stream;
  }
  return [...blocks, ...finishMarkdown(stream)];
}

/** A text as it stands in the history, without colours. */
export function shown(source: string, width = 60, highlight?: HighlightCode): string {
  let carry = '';
  const lines = blocksOf([source]).flatMap((block) => {
    const rendered = renderMarkdownBlock(block, { width, markup: 'hidden', links: 'printed', highlight }, carry);
    carry = rendered.openCode;
    return rendered.lines;
  });
  return renderLines(lines, { width, paint: markAsPrintable, zone: 'history', links: 'printed' }).join('\n');
}
