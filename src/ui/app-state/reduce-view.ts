import { type AgentEvent, reduceAgentStatus } from '../../contracts/event.ts';
import { isTypedByUser, type Message } from '../../contracts/message.ts';
import type { TerminalReason } from '../../contracts/terminal-reason.ts';
import type { DialogRequest } from '../widgets/permission-dialog/dialog-state.ts';
import { addDialogRequest, removeDialogRequest, toDialogRequest } from '../widgets/permission-dialog/reduce-dialog.ts';
import {
  addLiveCall,
  appendStreamedText,
  dropRetractedMessage,
  endAllStreamedText,
  endLiveCall,
  endStreamedBlock,
  flushFinishedPieces,
  updateLiveCall,
} from './live-pieces.ts';
import { getUserMessageText } from './message-text.ts';
import { showRunEnd } from './show-run-end.ts';
import { addHistoryItems, EMPTY_RUN_TALLY, IDLE_ACTIVITY, type LiveActivity, type ViewState } from './view-state.ts';

/** Topics of notices that announce the end of a run. They are skipped here: the end of the run says more. */
const END_TOPICS: ReadonlySet<string> = new Set<TerminalReason>([
  'api_error',
  'model_error',
  'prompt_too_long',
  'image_error',
  'max_output_tokens',
  'refusal',
]);

/** Reduces an event of the agent into the view state. Pure: the same events always produce the same view. */
export function reduceView(view: ViewState, event: AgentEvent, nowMs: number): ViewState {
  const active = { ...view, activity: reduceActivity(view.activity, event, nowMs) };
  const next = applyEvent(reduceThinking(active, event, nowMs), event, nowMs);
  return applyWaitingStatus(next, nowMs);
}

/** Sets the status to waiting while a request is open, whatever else is running. */
function applyWaitingStatus(view: ViewState, nowMs: number): ViewState {
  const { status } = view.activity;
  const isAsking = view.dialogRequests.length > 0 && !['idle', 'stopping', 'waiting_for_answer'].includes(status);
  return isAsking ? { ...view, activity: { ...view.activity, status: 'waiting_for_answer', sinceMs: nowMs } } : view;
}

function applyEvent(view: ViewState, event: AgentEvent, nowMs: number): ViewState {
  switch (event.type) {
    case 'agent_start':
      return startRun(view);
    case 'message_update':
      return event.kind === 'text'
        ? appendStreamedText({ ...view, retry: undefined }, event)
        : { ...view, retry: undefined };
    case 'block_end':
      return endStreamedBlock(view, event);
    case 'message_end':
      return printUserMessage(view, event.message);
    case 'tool_start':
      return addLiveCall(view, event, nowMs);
    case 'tool_update':
      return updateLiveCall(view, event);
    case 'tool_end':
      return countCall(updateTodos(endLiveCall(view, event, nowMs), event), event);
    case 'permission_request':
    case 'question': {
      const request = toDialogRequest(event);
      return request === undefined ? view : addDialogRequest(printPlan(view, request), request, nowMs);
    }
    case 'permission_answer':
      return removeDialogRequest(view, event.requestId, nowMs);
    case 'question_answer':
      return removeDialogRequest(view, event.id, nowMs);
    case 'queue':
      return updateQueue(view, event);
    case 'retry': {
      const { attempt, limit, failure, delayMs } = event;
      const retry = { attempt, limit, failure, delayMs, dueAtMs: nowMs + delayMs };
      return { ...endAllStreamedText(view), retry };
    }
    case 'request_sent':
      return { ...view, retry: undefined };
    case 'message_start':
      return event.role !== 'assistant' ? view : { ...view, retry: undefined, recovery: undefined };
    case 'recovery_start':
      return { ...view, recovery: { cause: event.cause, sinceMs: nowMs } };
    case 'recovery_end':
      return { ...view, recovery: undefined };
    case 'tombstone':
      return dropRetractedMessage(view, event.messageId);
    case 'compacted':
      // The conversation was cleared, so its tasks are too.
      if (event.messages.length === 1 && event.messages[0]?.role === 'boundary')
        return { ...view, todos: [], facts: { ...view.facts, contextTokens: 0 } };
      return addHistoryItems(
        {
          ...flushFinishedPieces(view),
          recovery: undefined,
          facts: { ...view.facts, contextTokens: event.postTokens },
        },
        { kind: 'compacted', fromTokens: event.boundary.preTokens, toTokens: event.postTokens },
      );
    case 'notice':
      // The end of the run reports this error, with advice.
      if (event.level === 'error' && END_TOPICS.has(event.topic ?? '')) return view;
      return addHistoryItems(flushFinishedPieces(view), { kind: 'notice', level: event.level, text: event.text });
    case 'calls_summary':
      return addHistoryItems(flushFinishedPieces(view), { kind: 'notice', level: 'info', text: event.text });
    case 'mode':
      return changeMode(view, event.mode, nowMs);
    case 'turn_end':
      return endAllStreamedText(view);
    case 'agent_end':
      return showRunEnd(view, event, nowMs);
    case 'subagent':
      return applySubagentEvent(view, event.event, nowMs);
    default:
      return view;
  }
}

