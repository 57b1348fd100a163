import type { Drawing } from '../drawing.ts';
import { type HistoryCarry, needsGap } from '../history/history-lines.ts';
import { todoColumn, todoRow } from '../history/todo-lines.ts';
import { liveToolLines } from '../history/tool-lines.ts';
import { type LogicalLine, plain, terminalLine, toned } from '../lines/line.ts';
import { renderBlock } from '../markdown/render-block.ts';
import { openBlock } from '../markdown/stream.ts';
import { dialogSources } from '../overlay/dialog-sources.ts';
import { sanitize } from '../sanitize.ts';
import { activityLines } from '../status/activity-line.ts';
import { queuedWords } from '../view/slice-queue.ts';
import type { LivePiece, ViewState } from '../view/view-state.ts';
import type { LiveSource } from './fit-rows.ts';

/** Everything above the composer that still changes, in its order on screen. */
export function liveSources(view: ViewState, drawing: Drawing, carry: HistoryCarry): readonly LiveSource[] {
  let last = carry.last;
  const pieces = view.pieces.flatMap((piece) => {
    const source = pieceSource(piece, drawing, last, carry.code);
    if (source === undefined) return [];
    last = piece.kind === 'tool' ? 'tools' : 'markdown';
    return [source];
  });
  const isGap = last !== undefined && view.activity.status !== 'idle';
  const activity = activityLines(view, drawing);
  return [
    ...pieces,
    source('todos', todos(view, drawing)),
    ...dialogSources(view, drawing),
    source('activity', activity.length > 0 && isGap ? [terminalLine(), ...activity] : activity),
    source('queue', queueLines(view, drawing)),
  ];
}

function todos(view: ViewState, drawing: Drawing): readonly LogicalLine[] {
  if (view.todos.length === 0) return [];
  return view.todosShown === 'row' ? [todoRow(view.todos, drawing)] : todoColumn(view.todos, drawing);
}

function source(kind: LiveSource['kind'], lines: readonly LogicalLine[]): LiveSource {
  return { kind, lines, keepHead: 0, keepTail: Math.min(1, lines.length) };
}

function pieceSource(
  piece: LivePiece,
  drawing: Drawing,
  last: HistoryCarry['last'],
  code: string,
): LiveSource | undefined {
  if (piece.kind === 'tool') {
    const gap = needsGap({ kind: 'tools' }, last) ? [terminalLine()] : [];
    const lines = [...gap, ...liveToolLines(piece.entry, drawing)];
    const kind = piece.entry.state.status === 'ended' ? 'ended_tool' : 'tool';
    return { kind, lines, keepHead: gap.length + 1, keepTail: 0 };
  }
  const open = openBlock(piece.stream);
  const blocks = open === undefined ? piece.ready : [...piece.ready, open];
  if (blocks.length === 0) return undefined;
  const place = piece.begun === 'no' ? 'first' : 'later';
  const gap = needsGap({ kind: 'markdown', place }, last) ? [terminalLine()] : [];
  const lines = blocks.flatMap((block) => renderBlock(block, drawing, code).lines);
  return { kind: 'text', lines: [...gap, ...lines], keepHead: 0, keepTail: 1 };
}

function queueLines(view: ViewState, { glyphs }: Drawing): readonly LogicalLine[] {
  return view.queue.map((item) => {
    const lane = item.lane === 'next' ? 'next ' : 'after';
    const words = sanitize(queuedWords(item)).replaceAll('\n', ' ');
    return terminalLine(toned('accent', `${glyphs.queue} ${lane} `), plain(words));
  });
}
