import { type HistoryItem, listUnprintedItems } from '../widgets/history/history-item.ts';
import { getOpenMarkdownBlock, type MarkdownBlock } from '../widgets/markdown/markdown-stream.ts';
import type { ToolCallEntry } from '../widgets/tool-calls/tool-entry.ts';
import type { ViewState } from './view-state.ts';

const FENCE = /`{3}|~{3}/;

/** Returns whether the next frame contains code, for which the highlighter has to be loaded. */
export function needsHighlighter({
  outbox,
  pieces,
  overlay,
  dialogRequests,
}: Pick<ViewState, 'outbox' | 'pieces' | 'overlay' | 'dialogRequests'>): boolean {
  return (
    // The theme preview contains code.
    (overlay?.kind === 'picker' && overlay.purpose === 'theme') ||
    overlay?.kind === 'viewer' ||
    listUnprintedItems(outbox).some(itemContainsCode) ||
    dialogRequests.some((request) => request.kind === 'permission' && request.permission.facts.kind === 'edit') ||
    pieces.some((piece) => {
      if (piece.kind === 'tool') return entryContainsCode(piece.entry);
      const openPart = getOpenMarkdownBlock(piece.stream);
      return piece.readyBlocks.some(blockContainsCode) || (openPart !== undefined && blockContainsCode(openPart));
    })
  );
}

/** Returns whether Markdown contains a fenced code block. */
export function containsCodeBlock(markdown: string): boolean {
  return FENCE.test(markdown);
}

function itemContainsCode(item: HistoryItem): boolean {
  if (item.kind === 'shown') return containsCodeBlock(item.markdown);
  if (item.kind === 'tools') return item.entries.some(entryContainsCode);
  return item.kind === 'markdown' && blockContainsCode(item.block);
}

/** Diffs are highlighted in the language of their file. */
function entryContainsCode({ state }: ToolCallEntry): boolean {
  return state.status === 'ended' && state.outcome.display?.kind === 'diff';
}

function blockContainsCode(block: MarkdownBlock): boolean {
  return block.kind === 'code' ? block.language !== '' : containsCodeBlock(block.source);
}
