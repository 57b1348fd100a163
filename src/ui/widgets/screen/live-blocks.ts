import { sanitizeForScreen } from '../../../lib/text/sanitize.ts';
import { wrapRanges } from '../../../lib/text/text-wrap.ts';
import type { LivePiece, LiveThinking, ViewState } from '../../app-state/view-state.ts';
import { colored, plain } from '../../text/line.ts';
import type { RenderContext } from '../../text/render-context.ts';
import { type ScreenRow, wrapLines } from '../../text/render-lines.ts';
import { type HistoryRenderState, needsHistoryGap } from '../history/history-lines.ts';
import { getOpenMarkdownBlock } from '../markdown/markdown-stream.ts';
import { renderMarkdownBlock, renderOpenMarkdownBlock } from '../markdown/render-markdown-block.ts';
import { getRequestCallId } from '../permission-dialog/dialog-state.ts';
import { getTaskListHeight } from '../TaskList.tsx';
import { getLiveCallHeight } from '../tool-calls/live-call.ts';
import { isLookup, type ToolCallEntry } from '../tool-calls/tool-entry.ts';

/** A block of the live zone: its content, its full height, and the number of empty rows before it. */
export type LiveBlock = BlockSize & { readonly key: string; readonly fullHeight: number; readonly gap: number } & (
    | { readonly kind: 'text'; readonly rows: readonly ScreenRow[] }
    | { readonly kind: 'tool' | 'ended_tool'; readonly entry: ToolCallEntry }
    /** Lookups that wait for further ones, all on one line. */
    | { readonly kind: 'ended_tool'; readonly lookups: readonly ToolCallEntry[] }
    | { readonly kind: 'thinking'; readonly rows: readonly ScreenRow[] }
    | { readonly kind: 'todos' }
  );

/** Creates the blocks of the live zone in order: text and tool calls, thinking, tasks. */
export function createLiveBlocks(
  view: ViewState,
  context: RenderContext,
  renderState: HistoryRenderState,
): readonly LiveBlock[] {
  let last = renderState.lastKind;
  // The dialog itself shows the call that it is about.
  const [shownRequest] = view.dialogRequests;
  const pieces = groupLookups(view.pieces).flatMap((piece) => {
    if (shownRequest !== undefined && piece.kind === 'tool' && piece.entry.callId === getRequestCallId(shownRequest))
      return [];
    const block = createPieceBlock(piece, context, last, renderState.openCode);
    if (block === undefined) return [];
    last = piece.kind === 'text' ? 'markdown' : 'tools';
    return [block];
  });
  const gap = last === undefined ? 0 : 1;
  const thinking = view.dialogRequests[0] === undefined ? renderLiveThinking(view.thinking, context) : [];
  const taskRows = getTaskListHeight(view.todos, view.todosShown);
  const keptTaskRows = Math.min(1, taskRows);
  return [
    ...pieces,
    {
      key: 'thinking',
      kind: 'thinking',
      rows: thinking,
      ...createHeights(thinking.length, gap),
      keepHead: 0,
      keepTail: 0,
    },
    { key: 'todos', kind: 'todos', ...createHeights(taskRows, gap), keepHead: 0, keepTail: keptTaskRows },
  ];
}

/** Returns the heights of a block with its gap; an empty block has no gap. */
function createHeights(height: number, gap: number): Pick<LiveBlock, 'height' | 'fullHeight' | 'gap'> {
  return height === 0 ? { height: 0, fullHeight: 0, gap: 0 } : { height: height + gap, fullHeight: height + gap, gap };
}

type Lookups = { readonly kind: 'lookups'; readonly entries: readonly ToolCallEntry[] };

/** Groups adjacent lookups. */
function groupLookups(pieces: readonly LivePiece[]): readonly (LivePiece | Lookups)[] {
  const grouped: (LivePiece | Lookups)[] = [];
  for (const piece of pieces) {
    const previous = grouped.at(-1);
    if (piece.kind !== 'tool' || !isLookup(piece.entry)) grouped.push(piece);
    else if (previous?.kind === 'lookups')
      grouped.splice(-1, 1, { ...previous, entries: [...previous.entries, piece.entry] });
    else grouped.push({ kind: 'lookups', entries: [piece.entry] });
  }
  return grouped;
}

