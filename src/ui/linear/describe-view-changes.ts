import { formatDuration } from '../../lib/text/format.ts';
import { escapeDisplayName, sanitizeForScreen } from '../../lib/text/sanitize.ts';
import { filterPickerChoices, type Overlay } from '../app-state/overlay.ts';
import type { ViewState } from '../app-state/view-state.ts';
import { createStyledLine, getLineText, type LogicalLine } from '../text/line.ts';
import type { RenderContext } from '../text/render-context.ts';
import { describeRunFailure } from '../widgets/history/failure-lines.ts';
import { type HistoryItem, listUnprintedItems } from '../widgets/history/history-item.ts';
import { type HistoryRenderState, renderHistoryItem } from '../widgets/history/history-lines.ts';
import { renderKeyHelp } from '../widgets/menu/key-help.ts';
import { filterPanelRows, type PanelState } from '../widgets/panel/panel-state.ts';
import { createDialogOptions } from '../widgets/permission-dialog/dialog-options.ts';
import {
  createOpenDialogState,
  type DialogOption,
  type DialogRequest,
  getRequestCallId,
  type OpenDialog,
} from '../widgets/permission-dialog/dialog-state.ts';

import { formatDialogTitle as askTitle, createDialogBody } from '../widgets/permission-dialog/layout-dialog.ts';
import { createToolTitle, type EndedCallOutcome, type ToolCallEntry } from '../widgets/tool-calls/tool-entry.ts';

type FinishedText = { readonly carry: HistoryRenderState; readonly lines: readonly string[] };

/** Describes a finished item as text lines. */
function describeFinished(item: HistoryItem, drawing: RenderContext, carry: HistoryRenderState): FinishedText {
  const rendered = renderHistoryItem(item, drawing, carry);
  const lines = rendered.lines.map(toPlainText).filter((line) => line !== '');
  switch (item.kind) {
    case 'markdown':
      return { carry: rendered.state, lines: item.position === 'first' ? addLabel('Answer', lines) : lines };
    case 'tools':
      return { carry: rendered.state, lines: item.entries.flatMap((entry) => describeTool(entry, drawing)) };
    case 'failure':
      return { carry: rendered.state, lines: addLabel('Error', lines) };
    case 'prompt':
      return { carry: rendered.state, lines: [] };
    default:
      return { carry: rendered.state, lines };
  }
}

const STATUS_LABELS: Readonly<Record<EndedCallOutcome['status'], string>> = {
  done: 'finished',
  failed: 'failed',
  denied: 'denied',
  interrupted: 'stopped',
  discarded: 'discarded',
};

function describeTool(entry: ToolCallEntry, drawing: RenderContext): readonly string[] {
  if (entry.state.status !== 'ended') return [];
  const { outcome } = entry.state;
  const status = STATUS_LABELS[outcome.status];
  const duration = outcome.durationMs >= 1000 ? `, ${formatDuration(outcome.durationMs)}` : '';
  const head = `Tool ${formatTitle(entry, drawing)}: ${status}${duration}`;
  const rendered = renderHistoryItem({ kind: 'tools', entries: [entry] }, drawing, {
    openCode: '',
    lastKind: undefined,
  });
  // The first rendered line is the head with symbols, which `head` replaces.
  return [
    head,
    ...rendered.lines
      .slice(1)
      .map(toPlainText)
      .filter((line) => line !== ''),
  ];
}

