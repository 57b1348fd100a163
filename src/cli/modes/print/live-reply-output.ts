import type { Environment } from '../../../contracts/environment.ts';
import type { AgentEvent } from '../../../contracts/event.ts';
import { type Printable, printable } from '../../../lib/printable.ts';
import { sanitizeForScreen } from '../../../lib/text/sanitize.ts';
import { type RenderLinesOptions, renderLines } from '../../../ui/text/render-lines.ts';
import { createPaint } from '../../../ui/theme/paint.ts';
import { type ColorDepth, resolveTheme } from '../../../ui/theme/theme.ts';
import {
  appendMarkdown,
  createMarkdownStream,
  finishMarkdown,
  type MarkdownBlock,
} from '../../../ui/widgets/markdown/markdown-stream.ts';
import { renderMarkdownBlock } from '../../../ui/widgets/markdown/render-markdown-block.ts';

/** The live output of print mode on a terminal. */
export type LiveReplyOutput = { handleEvent(event: AgentEvent): void };

/** Creates an output that renders replies block by block while they are streamed. */
export function createLiveReplyOutput(
  term: Environment['term'],
  columns: number,
  write: (text: Printable) => void,
): LiveReplyOutput {
  const depth = detectDepth(term);
  const paint = createPaint(resolveTheme('auto', { depth, background: 'dark' }), depth);
  const target: RenderLinesOptions = { width: columns, paint, zone: 'history', links: 'printed' };
  let stream = createMarkdownStream();
  let carry = '';
  let isFirst = true;
  /** The message whose text is still streaming. */
  let openMessageId: string | undefined;

  function writeBlocks(blocks: readonly MarkdownBlock[]): void {
    for (const block of blocks) {
      const rendered = renderMarkdownBlock(
        block,
        { width: columns, markup: depth === 'none' ? 'shown' : 'hidden', links: 'printed' },
        carry,
      );
      carry = rendered.openCode;
      for (const line of renderLines(rendered.lines, target)) write(printable`${line}\n`);
    }
  }

  function finishText(): void {
    if (openMessageId !== undefined) writeBlocks(finishMarkdown(stream));
    openMessageId = undefined;
  }

  function startText(): void {
    // An empty line separates replies.
    if (!isFirst) write(printable`\n`);
    isFirst = false;
    stream = createMarkdownStream();
    carry = '';
  }

  return {
    handleEvent(event) {
      if (event.type === 'block_start' && event.kind === 'text') {
        if (openMessageId === event.messageId) finishText();
        if (openMessageId === undefined) startText();
        openMessageId = event.messageId;
      }
      if (event.type === 'message_update' && event.kind === 'text') {
        const fed = appendMarkdown(stream, sanitizeForScreen(event.delta));
        stream = fed.stream;
        writeBlocks(fed.finished);
      }
      // A reply cut by the output limit continues in the next message, in the middle of its paragraph.
      const isCut = event.type === 'turn_end' && event.stopReason === 'max_tokens';
      if (event.type === 'tool_start' || event.type === 'agent_end' || (event.type === 'turn_end' && !isCut))
        finishText();
      if (event.type === 'tombstone') finishText();
      if (event.type === 'tombstone') writeBlocks([{ kind: 'prose', source: `_${event.why}_`, gap: 'line' }]);
    },
  };
}

function detectDepth({ isColorDisabled, name, colorTerm }: Environment['term']): ColorDepth {
  if (isColorDisabled || name === 'dumb' || name === '') return 'none';
  if (/truecolor|24bit/.test(colorTerm)) return 'truecolor';
  return name.includes('256') ? '256' : '16';
}
