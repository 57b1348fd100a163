import { sanitizeScreen } from '../../lib/text/sanitize.ts';
import { textWidth } from '../../lib/text/text-width.ts';
import { type HistoryCarry, needsGap } from '../history/history-lines.ts';
import { liveToolLines } from '../history/live-tool-lines.ts';
import { todoColumn, todoRow } from '../history/todo-lines.ts';
import { openLines } from '../markdown/open-lines.ts';
import { renderBlock } from '../markdown/render-block.ts';
import { openBlock } from '../markdown/stream.ts';
import type { Drawing } from '../text/drawing.ts';
import { type LogicalLine, plain, terminalLine, toned } from '../text/line.ts';
import { callIdOf } from '../view/ask.ts';
import { queuedWords } from '../view/slice-queue.ts';
import type { LivePiece, ViewState } from '../view/view-state.ts';
import { activityLines } from './activity-line.ts';
import { dialogSources } from './dialog-sources.ts';
import type { LiveSource } from './fit-rows.ts';
import { thinkingLines } from './thinking-lines.ts';

const ROOMY = 20;

/** Everything above the composer that still changes, in its order on screen. */
export function liveSources(view: ViewState, drawing: Drawing, carry: HistoryCarry): readonly LiveSource[] {
  let last = carry.last;
  const asked = view.attention.stage === 'armed' && drawing.rows < ROOMY ? view.asks[0] : undefined;
  const pieces = view.pieces.flatMap((piece) => {
    // Where rows are few, the question itself says which call it is about.
    if (asked !== undefined && piece.kind === 'tool' && piece.entry.callId === callIdOf(asked)) return [];
    const source = pieceSource(piece, drawing, last, carry.code);
    if (source === undefined) return [];
    last = piece.kind === 'tool' ? 'tools' : 'markdown';
    return [source];
  });
  const isGap = last !== undefined && view.activity.status !== 'idle';
  // A dialog says itself that it waits.
  const activity =
    view.attention.stage === 'armed' ? [] : [...thinkingLines(view.thinking, drawing), ...activityLines(view, drawing)];
  return [
    ...pieces,
    source('todos', todos(view, drawing, last)),
    ...dialogSources(view, drawing),
    source('activity', activity.length > 0 && isGap ? [terminalLine(), ...activity] : activity),
    source('queue', queueLines(view, drawing)),
    { kind: 'keys', lines: queueKeys(view, drawing), keepHead: 0, keepTail: 0 },
  ];
}

function todos(view: ViewState, drawing: Drawing, last: HistoryCarry['last']): readonly LogicalLine[] {
  if (view.todos.length === 0) return [];
  const gap = last === undefined ? [] : [terminalLine()];
  return [...gap, ...(view.todosShown === 'row' ? [todoRow(view.todos, drawing)] : todoColumn(view.todos, drawing))];
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
    const own = liveToolLines(piece.entry, drawing);
    if (own.length === 0) return undefined;
    const lines = [...gap, ...own];
    const kind = piece.entry.state.status === 'ended' ? 'ended_tool' : 'tool';
    return { kind, lines, keepHead: gap.length + 1, keepTail: 0 };
  }
  const open = openBlock(piece.stream);
  if (open === undefined && piece.ready.length === 0) return undefined;
  const place = !piece.hasBegun ? 'first' : 'later';
  const gap = needsGap({ kind: 'markdown', place }, last) ? [terminalLine()] : [];
  const ready = piece.ready.flatMap((block) => renderBlock(block, drawing, code).lines);
  const lines =
    open === undefined ? ready : [...ready, ...openLines(open, { ...drawing, more: drawing.glyphs.more }, code)];
  return { kind: 'text', lines: [...gap, ...lines], keepHead: 0, keepTail: 1 };
}

/** What waits to be heard: where it will go in, and how to get it back. */
function queueLines({ queue }: ViewState, { glyphs, width }: Drawing): readonly LogicalLine[] {
  return queue.map((item) => {
    const lane = item.lane === 'next' ? 'next ' : 'after';
    const when = item.lane === 'next' ? 'goes in after the running tool' : 'goes in when it has finished';
    const words = sanitizeScreen(queuedWords(item)).replaceAll('\n', ' ');
    const room = width - textWidth(glyphs.queue) - when.length - 14;
    const note = textWidth(words) <= room ? [toned('dim', `   ${when}`)] : [];
    return terminalLine(toned('accent', `${glyphs.queue} ${lane}  `), plain(words), ...note);
  });
}

function queueKeys({ queue }: ViewState, { glyphs }: Drawing): readonly LogicalLine[] {
  if (queue.length === 0) return [];
  const keys = ['up edits the last', 'alt+up all', 'ctrl+x ctrl+d drops it'].join(glyphs.separator);
  return [terminalLine(toned('dim', `  ${keys}`))];
}