/** Describes a change of the view as text lines: finished and started work, a new question, an opened overlay. */
export function describeViewChanges(
  before: ViewState,
  now: ViewState,
  drawing: RenderContext,
  carry: HistoryRenderState,
): {
  readonly lines: readonly string[];
  readonly view: ViewState;
  readonly carry: HistoryRenderState;
  readonly hasNewQuestion: boolean;
} {
  const lines: string[] = [];
  let last = carry;
  for (const item of listUnprintedItems(now.outbox)) {
    const finished = describeFinished(item, drawing, last);
    last = finished.carry;
    lines.push(...finished.lines);
  }
  const printed: ViewState = { ...now, outbox: undefined };
  lines.push(...describeStarted(before, printed, drawing));
  const isOtherQuestion =
    now.dialogRequests[0]?.id !== before.dialogRequests[0]?.id || getStep(now) !== getStep(before);
  const hasNewQuestion = now.dialogRequests.length > 0 && isOtherQuestion;
  if (hasNewQuestion) lines.push(...describeOpenQuestion(printed, drawing));
  if (now.overlay === before.overlay || isSamePanel(before.overlay, now.overlay))
    return { lines, view: printed, carry: last, hasNewQuestion };
  const opened = describeOverlay(printed, drawing);
  return { lines: [...lines, ...opened.lines], view: opened.view, carry: last, hasNewQuestion };
}

/** Returns an id for the current step of a dialog. */
function getStep({ dialog }: ViewState): string {
  return dialog.stage === 'open' ? `${dialog.form.partIndex} ${dialog.form.typing}` : '0 nothing';
}

/** Describes what has started since: tool calls, retries, recoveries. */
function describeStarted(before: ViewState, view: ViewState, drawing: RenderContext): readonly string[] {
  const known = new Set(getRunningTools(before).map(({ callId }) => callId));
  // A call with an open permission question has not started.
  const asked = new Set(view.dialogRequests.map(getRequestCallId));
  const calls = getRunningTools(view)
    .filter(({ callId }) => !known.has(callId) && !asked.has(callId))
    .map((entry) => `Tool ${formatTitle(entry, drawing)}: started`);
  const { retry } = view;
  const retries =
    retry === undefined || retry.attempt === before.retry?.attempt
      ? []
      : [`Retrying: ${describeRunFailure(retry.failure)}, attempt ${retry.attempt + 1} of ${retry.limit + 1}`];
  const recoveries = view.recovery !== undefined && before.recovery === undefined ? [view.recovery.cause] : [];
  return [...calls, ...retries, ...recoveries.map(sanitizeForScreen)];
}

function getRunningTools({ pieces }: ViewState): readonly ToolCallEntry[] {
  return pieces.flatMap((piece) =>
    piece.kind === 'tool' && piece.entry.state.status === 'running' ? [piece.entry] : [],
  );
}

/** Describes the open question, with its answers and their keys. */
export function describeOpenQuestion(view: ViewState, drawing: RenderContext): readonly string[] {
  const ask = view.dialogRequests[0];
  if (ask === undefined) return [];
  const dialog = createReadyDialog(view);
  const body = createDialogBody(ask, dialog, drawing);
  const more = view.dialogRequests.length > 1 ? `, 1 of ${view.dialogRequests.length}` : '';
  return [
    `Question${more}: ${askTitle(ask, drawing)}`,
    ...[createStyledLine(...body.headline), ...body.warnings, ...body.subject].map(toPlainText),
    ...[...body.description, ...body.risks, ...body.details].map(toPlainText),
    ...listLinearAnswers(ask, dialog).map(describeAnswer),
    'Type a number or a letter and press enter. Type ? to repeat the question.',
  ].filter((line) => line.trim() !== '');
}

/** Lists the answers that need no screen. */
export function listLinearAnswers(ask: DialogRequest, { form }: OpenDialog): readonly DialogOption[] {
  return createDialogOptions(ask, form).filter(({ action }) => action.type !== 'view');
}

function describeAnswer({ key, digit, label, subject = '', labelEnd = '', note = '' }: DialogOption): string {
  const end = note === '' || note.startsWith('(') ? note : `- ${note}`;
  const text = [label, subject, labelEnd, end].filter(Boolean).join(' ');
  return `${digit === undefined ? key : `${digit} or ${key}`}: ${escapeDisplayName(text)}`;
}

/** Returns the dialog ready for an answer: a number that was typed and sent needs no delay. */
export function createReadyDialog({ dialog, editor }: ViewState): OpenDialog {
  const open = dialog.stage === 'open' ? dialog : createOpenDialogState(0);
  return { ...open, shownAtMs: 0, armedAtMs: 0, isReady: true, draftText: editor.text, selected: undefined };
}

