import type { AgentEvent } from '../../contracts/event.ts';
import type { AssistantBlock } from '../../contracts/message.ts';
import type { MarkdownBlock } from '../markdown/block.ts';
import { feedMarkdown, finishMarkdown, startMarkdown } from '../markdown/stream.ts';
import type { HistoryItem } from './history-item.ts';
import { hasEnded, isCut, isLookUp, type ToolEntry } from './tool-entry.ts';
import { type LivePiece, printing, type ViewState } from './view-state.ts';

type TextPiece = Extract<LivePiece, { kind: 'text' }>;
type Delta = Extract<AgentEvent, { type: 'message_update' }>;
type BlockEnd = Extract<AgentEvent, { type: 'block_end' }>;

/** Text that grows: what is complete is printed as soon as nothing unfinished stands before it. */
export function growText(view: ViewState, { messageId, index, delta }: Delta): ViewState {
  const piece = findText(view, messageId, index);
  const base: TextPiece = piece ?? {
    kind: 'text',
    messageId,
    index,
    stream: startMarkdown(),
    ready: [],
    phase: 'growing',
    hasBegun: false,
  };
  const { stream, finished } = feedMarkdown(base.stream, delta);
  const grown: TextPiece = { ...base, stream, ready: [...base.ready, ...finished] };
  const pieces =
    piece === undefined ? [...view.pieces, grown] : view.pieces.map((one) => (one === piece ? grown : one));
  return settleAnswer({ ...view, pieces });
}

/** A block is complete. Text that never streamed is taken from the block itself. */
export function endBlock(view: ViewState, { messageId, index, block }: BlockEnd): ViewState {
  if (block.type !== 'text') return view;
  const streamed = findText(view, messageId, index)
    ? view
    : growText(view, { type: 'message_update', messageId, index, kind: 'text', delta: textOf(block) });
  return settleAnswer({ ...streamed, pieces: streamed.pieces.map((piece) => ended(piece, messageId, index)) });
}

/** Everything that is still open is over: the turn has ended. What was shown stays shown. */
export function endAllText(view: ViewState): ViewState {
  const pieces = view.pieces.map((piece) =>
    piece.kind === 'text' ? ended(piece, piece.messageId, piece.index) : piece,
  );
  return settleAnswer({ ...view, pieces });
}

/** A message that is void goes from the screen as far as it is not printed yet. */
export function dropMessage(view: ViewState, messageId: string): ViewState {
  return settleAnswer({
    ...view,
    pieces: view.pieces.filter((piece) => piece.kind !== 'text' || piece.messageId !== messageId),
  });
}

/**
 * Prints the finished pieces at the front, in order, calls that ended side by side as one item. Look-ups at the end wait
 * for the next ones, as long as something is being done.
 */
export function settleAnswer(view: ViewState): ViewState {
  return settled(view, view.activity.status === 'idle' ? 'nothing waits' : 'look-ups wait');
}

/** The same where something else is printed next: what came before it stands above it. */
export function printCalls(view: ViewState): ViewState {
  return settled(view, 'nothing waits');
}

/** More look-ups than this make no line one would read. */
const MOST_HELD = 16;

function settled(view: ViewState, how: 'look-ups wait' | 'nothing waits'): ViewState {
  const items: HistoryItem[] = [];
  let pieces = view.pieces;
  for (let first = pieces[0]; first !== undefined; first = pieces[0]) {
    if (first.kind === 'tool') {
      const run = endedRun(pieces, how);
      if (run.length === 0) break;
      items.push({ kind: 'tools', entries: run });
      pieces = pieces.slice(run.length);
      continue;
    }
    items.push(...textItems(first, first.ready));
    if (first.phase === 'growing') {
      const hasBegun = first.hasBegun || first.ready.length > 0;
      if (first.ready.length > 0) pieces = [{ ...first, ready: [], hasBegun }, ...pieces.slice(1)];
      break;
    }
    pieces = pieces.slice(1);
  }
  if (items.length === 0 && pieces === view.pieces) return view;
  const cut = items.flatMap((item) => (item.kind === 'tools' ? item.entries.filter(isCut) : [])).at(-1);
  return printing({ ...view, pieces, newestCut: cut?.callId ?? view.newestCut }, ...items);
}

function textItems(piece: TextPiece, blocks: readonly MarkdownBlock[]): HistoryItem[] {
  return blocks.map((block, at) => ({
    kind: 'markdown',
    block,
    place: !piece.hasBegun && at === 0 ? 'first' : 'later',
  }));
}

function endedRun(pieces: readonly LivePiece[], how: 'look-ups wait' | 'nothing waits'): readonly ToolEntry[] {
  const run: ToolEntry[] = [];
  for (const piece of pieces) {
    if (piece.kind !== 'tool' || !hasEnded(piece.entry)) break;
    run.push(piece.entry);
  }
  // Look-ups wait for a call beside them that still runs, and for those of the next turn: they share a line.
  const next = pieces[run.length];
  if (next === undefined ? how === 'nothing waits' : next.kind !== 'tool') return run;
  const held = run.findLastIndex((entry) => !isLookUp(entry)) + 1;
  return run.length - held > MOST_HELD ? run : run.slice(0, held);
}

function ended(piece: LivePiece, messageId: string, index: number): LivePiece {
  if (piece.kind !== 'text' || piece.messageId !== messageId || piece.index !== index || piece.phase === 'ended') {
    return piece;
  }
  return {
    ...piece,
    phase: 'ended',
    ready: [...piece.ready, ...finishMarkdown(piece.stream)],
    stream: startMarkdown(),
  };
}

function findText(view: ViewState, messageId: string, index: number): TextPiece | undefined {
  for (const piece of view.pieces) {
    if (piece.kind === 'text' && piece.messageId === messageId && piece.index === index && piece.phase === 'growing') {
      return piece;
    }
  }
  return undefined;
}

function textOf(block: AssistantBlock): string {
  return block.type === 'text' ? block.text : '';
}
