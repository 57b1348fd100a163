import type { MarkdownBlock } from '../markdown/block.ts';
import { openBlock } from '../markdown/stream.ts';
import { type HistoryItem, waitingItems } from './history-item.ts';
import type { ViewState } from './view-state.ts';

const FENCE = /`{3}|~{3}/;

/** Is there code among what is printed or drawn next? Colours for it are loaded when there is. */
export function holdsCode({ outbox, pieces, overlay }: Pick<ViewState, 'outbox' | 'pieces' | 'overlay'>): boolean {
  return (
    // The sample of a theme holds some.
    (overlay?.kind === 'picker' && overlay.purpose === 'theme') ||
    waitingItems(outbox).some(itemHoldsCode) ||
    pieces.some((piece) => {
      if (piece.kind === 'tool') return false;
      const open = openBlock(piece.stream);
      return piece.ready.some(blockHoldsCode) || (open !== undefined && blockHoldsCode(open));
    })
  );
}

/** Is there code in this Markdown? */
export function textHoldsCode(markdown: string): boolean {
  return FENCE.test(markdown);
}

function itemHoldsCode(item: HistoryItem): boolean {
  if (item.kind === 'shown') return textHoldsCode(item.markdown);
  return item.kind === 'markdown' && blockHoldsCode(item.block);
}

function blockHoldsCode(block: MarkdownBlock): boolean {
  return block.kind === 'code' ? block.language !== '' : textHoldsCode(block.source);
}
