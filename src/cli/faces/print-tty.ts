import type { Environment } from '../../contracts/environment.ts';
import type { AgentEvent } from '../../contracts/event.ts';
import { type Printable, printed } from '../../lib/printable.ts';
import { sanitizeScreen } from '../../lib/text/sanitize.ts';
import type { MarkdownBlock } from '../../ui/markdown/block.ts';
import { renderBlock } from '../../ui/markdown/render-block.ts';
import { feedMarkdown, finishMarkdown, startMarkdown } from '../../ui/markdown/stream.ts';
import { type LineTarget, renderLines } from '../../ui/text/render-lines.ts';
import { createPaint } from '../../ui/theme/paint.ts';
import { type ColorDepth, resolveTheme } from '../../ui/theme/theme.ts';

/** Shows replies on a terminal while they are written, block by block. */
export type LiveText = { hear(event: AgentEvent): void };

export function createLiveText(term: Environment['term'], columns: number, write: (text: Printable) => void): LiveText {
  const depth = depthOf(term);
  const paint = createPaint(resolveTheme('auto', { depth, background: 'dark' }), depth);
  const target: LineTarget = { width: columns, paint, zone: 'history', links: 'printed' };
  let stream = startMarkdown();
  let carry = '';
  let isFirst = true;
  /** The message whose text may still go on. */
  let open: string | undefined;

  function show(blocks: readonly MarkdownBlock[]): void {
    for (const block of blocks) {
      const rendered = renderBlock(
        block,
        { width: columns, marks: depth === 'none' ? 'shown' : 'hidden', links: 'printed' },
        carry,
      );
      carry = rendered.carry;
      for (const line of renderLines(rendered.lines, target)) write(printed`${line}\n`);
    }
  }

  /** A text is over once nothing can go on with it. */
  function finish(): void {
    if (open !== undefined) show(finishMarkdown(stream));
    open = undefined;
  }

  function begin(): void {
    // A reply after another one starts a paragraph of its own.
    if (!isFirst) write(printed`\n`);
    isFirst = false;
    stream = startMarkdown();
    carry = '';
  }

  return {
    hear(event) {
      if (event.type === 'block_start' && event.kind === 'text') {
        if (open === event.messageId) finish();
        if (open === undefined) begin();
        open = event.messageId;
      }
      if (event.type === 'message_update' && event.kind === 'text') {
        const fed = feedMarkdown(stream, sanitizeScreen(event.delta));
        stream = fed.stream;
        show(fed.finished);
      }
      // What the output limit cut goes on in the next reply, in the middle of its paragraph.
      const isCut = event.type === 'turn_end' && event.stopReason === 'max_tokens';
      if (event.type === 'tool_start' || event.type === 'agent_end' || (event.type === 'turn_end' && !isCut)) finish();
      if (event.type === 'tombstone') finish();
      if (event.type === 'tombstone') show([{ kind: 'prose', source: `_${event.why}_`, gap: 'line' }]);
    },
  };
}

function depthOf({ noColor, name, colorTerm }: Environment['term']): ColorDepth {
  if (noColor || name === 'dumb' || name === '') return 'none';
  if (/truecolor|24bit/.test(colorTerm)) return 'truecolor';
  return name.includes('256') ? '256' : '16';
}
