import { formatDuration } from '../../lib/text/format.ts';
import { printableName, sanitizeScreen } from '../../lib/text/sanitize.ts';
import { toolTitle } from '../history/call-title.ts';
import { causeOf } from '../history/failure-lines.ts';
import { type HistoryCarry, historyLines } from '../history/history-lines.ts';
import { titleOf as askTitle, bodyOf } from '../question/plan-question.ts';
import type { Drawing } from '../text/drawing.ts';
import { type LogicalLine, lineText } from '../text/line.ts';
import { type Ask, callIdOf, type OpenDialog, openDialog } from '../view/ask.ts';
import { type DialogOption, dialogOptions } from '../view/dialog-options.ts';
import { type HistoryItem, waitingItems } from '../view/history-item.ts';
import type { ToolEnding, ToolEntry } from '../view/tool-entry.ts';
import type { ViewState } from '../view/view-state.ts';
import { isSamePanel, overlayWords } from './overlay-words.ts';

/** What has finished, each thing said once and by its name. */
function finishedWords(item: HistoryItem, drawing: Drawing, carry: HistoryCarry) {
  const laid = historyLines(item, drawing, carry);
  const own = laid.lines.map(spoken).filter((line) => line !== '');
  switch (item.kind) {
    case 'markdown':
      return { carry: laid.carry, lines: item.place === 'first' ? labelled('Answer', own) : own };
    case 'tools':
      return { carry: laid.carry, lines: item.entries.flatMap((entry) => toolWords(entry, drawing)) };
    case 'failure':
      return { carry: laid.carry, lines: labelled('Error', own) };
    case 'prompt':
      return { carry: laid.carry, lines: [] };
    default:
      return { carry: laid.carry, lines: own };
  }
}

const OUTCOMES: Readonly<Record<ToolEnding['status'], string>> = {
  done: 'finished',
  failed: 'failed',
  denied: 'not allowed',
  interrupted: 'stopped',
  discarded: 'dropped',
};

function toolWords(entry: ToolEntry, drawing: Drawing): readonly string[] {
  if (entry.state.status !== 'ended') return [];
  const { ending } = entry.state;
  const outcome = OUTCOMES[ending.status];
  const took = ending.durationMs >= 1000 ? `, ${formatDuration(ending.durationMs)}` : '';
  const head = `Tool ${titleOf(entry, drawing)}: ${outcome}${took}`;
  const laid = historyLines({ kind: 'tools', entries: [entry] }, drawing, { code: '', last: undefined });
  // The first of its lines is the head, in signs.
  return [
    head,
    ...laid.lines
      .slice(1)
      .map(spoken)
      .filter((line) => line !== ''),
  ];
}

/** What a change has brought, in lines: what finished, what began, what is asked, what has opened. */
export function changeWords(
  before: ViewState,
  now: ViewState,
  drawing: Drawing,
  carry: HistoryCarry,
): {
  readonly lines: readonly string[];
  readonly view: ViewState;
  readonly carry: HistoryCarry;
  readonly asksAnew: boolean;
} {
  const lines: string[] = [];
  let last = carry;
  for (const item of waitingItems(now.outbox)) {
    const finished = finishedWords(item, drawing, last);
    last = finished.carry;
    lines.push(...finished.lines);
  }
  const printed = { ...now, outbox: undefined };
  lines.push(...begunWords(before, printed, drawing));
  const isOther = now.asks[0]?.id !== before.asks[0]?.id || stepOf(now) !== stepOf(before);
  const asksAnew = now.asks.length > 0 && isOther;
  if (asksAnew) lines.push(...askWords(printed, drawing));
  if (now.overlay === before.overlay || isSamePanel(before.overlay, now.overlay))
    return { lines, view: printed, carry: last, asksAnew };
  const opened = overlayWords(printed, drawing);
  return { lines: [...lines, ...opened.lines], view: opened.view, carry: last, asksAnew };
}

/** Where a dialog of several parts stands. */
function stepOf({ attention }: ViewState): string {
  return attention.stage === 'open' ? `${attention.form.question} ${attention.form.writing}` : '0 nothing';
}

/** What has begun since: calls, waits, work on the conversation itself. */
function begunWords(before: ViewState, view: ViewState, drawing: Drawing): readonly string[] {
  const known = new Set(running(before).map(({ callId }) => callId));
  // What is asked about has not begun.
  const asked = new Set(view.asks.map(callIdOf));
  const calls = running(view)
    .filter(({ callId }) => !known.has(callId) && !asked.has(callId))
    .map((entry) => `Tool ${titleOf(entry, drawing)}: begins`);
  const { retry } = view;
  const waits =
    retry === undefined || retry.attempt === before.retry?.attempt
      ? []
      : [`Trying again: ${causeOf(retry.failure)}, attempt ${retry.attempt + 1} of ${retry.limit + 1}`];
  const recovers = view.recovery !== undefined && before.recovery === undefined ? [view.recovery.cause] : [];
  return [...calls, ...waits, ...recovers.map(sanitizeScreen)];
}

function running({ pieces }: ViewState): readonly ToolEntry[] {
  return pieces.flatMap((piece) =>
    piece.kind === 'tool' && piece.entry.state.status === 'running' ? [piece.entry] : [],
  );
}

/** What is asked, with its answers by number. */
export function askWords(view: ViewState, drawing: Drawing): readonly string[] {
  const ask = view.asks[0];
  if (ask === undefined) return [];
  const armed = armedFor(view);
  const body = bodyOf(ask, armed, drawing);
  const more = view.asks.length > 1 ? `, 1 of ${view.asks.length}` : '';
  return [
    `Question${more}: ${askTitle(ask, drawing)}`,
    ...[body.warnings, body.subject, body.said, body.risks, body.details].flat().map(spoken),
    ...numberedOptions(ask, armed).map(
      ({ label, about = '', note = '' }, at) =>
        `${at + 1}: ${printableName([label, about, note].filter(Boolean).join(' '))}`,
    ),
    'Type a number and press enter. A question mark says it again.',
  ].filter((line) => line.trim() !== '');
}

/** The ways to answer that need no screen. */
export function numberedOptions(ask: Ask, { form }: OpenDialog): readonly DialogOption[] {
  return dialogOptions(ask, form).filter(({ act }) => act.type !== 'view');
}

/** The dialog as it hears keys here: a number that was typed and sent is meant. */
export function armedFor({ attention, editor }: ViewState): OpenDialog {
  const open = attention.stage === 'open' ? attention : openDialog(0);
  return { ...open, shownAtMs: 0, armedAtMs: 0, isHearing: true, over: editor.text, selected: undefined };
}

function titleOf(entry: ToolEntry, { cwd }: Drawing): string {
  return (
    toolTitle(entry, cwd)
      .map(({ text }) => text)
      .join('')
      .trim()
      // A sign says nothing to who listens.
      .replace(/^\$(?= )/, entry.tool)
  );
}

function spoken(line: LogicalLine): string {
  return `${line.label?.text ?? ''}${lineText(line)}`.trimEnd();
}

function labelled(label: string, lines: readonly string[]): readonly string[] {
  const [first, ...rest] = lines;
  return first === undefined ? [] : [`${label}: ${first}`, ...rest];
}
