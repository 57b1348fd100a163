import type { AgentEvent } from '../../contracts/event.ts';
import { type AssistantBlock, formatResultText } from '../../contracts/message.ts';
import type { HistoryItem } from '../widgets/history/history-item.ts';
import {
  appendMarkdown,
  createMarkdownStream,
  finishMarkdown,
  type MarkdownBlock,
} from '../widgets/markdown/markdown-stream.ts';
import { getRequestCallId } from '../widgets/permission-dialog/dialog-state.ts';
import {
  type EndedCallOutcome,
  hasCallEnded,
  isLookup,
  isOutputPartlyShown,
  type ToolCallEntry,
} from '../widgets/tool-calls/tool-entry.ts';
import { addHistoryItems, type LivePiece, type ViewState } from './view-state.ts';

type TextPiece = Extract<LivePiece, { kind: 'text' }>;
type Delta = Extract<AgentEvent, { type: 'message_update' }>;
type BlockEnd = Extract<AgentEvent, { type: 'block_end' }>;

/** Appends streamed text. Completed blocks are printed as soon as nothing unfinished precedes them. */
export function appendStreamedText(view: ViewState, { messageId, index, delta }: Delta): ViewState {
  const piece = findText(view, messageId, index);
  const base: TextPiece = piece ?? {
    kind: 'text',
    messageId,
    index,
    stream: createMarkdownStream(),
    readyBlocks: [],
    phase: 'growing',
    hasPrinted: false,
  };
  const { stream, finished } = appendMarkdown(base.stream, delta);
  const grown: TextPiece = { ...base, stream, readyBlocks: [...base.readyBlocks, ...finished] };
  const pieces =
    piece === undefined ? [...view.pieces, grown] : view.pieces.map((other) => (other === piece ? grown : other));
  return printFinishedPieces({ ...view, pieces });
}

/** Ends a block. Text that was not streamed is taken from the block. */
export function endStreamedBlock(view: ViewState, { messageId, index, block }: BlockEnd): ViewState {
  if (block.type !== 'text') return view;
  const streamed = findText(view, messageId, index)
    ? view
    : appendStreamedText(view, { type: 'message_update', messageId, index, kind: 'text', delta: getText(block) });
  return printFinishedPieces({ ...streamed, pieces: streamed.pieces.map((piece) => endText(piece, messageId, index)) });
}

/** Ends all open text at the end of a turn. */
export function endAllStreamedText(view: ViewState): ViewState {
  const pieces = view.pieces.map((piece) =>
    piece.kind === 'text' ? endText(piece, piece.messageId, piece.index) : piece,
  );
  return printFinishedPieces({ ...view, pieces });
}

/** Removes the unprinted text of a retracted message. */
export function dropRetractedMessage(view: ViewState, messageId: string): ViewState {
  return printFinishedPieces({
    ...view,
    pieces: view.pieces.filter((piece) => piece.kind !== 'text' || piece.messageId !== messageId),
  });
}

/** Prints the finished pieces at the front in order; lookups wait for the next ones to share a line. */
function printFinishedPieces(view: ViewState): ViewState {
  return printFinished(view, view.activity.status === 'idle' ? 'print all' : 'keep lookups');
}

/** Prints the finished pieces, waiting lookups included, before something else is printed. */
export function flushFinishedPieces(view: ViewState): ViewState {
  return printFinished(view, 'print all');
}

/** Maximum number of lookups on one line; longer lines are not readable. */
const MAX_WAITING_LOOKUPS = 16;

function printFinished(view: ViewState, mode: 'keep lookups' | 'print all'): ViewState {
  const items: HistoryItem[] = [];
  let pieces = view.pieces;
  for (let first = pieces[0]; first !== undefined; first = pieces[0]) {
    if (first.kind === 'tool') {
      const finished = takeFinishedCalls(pieces, mode);
      if (finished.length === 0) break;
      items.push({ kind: 'tools', entries: finished });
      pieces = pieces.slice(finished.length);
      continue;
    }
    items.push(...createMarkdownItems(first, first.readyBlocks));
    if (first.phase === 'growing') {
      const hasPrinted = first.hasPrinted || first.readyBlocks.length > 0;
      if (first.readyBlocks.length > 0) pieces = [{ ...first, readyBlocks: [], hasPrinted }, ...pieces.slice(1)];
      break;
    }
    pieces = pieces.slice(1);
  }
  if (items.length === 0 && pieces === view.pieces) return view;
  const lastTruncated = items
    .flatMap((item) => (item.kind === 'tools' ? item.entries.filter(isOutputPartlyShown) : []))
    .at(-1);
  return addHistoryItems(
    { ...view, pieces, lastTruncatedCall: lastTruncated?.callId ?? view.lastTruncatedCall },
    ...items,
  );
}

