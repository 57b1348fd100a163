import type { AgentEvent } from '../../contracts/event.ts';
import type { FailureKind } from '../../contracts/model.ts';
import { endWords, limitOf, type Terminal } from '../../contracts/terminal.ts';
import { edit } from '../composer/edit.ts';
import { endAllText, printCalls } from './slice-answer.ts';
import { endAllTools } from './slice-tools.ts';
import { IDLE_ACTIVITY, NO_TALLY, printing, returnedDraft, type ViewState } from './view-state.ts';

type RunEnd = Extract<AgentEvent, { type: 'agent_end' }>;

/** The run is over: what still ran with it is too, and one line says what it came to. */
export function endRun(view: ViewState, { terminal, durationMs }: RunEnd, nowMs: number): ViewState {
  const settled = printCalls(endAllTools(endAllText(view), nowMs));
  const quiet: ViewState = {
    ...settled,
    activity: IDLE_ACTIVITY,
    retry: undefined,
    recovery: undefined,
    ...asksAtEnd(settled),
  };
  switch (terminal.reason) {
    case 'completed':
    case 'structured_output_failed':
      return withEndLine(todosAtEnd(quiet), durationMs, nowMs);
    case 'aborted_streaming':
    case 'aborted_tools':
      return printing(
        { ...quiet, rest: 'stopped' },
        { kind: 'stopped', hint: 'Stopped. Say what to do instead, or press enter to go on.' },
      );
    default:
      if (terminal.failure !== undefined) return failed(quiet, terminal);
      return printing(quiet, {
        kind: 'notice',
        level: 'warn',
        text: endWords(terminal),
      });
  }
}

/** What sub-agents in the background ask goes on being asked; everything else has its answer. */
function asksAtEnd(view: ViewState): Pick<ViewState, 'asks' | 'editor' | 'attention'> {
  const lasts = view.asks.every((ask) => ask.kind === 'permission' && ask.request.agentId !== undefined);
  const { asks, editor, attention } = view;
  if (lasts && asks.length > 0) return { asks, editor, attention };
  return { asks: [], editor: returnedDraft(view), attention: { stage: 'none' } };
}

/** A turn that has done something says so when it is over. */
function withEndLine(view: ViewState, durationMs: number, atMs: number): ViewState {
  const { tally, facts } = view;
  if (tally.calls === 0) return view;
  const costUsd = Math.max(0, facts.costUsd - tally.costAtStartUsd);
  return printing({ ...view, tally: NO_TALLY }, { kind: 'ended', tally, durationMs, costUsd, atMs });
}

const RETURNING: ReadonlySet<FailureKind> = new Set<FailureKind>(['auth', 'invalid', 'not_found', 'network']);

const BROKEN: ReadonlySet<FailureKind> = new Set<FailureKind>(['cut', 'stalled']);

/** What was refused outright comes back into an empty composer, to be sent again by hand. */
function failed(view: ViewState, terminal: Terminal): ViewState {
  const { failure } = terminal;
  if (failure === undefined) return view;
  // The conversation ends with an open word: enter asks once more.
  if (BROKEN.has(failure.kind)) return printing({ ...view, rest: 'stopped' }, { kind: 'failure', failure });
  if (limitOf(terminal) !== undefined)
    return printing({ ...view, rest: 'limited' }, { kind: 'failure', failure, words: 'waits' });
  if (!RETURNING.has(failure.kind)) return printing(view, { kind: 'failure', failure });
  if (view.editor.text !== '') return printing(view, { kind: 'failure', failure, words: 'kept' });
  const printed = printing(view, { kind: 'failure', failure, words: 'returned' });
  return { ...printed, rest: 'failed', editor: edit(printed.editor, { type: 'set-text', text: view.lastPrompt }, 0) };
}

/** A finished list is printed once; an open one stays in sight. */
function todosAtEnd(view: ViewState): ViewState {
  const isDone = view.todos.length > 0 && view.todos.every(({ status }) => status === 'completed');
  return isDone ? printing({ ...view, todos: [] }, { kind: 'todos', todos: view.todos }) : view;
}
