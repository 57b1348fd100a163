import type { AgentEvent } from '../../contracts/event.ts';
import type { FailureKind } from '../../contracts/model.ts';
import { describeQueryEnd, getReachedUsageLimit, type Terminal } from '../../contracts/terminal-reason.ts';
import { applyDraftEditorAction } from '../widgets/composer/draft-editor-actions.ts';
import { endAllLiveCalls, endAllStreamedText, flushFinishedPieces } from './live-pieces.ts';
import { addHistoryItems, EMPTY_RUN_TALLY, IDLE_ACTIVITY, restoreUserDraft, type ViewState } from './view-state.ts';

type RunEnd = Extract<AgentEvent, { type: 'agent_end' }>;

/** Ends a run: ends its open text and calls, and prints a line about the result. */
export function showRunEnd(view: ViewState, { terminal, durationMs }: RunEnd, nowMs: number): ViewState {
  const settled = flushFinishedPieces(endAllLiveCalls(endAllStreamedText(view), nowMs));
  const idle: ViewState = {
    ...settled,
    activity: IDLE_ACTIVITY,
    retry: undefined,
    recovery: undefined,
    ...keepBackgroundRequests(settled),
  };
  switch (terminal.reason) {
    case 'completed':
    case 'structured_output_failed':
      return printSummary(printFinishedTodos(idle), durationMs, nowMs);
    case 'aborted_streaming':
    case 'aborted_tools':
      return addHistoryItems(
        { ...idle, lastRunEnd: 'stopped' },
        { kind: 'stopped', hint: 'Stopped. Type what to do instead, or press enter to continue.' },
      );
    default:
      if (terminal.failure !== undefined) return printFailure(idle, terminal);
      return addHistoryItems(idle, {
        kind: 'notice',
        level: 'warn',
        text: describeQueryEnd(terminal),
      });
  }
}

/** Keeps the requests of background sub-agents open; all other requests end with the run. */
function keepBackgroundRequests(view: ViewState): Pick<ViewState, 'dialogRequests' | 'editor' | 'dialog'> {
  const areAllBackground = view.dialogRequests.every(
    (request) => request.kind === 'permission' && request.permission.agentId !== undefined,
  );
  const { dialogRequests, editor, dialog } = view;
  if (areAllBackground && dialogRequests.length > 0) return { dialogRequests, editor, dialog };
  return { dialogRequests: [], editor: restoreUserDraft(view), dialog: { stage: 'none' } };
}

/** Prints a summary of a run that made tool calls. */
function printSummary(view: ViewState, durationMs: number, atMs: number): ViewState {
  const { tally, facts } = view;
  if (tally.calls === 0) return view;
  const costUsd = Math.max(0, facts.costUsd - tally.costAtStartUsd);
  return addHistoryItems({ ...view, tally: EMPTY_RUN_TALLY }, { kind: 'ended', tally, durationMs, costUsd, atMs });
}

const RETURNED_KINDS: ReadonlySet<FailureKind> = new Set<FailureKind>([
  'auth',
  'no_credit',
  'invalid',
  'not_found',
  'network',
]);

const INCOMPLETE_KINDS: ReadonlySet<FailureKind> = new Set<FailureKind>(['cut', 'stalled']);

/** Prints a failure. A message that was rejected returns to an empty composer, to be sent again. */
function printFailure(view: ViewState, terminal: Terminal): ViewState {
  const { failure } = terminal;
  if (failure === undefined) return view;
  // The response is incomplete: enter on an empty draft continues it.
  if (INCOMPLETE_KINDS.has(failure.kind))
    return addHistoryItems({ ...view, lastRunEnd: 'stopped' }, { kind: 'failure', failure });
  if (getReachedUsageLimit(terminal) !== undefined)
    return addHistoryItems(
      { ...view, lastRunEnd: 'limited' },
      { kind: 'failure', failure, messageState: 'waiting_for_reset' },
    );
  if (!RETURNED_KINDS.has(failure.kind)) return addHistoryItems(view, { kind: 'failure', failure });
  if (view.editor.text !== '')
    return addHistoryItems(view, { kind: 'failure', failure, messageState: 'in_conversation' });
  const printed = addHistoryItems(view, { kind: 'failure', failure, messageState: 'in_composer' });
  return {
    ...printed,
    lastRunEnd: 'failed',
    editor: applyDraftEditorAction(printed.editor, { type: 'set-text', text: view.lastPrompt }, 0),
  };
}

/** Prints a completed task list; an unfinished one stays visible. */
function printFinishedTodos(view: ViewState): ViewState {
  const isDone = view.todos.length > 0 && view.todos.every(({ status }) => status === 'completed');
  return isDone ? addHistoryItems({ ...view, todos: [] }, { kind: 'todos', todos: view.todos }) : view;
}
