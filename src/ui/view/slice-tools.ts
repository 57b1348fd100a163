import type { AgentEvent } from '../../contracts/event.ts';
import type { ToolResultBlock } from '../../contracts/message.ts';
import { callIdOf } from './ask.ts';
import { settleAnswer } from './slice-answer.ts';
import type { ToolEntry } from './tool-entry.ts';
import type { ViewState } from './view-state.ts';

type ToolStart = Extract<AgentEvent, { type: 'tool_start' }>;
type ToolEnd = Extract<AgentEvent, { type: 'tool_end' }>;
type ToolUpdate = Extract<AgentEvent, { type: 'tool_update' }>;

/** A call appears, behind what came before it. */
export function startTool(
  view: ViewState,
  { callId, tool, title, input, messageId }: ToolStart,
  nowMs: number,
): ViewState {
  // What is asked about a call may be told before the call itself.
  const isAsked = view.asks.some((ask) => callIdOf(ask) === callId);
  const state: ToolEntry['state'] = { status: isAsked ? 'waiting' : 'running' };
  const entry: ToolEntry = {
    callId,
    tool,
    title,
    by: messageId === '' ? 'person' : 'model',
    input,
    startedAtMs: nowMs,
    state,
  };
  return { ...view, pieces: [...view.pieces, { kind: 'tool', entry }] };
}

/** Only the newest progress counts. */
export function updateTool(view: ViewState, { callId, progress }: ToolUpdate): ViewState {
  return changeTool(view, callId, (entry) => ({ ...entry, progress }));
}

/** A call waits for the person, or goes on after the answer. */
export function markTool(view: ViewState, callId: string, status: 'running' | 'waiting', nowMs: number): ViewState {
  return changeTool(view, callId, (entry) =>
    entry.state.status === 'ended' ? entry : { ...entry, startedAtMs: nowMs, state: { status } },
  );
}

/** The gate's last step says whose word it was. */
const PERSONS_NO = 'The answer was no: ';

/** Keeps which calls the person has refused; what is denied otherwise is a rule's doing. */
export function noteRefusal(
  view: ViewState,
  { callId, verdict, trace }: Extract<AgentEvent, { type: 'permission_decision' }>,
): ViewState {
  const isPersons = verdict === 'deny' && JSON.stringify(trace).includes(PERSONS_NO);
  return isPersons ? { ...view, refused: [...view.refused, callId] } : view;
}

/** A call is over. */
export function endTool(view: ViewState, event: ToolEnd, nowMs: number): ViewState {
  const { callId, status, display, result } = event;
  return settleAnswer(
    changeTool(view, callId, (entry) => {
      // The time a person took to answer is not the call's.
      const durationMs = Math.min(event.durationMs, nowMs - entry.startedAtMs);
      const ending = {
        ...{ status, durationMs, text: textOf(result) },
        ...(display === undefined ? {} : { display }),
        ...(view.refused.includes(callId) ? { refusedBy: 'person' as const } : {}),
      };
      return { ...entry, state: { status: 'ended', ending } };
    }),
  );
}

/** Calls that never got an end: the turn is over, and so are they. */
export function endAllTools(view: ViewState, nowMs: number): ViewState {
  const pieces = view.pieces.map((piece) => {
    if (piece.kind !== 'tool' || piece.entry.state.status === 'ended') return piece;
    const durationMs = nowMs - piece.entry.startedAtMs;
    const ending = { status: 'interrupted' as const, durationMs, text: '' };
    return { kind: 'tool' as const, entry: { ...piece.entry, state: { status: 'ended' as const, ending } } };
  });
  return settleAnswer({ ...view, pieces });
}

function changeTool(view: ViewState, callId: string, change: (entry: ToolEntry) => ToolEntry): ViewState {
  const pieces = view.pieces.map((piece) =>
    piece.kind === 'tool' && piece.entry.callId === callId ? { ...piece, entry: change(piece.entry) } : piece,
  );
  return { ...view, pieces };
}

function textOf({ content }: ToolResultBlock): string {
  if (typeof content === 'string') return content;
  return content.map((block) => (block.type === 'text' ? block.text : `[${block.type}]`)).join('\n');
}
