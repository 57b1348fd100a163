import { sanitize } from '../../lib/text/sanitize.ts';
import { type HistoryCarry, needsGap } from '../history/history-lines.ts';
import { liveToolLines } from '../history/live-tool-lines.ts';
import { todoColumn, todoRow } from '../history/todo-lines.ts';
import { openLines } from '../markdown/open-lines.ts';
import { renderBlock } from '../markdown/render-block.ts';
import { openBlock } from '../markdown/stream.ts';
import type { Drawing } from '../text/drawing.ts';
import { type LogicalLine, plain, terminalLine, toned } from '../text/line.ts';
import { callIdOf } from '../view/ask.ts';
import { isFolded } from '../view/slice-asks.ts';
import { queuedWords } from '../view/slice-queue.ts';
import type { LivePiece, ViewState } from '../view/view-state.ts';
import type { LiveSource } from './fit-rows.ts';
import { thinkingLines } from './thinking-lines.ts';

/** What still changes, in its order on screen: the end of the answer, calls, tasks. */
export function liveSources(view: ViewState, drawing: Drawing, carry: HistoryCarry): readonly LiveSource[] {
  let last = carry.last;
  // The question itself says which call it is about.
  const asked = isFolded(view) ? undefined : view.asks[0];
  const pieces = view.pieces.flatMap((piece) => {
    if (asked !== undefined && piece.kind === 'tool' && piece.entry.callId === callIdOf(asked)) return [];
    const source = pieceSource(piece, drawing, last, carry.code);
    if (source === undefined) return [];
    last = piece.kind === 'tool' ? 'tools' : 'markdown';
    return [source];
  });
  const thought = view.asks[0] === undefined ? thinkingLines(view.thinking, drawing) : [];
  const thinking = thought.length > 0 && last !== undefined ? [terminalLine(), ...thought] : thought;
  const todos = todoLines(view, drawing, last);
  return [
    ...pieces,
    { key: 'thinking', kind: 'thinking', lines: thinking, keepHead: 0, keepTail: 0 },
    { key: 'todos', kind: 'todos', lines: todos, keepHead: 0, keepTail: Math.min(1, todos.length) },
  ];
}

function todoLines(view: ViewState, drawing: Drawing, last: HistoryCarry['last']): readonly LogicalLine[] {
  if (view.todos.length === 0) return [];
  const gap = last === undefined ? [] : [terminalLine()];
  return [...gap, ...(view.todosShown === 'row' ? [todoRow(view.todos, drawing)] : todoColumn(view.todos, drawing))];
}

function pieceSource(
  piece: LivePiece,
  drawing: Drawing,
  last: HistoryCarry['last'],
  code: string,
): LiveSource | undefined {
  if (piece.kind === 'tool') {
    const gap = needsGap({ kind: 'tools' }, last) ? [terminalLine()] : [];
    const own = liveToolLines(piece.entry, drawing);
    if (own.length === 0) return undefined;
    const kind = piece.entry.state.status === 'ended' ? 'ended_tool' : 'tool';
    return { key: piece.entry.callId, kind, lines: [...gap, ...own], keepHead: gap.length + 1, keepTail: 0 };
  }
  const open = openBlock(piece.stream);
  if (open === undefined && piece.ready.length === 0) return undefined;
  const place = !piece.hasBegun ? 'first' : 'later';
  const gap = needsGap({ kind: 'markdown', place }, last) ? [terminalLine()] : [];
  const ready = piece.ready.flatMap((block) => renderBlock(block, drawing, code).lines);
  const lines =
    open === undefined ? ready : [...ready, ...openLines(open, { ...drawing, more: drawing.glyphs.more }, code)];
  return {
    key: `${piece.messageId} ${piece.index}`,
    kind: 'text',
    lines: [...gap, ...lines],
    keepHead: 0,
    keepTail: 1,
  };
}

/** What waits to be heard: where it will go in, and on the last how to get it back. */
export function queueLines({ queue }: ViewState, { glyphs }: Drawing): readonly LogicalLine[] {
  return queue.map((item, at) => {
    const when = item.lane === 'next' ? 'after this tool' : 'when it has finished';
    const words = sanitize(queuedWords(item), 'line');
    const keys = at === queue.length - 1 ? '     up edits, ctrl+x ctrl+d drops' : '';
    return terminalLine(toned('accent', `${glyphs.queue} `), plain(words), toned('dim', `      ${when}${keys}`));
  });
}