function startRun(view: ViewState): ViewState {
  const tally = { ...EMPTY_RUN_TALLY, costAtStartUsd: view.facts.costUsd };
  return { ...view, lastRunEnd: 'ended', retry: undefined, tally };
}

/** Sets the mode and explains it for a moment, even if the status line already shows it: the event comes later. */
function changeMode(view: ViewState, mode: string, nowMs: number): ViewState {
  const text = MODE_HINTS[mode];
  const facts = { ...view.facts, mode };
  if (text === undefined) return { ...view, facts };
  return { ...view, facts, hint: { text, untilMs: nowMs + MODE_HINT_MS } };
}

/** Prints a proposed plan in full; the dialog only asks for the decision. */
function printPlan(view: ViewState, request: DialogRequest): ViewState {
  if (
    request.kind !== 'question' ||
    request.question.kind !== 'plan' ||
    view.dialogRequests.some(({ id }) => id === request.id)
  )
    return view;
  return addHistoryItems(flushFinishedPieces(endAllStreamedText(view)), {
    kind: 'shown',
    markdown: request.question.plan,
  });
}

/** Prints a message of the user when it is part of the conversation. */
function printUserMessage(view: ViewState, message: Message): ViewState {
  if (!isTypedByUser(message)) return view;
  const text = message.command ?? getUserMessageText(message.blocks);
  const shown = message.pinned === true ? `# ${text}` : text;
  return addHistoryItems(
    { ...flushFinishedPieces(endAllStreamedText(view)), lastPrompt: text },
    { kind: 'prompt', text: shown, at: message.at },
  );
}

/** Adds a message to the queue or removes it. */
function updateQueue(view: ViewState, { item, state }: Extract<AgentEvent, { type: 'queue' }>): ViewState {
  const others = view.queue.filter(({ id }) => id !== item.id);
  if (state === 'queued') return { ...view, queue: [...others, item] };
  return others.length === view.queue.length ? view : { ...view, queue: others };
}

function updateTodos(view: ViewState, event: Extract<AgentEvent, { type: 'tool_end' }>): ViewState {
  return event.display?.kind === 'todo' ? { ...view, todos: event.display.todos } : view;
}

/** Handles the requests of a sub-agent like any other. Its other events are shown by its tool call. */
function applySubagentEvent(view: ViewState, event: AgentEvent, nowMs: number): ViewState {
  switch (event.type) {
    case 'permission_request':
    case 'question':
    case 'permission_answer':
    case 'question_answer':
      return applyEvent(view, event, nowMs);
    case 'subagent':
      return applySubagentEvent(view, event.event, nowMs);
    default:
      return view;
  }
}

/** Counts a finished tool call and its changes. */
function countCall(view: ViewState, { display }: Extract<AgentEvent, { type: 'tool_end' }>): ViewState {
  const { tally } = view;
  if (display?.kind === 'todo') return view;
  const calls = tally.calls + 1;
  if (display?.kind !== 'diff') return { ...view, tally: { ...tally, calls } };
  const files = tally.files.includes(display.path) ? tally.files : [...tally.files, display.path];
  const [added, removed] = [tally.added + display.added, tally.removed + display.removed];
  return { ...view, tally: { ...tally, calls, files, added, removed } };
}

const MODE_HINT_MS = 5_000;
/** Short explanations of the permission modes. */
const MODE_HINTS: Readonly<Record<string, string>> = {
  default: 'asks before edits and commands',
  acceptEdits: 'allows edits, asks before other commands',
  plan: 'changes nothing until you accept a plan',
  auto: 'a small model decides, and asks when in doubt',
  dontAsk: 'denies what would need your answer',
  bypassPermissions: 'allows everything without asking',
};