function formatTitle(entry: ToolCallEntry, { cwd }: RenderContext): string {
  return (
    createToolTitle(entry, cwd)
      .map(({ text }) => text)
      .join('')
      .trim()
      // A screen reader needs the name of the tool in place of the symbol.
      .replace(/^\$(?= )/, entry.tool)
  );
}

function toPlainText(line: LogicalLine): string {
  return `${line.label?.text ?? ''}${getLineText(line)}`.trimEnd();
}

function addLabel(label: string, lines: readonly string[]): readonly string[] {
  const [first, ...rest] = lines;
  return first === undefined ? [] : [`${label}: ${first}`, ...rest];
}

const UNLIMITED_ROWS = 500;

/** Reports whether a panel was only refreshed, so that it need not be read out again. */
function isSamePanel(before: Overlay | undefined, now: Overlay | undefined): boolean {
  if (before?.kind !== 'panel' || now?.kind !== 'panel') return false;
  return before.panel.command === now.panel.command && before.mode === now.mode && now.message === undefined;
}

/** Describes an opened overlay as text lines. Overlays that only show something are closed at once. */
function describeOverlay(
  view: ViewState,
  drawing: RenderContext,
): { readonly lines: readonly string[]; readonly view: ViewState } {
  const { overlay } = view;
  const closed: ViewState = { ...view, overlay: undefined };
  switch (overlay?.kind) {
    case 'picker': {
      const choices = filterPickerChoices(overlay).map(
        ({ label, detail }, at) =>
          `${at + 1}: ${escapeDisplayName(label)}${detail === '' ? '' : `, ${escapeDisplayName(detail)}`}`,
      );
      return {
        lines: [`${overlay.title}:`, ...choices, 'Type a number and press enter; enter alone cancels.'],
        view,
      };
    }
    case 'panel':
      // After an action, its outcome is printed separately.
      return overlay.message === undefined ? { lines: describePanel(overlay), view } : { lines: [], view: closed };
    case 'help': {
      const keys = renderKeyHelp(view, { ...drawing, width: 20 }, UNLIMITED_ROWS).slice(0, -1);
      return { lines: [...keys.map(getLineText), 'Commands start with a slash, for example /model.'], view: closed };
    }
    case 'viewer':
      return { lines: [overlay.viewer.title, ...overlay.viewer.rows.map(({ text }) => text)], view: closed };
    case 'sessions':
      return {
        lines: ['To resume one of these sessions, run ouro --resume with a part of its title:'].concat(
          overlay.choices.map(({ label, detail }) => `${escapeDisplayName(label)}, ${escapeDisplayName(detail)}`),
        ),
        view: closed,
      };
    default:
      return { lines: [], view };
  }
}

/** Describes a panel: its numbered rows, or the input or confirmation it waits for. */
function describePanel(view: PanelState): readonly string[] {
  const { panel, mode } = view;
  if (mode.type === 'sure')
    return [`This ${mode.action.confirmLabel ?? ''}. Type yes and press enter; anything else cancels.`];
  if (mode.type === 'writing')
    return [`${mode.action.label}: ${mode.editor.text}`, 'Type the new text and press enter; enter alone cancels.'];
  const rows = filterPanelRows(view).map(({ cells, mark, detail }, at) => {
    const text = [...cells.filter((cell) => cell !== ''), ...detail.filter((line) => !cells.includes(line))]
      .map(escapeDisplayName)
      .join(', ');
    return `${at + 1}: ${text}${mark === 'current' ? ', current' : ''}`;
  });
  const head = panel.note === undefined ? `${panel.title}:` : `${panel.title}, ${escapeDisplayName(panel.note)}:`;
  const more = panel.actions.map(({ command, label }) => `/${command} … ${label}.`);
  const keys = 'Type a number and press enter to change or view a row; enter alone closes.';
  return [head, ...(rows.length === 0 ? [panel.empty] : rows), ...more, keys];
}