function createMarkdownItems(piece: TextPiece, blocks: readonly MarkdownBlock[]): HistoryItem[] {
  return blocks.map(
    (block, index): HistoryItem => ({
      kind: 'markdown',
      block,
      position: !piece.hasPrinted && index === 0 ? 'first' : 'later',
    }),
  );
}

function takeFinishedCalls(pieces: readonly LivePiece[], mode: 'keep lookups' | 'print all'): readonly ToolCallEntry[] {
  const finished: ToolCallEntry[] = [];
  for (const piece of pieces) {
    if (piece.kind !== 'tool' || !hasCallEnded(piece.entry)) break;
    finished.push(piece.entry);
  }
  // Lookups wait for an adjacent call that is still running and for those of the next turn, to share a line.
  const next = pieces[finished.length];
  if (next === undefined ? mode === 'print all' : next.kind !== 'tool') return finished;
  const waitingStart = finished.findLastIndex((entry) => !isLookup(entry)) + 1;
  return finished.length - waitingStart > MAX_WAITING_LOOKUPS ? finished : finished.slice(0, waitingStart);
}

function endText(piece: LivePiece, messageId: string, index: number): LivePiece {
  if (piece.kind !== 'text' || piece.messageId !== messageId || piece.index !== index || piece.phase === 'ended') {
    return piece;
  }
  return {
    ...piece,
    phase: 'ended',
    readyBlocks: [...piece.readyBlocks, ...finishMarkdown(piece.stream)],
    stream: createMarkdownStream(),
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

function getText(block: AssistantBlock): string {
  return block.type === 'text' ? block.text : '';
}

type ToolStart = Extract<AgentEvent, { type: 'tool_start' }>;
type ToolEnd = Extract<AgentEvent, { type: 'tool_end' }>;
type ToolUpdate = Extract<AgentEvent, { type: 'tool_update' }>;

/** Adds a tool call after the existing pieces. */
export function addLiveCall(
  view: ViewState,
  { callId, tool, title, input, messageId }: ToolStart,
  nowMs: number,
): ViewState {
  // The permission request of a call may arrive before its start event.
  const isAsked = view.dialogRequests.some((request) => getRequestCallId(request) === callId);
  const state: ToolCallEntry['state'] = { status: isAsked ? 'waiting' : 'running' };
  const entry: ToolCallEntry = {
    callId,
    tool,
    title,
    caller: messageId === '' ? 'user' : 'model',
    input,
    startedAtMs: nowMs,
    state,
  };
  return { ...view, pieces: [...view.pieces, { kind: 'tool', entry }] };
}

/** Replaces the progress of a call. */
export function updateLiveCall(view: ViewState, { callId, progress }: ToolUpdate): ViewState {
  return updateEntry(view, callId, (entry) => ({ ...entry, progress }));
}

/** Marks a call as waiting for the user, or as running after the answer. */
export function setLiveCallStatus(
  view: ViewState,
  callId: string,
  status: 'running' | 'waiting',
  nowMs: number,
): ViewState {
  return updateEntry(view, callId, (entry) =>
    entry.state.status === 'ended' ? entry : { ...entry, startedAtMs: nowMs, state: { status } },
  );
}

/** Ends a call, and prints what is finished with it. */
export function endLiveCall(view: ViewState, event: ToolEnd, nowMs: number): ViewState {
  const { callId, status, display, result, denial } = event;
  return printFinishedPieces(
    updateEntry(view, callId, (entry) => {
      // The time until the user answered does not count.
      const durationMs = Math.min(event.durationMs, nowMs - entry.startedAtMs);
      const outcome: EndedCallOutcome = {
        ...{ status, durationMs, text: formatResultText(result) },
        ...(display === undefined ? {} : { display }),
        ...(denial === undefined ? {} : { denial }),
      };
      return { ...entry, state: { status: 'ended', outcome } };
    }),
  );
}

/** Ends the calls without an end event as interrupted, when their turn is over. */
export function endAllLiveCalls(view: ViewState, nowMs: number): ViewState {
  const pieces = view.pieces.map((piece): LivePiece => {
    if (piece.kind !== 'tool' || piece.entry.state.status === 'ended') return piece;
    const durationMs = nowMs - piece.entry.startedAtMs;
    const outcome: EndedCallOutcome = { status: 'interrupted', durationMs, text: '' };
    return { kind: 'tool', entry: { ...piece.entry, state: { status: 'ended', outcome } } };
  });
  return printFinishedPieces({ ...view, pieces });
}

function updateEntry(view: ViewState, callId: string, update: (entry: ToolCallEntry) => ToolCallEntry): ViewState {
  const pieces = view.pieces.map((piece) =>
    piece.kind === 'tool' && piece.entry.callId === callId ? { ...piece, entry: update(piece.entry) } : piece,
  );
  return { ...view, pieces };
}