const COUNT_INTERVAL_MS = 1000;

/** Reduces an event into the current activity. */
function reduceActivity(activity: LiveActivity, event: AgentEvent, nowMs: number): LiveActivity {
  if (event.type === 'agent_start') {
    return { ...createActivity(nowMs), hook: activity.hook, status: 'preparing' };
  }
  if (event.type === 'message_update') {
    const outputChars = activity.outputChars + event.delta.length;
    const isDue = nowMs - activity.shownOutput.atMs >= COUNT_INTERVAL_MS;
    const shownOutput = isDue ? { chars: outputChars, atMs: nowMs } : activity.shownOutput;
    return { ...activity, outputChars, shownOutput, lastByteAtMs: nowMs };
  }
  if (event.type === 'agent_end') return activity;
  if (event.type === 'hook') return { ...activity, hook: reduceHook(activity, event, nowMs) };
  const writingTool = event.type === 'block_start' ? event.name : activity.writingTool;
  const status = reduceAgentStatus(activity.status, event);
  if (status === activity.status && writingTool === activity.writingTool) return activity;
  if (status === 'idle') return IDLE_ACTIVITY;
  // Work between two runs has its own start time.
  if (activity.status === 'idle') return { ...createActivity(nowMs), hook: activity.hook, status, writingTool };
  const sinceMs = status === activity.status ? activity.sinceMs : nowMs;
  return { ...activity, status, writingTool, sinceMs, lastByteAtMs: nowMs };
}

function createActivity(nowMs: number): LiveActivity {
  return { ...IDLE_ACTIVITY, sinceMs: nowMs, turnStartedAtMs: nowMs, lastByteAtMs: nowMs };
}

/** Hook events that run in the background. */
const BACKGROUND_EVENTS = ['Notification', 'StopFailure', 'PostCompact', 'SessionEnd'];

function reduceHook(
  { hook, status }: LiveActivity,
  event: Extract<AgentEvent, { type: 'hook' }>,
  nowMs: number,
): LiveActivity['hook'] {
  const id = String(event.detail.hook_id);
  if (event.phase !== 'started') return hook?.id === id ? undefined : hook;
  // While idle nothing waits for hooks, except the first prompt for the SessionStart hooks.
  const isAwaited = status !== 'idle' || event.event === 'SessionStart';
  if (!isAwaited || BACKGROUND_EVENTS.includes(event.event)) return hook;
  const { status_message: message } = event.detail;
  return { id, label: typeof message === 'string' ? message : `${event.event} hook`, sinceMs: nowMs };
}

const TAIL_CHARS = 1_000;
/** Shorter thinking gets no line in the history. */
const MIN_PRINTED_MS = 1_000;

/** Reduces an event into the visible thinking. When it ends, its duration is printed; the transcript has the text. */
function reduceThinking(view: ViewState, event: AgentEvent, nowMs: number): ViewState {
  switch (event.type) {
    case 'block_start':
      return isThinking(event.kind) ? { ...view, thinking: { sinceMs: nowMs, tail: '' } } : view;
    case 'message_update': {
      if (event.kind !== 'thinking') return view;
      const { sinceMs, tail } = view.thinking ?? { sinceMs: nowMs, tail: '' };
      return { ...view, thinking: { sinceMs, tail: (tail + event.delta).slice(-TAIL_CHARS) } };
    }
    case 'block_end':
      return isThinking(event.block.type) ? endThinking(view, nowMs) : view;
    case 'turn_end':
    case 'agent_end':
    case 'tombstone':
      return view.thinking === undefined ? view : { ...view, thinking: undefined };
    default:
      return view;
  }
}

function endThinking({ thinking, ...view }: ViewState, nowMs: number): ViewState {
  const ended: ViewState = { ...view, thinking: undefined };
  if (thinking === undefined || nowMs - thinking.sinceMs < MIN_PRINTED_MS) return ended;
  return addHistoryItems(flushFinishedPieces(ended), { kind: 'thinking', ms: nowMs - thinking.sinceMs });
}

function isThinking(kind: string): boolean {
  return kind === 'thinking' || kind === 'redacted_thinking';
}
