import { type HistoryCarry, needsGap } from '../history/history-lines.ts';
import { liveToolHeight } from '../history/live-tool-lines.ts';
import { openLines } from '../markdown/open-lines.ts';
import { renderBlock } from '../markdown/render-block.ts';
import { openBlock } from '../markdown/stream.ts';
import type { Drawing } from '../text/drawing.ts';
import { liveRows, type Row } from '../text/render-lines.ts';
import { callIdOf } from '../view/ask.ts';
import { isLookUp, type ToolEntry } from '../view/tool-entry.ts';
import type { LivePiece, ViewState } from '../view/view-state.ts';
import type { Fitting } from './fit-rows.ts';
import { tasksHeight } from './Tasks.tsx';
import { thinkingRows } from './Thinking.tsx';

/** A piece of the live zone: what it shows, how high it would be, and the empty rows that set it apart. */
export type LiveBlock = Fitting & { readonly key: string; readonly full: number; readonly gap: number } & (
    | { readonly kind: 'text'; readonly rows: readonly Row[] }
    | { readonly kind: 'tool' | 'ended_tool'; readonly entry: ToolEntry }
    /** Look-ups that wait for more of them: one line for all. */
    | { readonly kind: 'ended_tool'; readonly looked: readonly ToolEntry[] }
    | { readonly kind: 'thinking'; readonly rows: readonly Row[] }
    | { readonly kind: 'todos' }
  );

/** What still changes, in its order on screen: the end of the answer, calls, tasks. */
export function liveBlocks(view: ViewState, drawing: Drawing, carry: HistoryCarry): readonly LiveBlock[] {
  let last = carry.last;
  // The question itself says which call it is about.
  const [asked] = view.asks;
  const pieces = withLooked(view.pieces).flatMap((piece) => {
    if (asked !== undefined && piece.kind === 'tool' && piece.entry.callId === callIdOf(asked)) return [];
    const block = pieceBlock(piece, drawing, last, carry.code);
    if (block === undefined) return [];
    last = piece.kind === 'text' ? 'markdown' : 'tools';
    return [block];
  });
  const gap = last === undefined ? 0 : 1;
  const thought = view.asks[0] === undefined ? thinkingRows(view.thinking, drawing) : [];
  const tasks = tasksHeight(view.todos, view.todosShown);
  const keptTask = Math.min(1, tasks);
  return [
    ...pieces,
    { key: 'thinking', kind: 'thinking', rows: thought, ...heights(thought.length, gap), keepHead: 0, keepTail: 0 },
    { key: 'todos', kind: 'todos', ...heights(tasks, gap), keepHead: 0, keepTail: keptTask },
  ];
}

/** Nothing needs no row to set it apart. */
function heights(own: number, gap: number): Pick<LiveBlock, 'height' | 'full' | 'gap'> {
  return own === 0 ? { height: 0, full: 0, gap: 0 } : { height: own + gap, full: own + gap, gap };
}

type Looked = { readonly kind: 'looked'; readonly entries: readonly ToolEntry[] };

/** Look-ups beside one another, taken together. */
function withLooked(pieces: readonly LivePiece[]): readonly (LivePiece | Looked)[] {
  const joined: (LivePiece | Looked)[] = [];
  for (const piece of pieces) {
    const before = joined.at(-1);
    if (piece.kind !== 'tool' || !isLookUp(piece.entry)) joined.push(piece);
    else if (before?.kind === 'looked') joined.splice(-1, 1, { ...before, entries: [...before.entries, piece.entry] });
    else joined.push({ kind: 'looked', entries: [piece.entry] });
  }
  return joined;
}

function pieceBlock(
  piece: LivePiece | Looked,
  drawing: Drawing,
  last: HistoryCarry['last'],
  code: string,
): LiveBlock | undefined {
  if (piece.kind === 'looked') {
    const gap = needsGap({ kind: 'tools' }, last) ? 1 : 0;
    const key = piece.entries[0]?.callId ?? '';
    return { key, kind: 'ended_tool', looked: piece.entries, ...heights(1, gap), keepHead: gap + 1, keepTail: 0 };
  }
  if (piece.kind === 'tool') {
    const { entry } = piece;
    const own = liveToolHeight(entry);
    if (own === 0) return undefined;
    const gap = needsGap({ kind: 'tools' }, last) ? 1 : 0;
    const kind = entry.state.status === 'ended' ? 'ended_tool' : 'tool';
    return { key: entry.callId, kind, entry, ...heights(own, gap), keepHead: gap + 1, keepTail: 0 };
  }
  const open = openBlock(piece.stream);
  if (open === undefined && piece.ready.length === 0) return undefined;
  const place = !piece.hasBegun ? 'first' : 'later';
  const gap = needsGap({ kind: 'markdown', place }, last) ? 1 : 0;
  const ready = piece.ready.flatMap((block) => renderBlock(block, drawing, code).lines);
  const lines =
    open === undefined ? ready : [...ready, ...openLines(open, { ...drawing, more: drawing.glyphs.more }, code)];
  const rows = liveRows(lines, drawing.width);
  const key = `${piece.messageId} ${piece.index}`;
  return { key, kind: 'text', rows, ...heights(rows.length, gap), keepHead: 0, keepTail: 1 };
}