function createPieceBlock(
  piece: LivePiece | Lookups,
  context: RenderContext,
  last: HistoryRenderState['lastKind'],
  openCode: string,
): LiveBlock | undefined {
  if (piece.kind === 'lookups') {
    const gap = needsHistoryGap({ kind: 'tools' }, last) ? 1 : 0;
    const key = piece.entries[0]?.callId ?? '';
    return {
      key,
      kind: 'ended_tool',
      lookups: piece.entries,
      ...createHeights(1, gap),
      keepHead: gap + 1,
      keepTail: 0,
    };
  }
  if (piece.kind === 'tool') {
    const { entry } = piece;
    const height = getLiveCallHeight(entry);
    if (height === 0) return undefined;
    const gap = needsHistoryGap({ kind: 'tools' }, last) ? 1 : 0;
    const kind = entry.state.status === 'ended' ? 'ended_tool' : 'tool';
    return { key: entry.callId, kind, entry, ...createHeights(height, gap), keepHead: gap + 1, keepTail: 0 };
  }
  const openPart = getOpenMarkdownBlock(piece.stream);
  if (openPart === undefined && piece.readyBlocks.length === 0) return undefined;
  const position = !piece.hasPrinted ? 'first' : 'later';
  const gap = needsHistoryGap({ kind: 'markdown', position }, last) ? 1 : 0;
  const ready = piece.readyBlocks.flatMap((block) => renderMarkdownBlock(block, context, openCode).lines);
  const lines =
    openPart === undefined
      ? ready
      : [...ready, ...renderOpenMarkdownBlock(openPart, { ...context, ellipsis: context.glyphs.ellipsis }, openCode)];
  const rows = wrapLines(lines, context.width);
  const key = `${piece.messageId} ${piece.index}`;
  return { key, kind: 'text', rows, ...createHeights(rows.length, gap), keepHead: 0, keepTail: 1 };
}

const THINKING_ROWS = 2;
const THINKING_INDENT = '  ';

/** Renders the last two rows of the current thinking; none if the provider hides it. @internal Exported for tests. */
export function renderLiveThinking(thinking: LiveThinking | undefined, { width }: RenderContext): readonly ScreenRow[] {
  const text = sanitizeForScreen(thinking?.tail ?? '')
    .replace(/\s+/g, ' ')
    .trim();
  if (text === '') return [];
  const room = Math.max(10, width - THINKING_INDENT.length - 1);
  const rows = wrapRanges(text, room, { spaces: 'trim', longWords: 'break' }).slice(-THINKING_ROWS);
  return rows.map(({ from, to }) => [plain(THINKING_INDENT), colored('dim', text.slice(from, to))]);
}

/** Kinds of blocks in the order in which they are cut. */
const CUT_ORDER = ['thinking', 'tool', 'ended_tool', 'todos', 'text'] as const;

/** The height limits of a block of the live zone. */
type BlockSize = {
  readonly kind: (typeof CUT_ORDER)[number];
  /** Number of rows that it needs. */
  readonly height: number;
  /** Rows at the start and the end that are cut last. */
  readonly keepHead: number;
  readonly keepTail: number;
};

/** Fits blocks into the available rows: first by reducing their heights, then by dropping blocks. */
export function fitLiveBlocks<Block extends BlockSize>(blocks: readonly Block[], room: number): readonly Block[] {
  let shown = blocks.filter((block) => block.height > 0);
  let excess = getTotalBlockHeight(shown) - room;
  for (const kind of CUT_ORDER) {
    if (excess <= 0) break;
    shown = shown.map((block) => {
      const cut = Math.min(excess, block.height - block.keepHead - block.keepTail);
      if (block.kind !== kind || cut <= 0) return block;
      excess -= cut;
      return { ...block, height: block.height - cut };
    });
  }
  for (const kind of CUT_ORDER) {
    while (excess > 0) {
      const index = shown.findIndex((block) => block.kind === kind);
      if (index === -1) break;
      excess -= shown[index]?.height ?? 0;
      shown = shown.toSpliced(index, 1);
    }
  }
  return shown;
}

/** Returns the rows of all blocks together. */
export function getTotalBlockHeight(blocks: readonly BlockSize[]): number {
  return blocks.reduce((sum, { height }) => sum + height, 0);
}
