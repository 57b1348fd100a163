import type { AgentEvent } from '../../contracts/event.ts';
import { isTypedByPerson, type Message } from '../../contracts/message.ts';
import type { TerminalReason } from '../../contracts/terminal.ts';
import type { Ask } from './ask.ts';
import { activityAfter } from './slice-activity.ts';
import { dropMessage, endAllText, endBlock, growText, printCalls } from './slice-answer.ts';
import { askOf, closeAsk, openAsk } from './slice-asks.ts';
import { endRun } from './slice-end.ts';
import { thinkingAfter } from './slice-thinking.ts';
import { endTool, noteRefusal, startTool, updateTool } from './slice-tools.ts';
import { typedWords } from './typed-words.ts';
import { NO_TALLY, printing, type ViewState } from './view-state.ts';

/** What ends a run is announced by a notice first, for faces that know no more. */
const ENDINGS: ReadonlySet<string> = new Set<TerminalReason>([
  'api_error',
  'model_error',
  'prompt_too_long',
  'image_error',
  'max_output_tokens',
  'refusal',
]);

/** The screen after something happened. Pure: the same events always make the same screen. */
export function reduceView(view: ViewState, event: AgentEvent, nowMs: number): ViewState {
  const active = { ...view, activity: activityAfter(view.activity, event, nowMs) };
  const next = onEvent(thinkingAfter(active, event, nowMs), event, nowMs);
  return waitingFirst(next, nowMs);
}

/** As long as something is asked, that is what the program does, whatever else goes on. */
function waitingFirst(view: ViewState, nowMs: number): ViewState {
  const { status } = view.activity;
  const isAsking = view.asks.length > 0 && !['idle', 'stopping', 'waiting_for_answer'].includes(status);
  return isAsking ? { ...view, activity: { ...view.activity, status: 'waiting_for_answer', sinceMs: nowMs } } : view;
}

function onEvent(view: ViewState, event: AgentEvent, nowMs: number): ViewState {
  switch (event.type) {
    case 'agent_start':
      return begun(view);
    case 'message_update':
      return event.kind === 'text' ? growText({ ...view, retry: undefined }, event) : { ...view, retry: undefined };
    case 'block_end':
      return endBlock(view, event);
    case 'message_end':
      return onMessage(view, event.message);
    case 'tool_start':
      return startTool(view, event, nowMs);
    case 'tool_update':
      return updateTool(view, event);
    case 'tool_end':
      return counted(onTodos(endTool(view, event, nowMs), event), event);
    case 'permission_decision':
      return noteRefusal(view, event);
    case 'permission_request':
    case 'question': {
      const ask = askOf(event);
      return ask === undefined ? view : openAsk(withPlanPrinted(view, ask), ask, nowMs);
    }
    case 'permission_answer':
      return closeAsk(view, event.requestId, nowMs);
    case 'question_answer':
      return closeAsk(view, event.id, nowMs);
    case 'queue':
      return changeQueue(view, event);
    case 'retry': {
      const { attempt, limit, failure } = event;
      const retry = { attempt, limit, failure, startedAtMs: nowMs, dueAtMs: nowMs + event.delayMs };
      return { ...endAllText(view), retry };
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
      return dropMessage(view, event.messageId);
    case 'compacted':
      // Cleared: what was to be done belongs to the conversation before.
      if (event.messages.length === 1 && event.messages[0]?.role === 'boundary')
        return { ...view, todos: [], facts: { ...view.facts, contextTokens: 0 } };
      return printing(
        { ...printCalls(view), recovery: undefined, facts: { ...view.facts, contextTokens: event.postTokens } },
        { kind: 'made_room', fromTokens: event.boundary.preTokens, toTokens: event.postTokens },
      );
    case 'notice':
      // The end of the run tells it, with what can be done.
      if (event.level === 'error' && ENDINGS.has(event.topic ?? '')) return view;
      return printing(printCalls(view), { kind: 'notice', level: event.level, text: event.text });
    case 'calls_summary':
      return printing(printCalls(view), { kind: 'notice', level: 'info', text: event.text });
    case 'mode':
      return changeMode(view, event.mode, nowMs);
    case 'turn_end':
      return endAllText(view);
    case 'agent_end':
      return endRun(view, event, nowMs);
    case 'subagent':
      return onSubagent(view, event.event, nowMs);
    default:
      return view;
  }
}

function begun(view: ViewState): ViewState {
  const tally = { ...NO_TALLY, costAtStartUsd: view.facts.costUsd };
  return { ...view, rest: 'ended', retry: undefined, refused: [], tally };
}

/** Says for a moment what the new mode means; the chip says for good which one it is. */
function changeMode(view: ViewState, mode: string, nowMs: number): ViewState {
  const text = MODE_WORDS[mode];
  const facts = { ...view.facts, mode };
  if (mode === view.facts.mode || text === undefined) return { ...view, facts };
  return { ...view, facts, hint: { text, untilMs: nowMs + MODE_HINT_MS } };
}

/** A plan is read in full, so it is printed; the dialog only asks about it. */
function withPlanPrinted(view: ViewState, ask: Ask): ViewState {
  if (ask.kind !== 'question' || ask.question.kind !== 'plan' || view.asks.some(({ id }) => id === ask.id)) return view;
  return printing(printCalls(endAllText(view)), { kind: 'shown', markdown: ask.question.plan });
}

/** What a person said joins the history when the conversation has it. */
function onMessage(view: ViewState, message: Message): ViewState {
  if (!isTypedByPerson(message)) return view;
  const text = typedWords(message.blocks);
  return printing({ ...printCalls(endAllText(view)), lastPrompt: text }, { kind: 'prompt', text, at: message.at });
}

/** What waits to be heard, in the order it was said. */
function changeQueue(view: ViewState, { item, state }: Extract<AgentEvent, { type: 'queue' }>): ViewState {
  const others = view.queue.filter(({ id }) => id !== item.id);
  if (state === 'queued') return { ...view, queue: [...others, item] };
  return others.length === view.queue.length ? view : { ...view, queue: others };
}

function onTodos(view: ViewState, event: Extract<AgentEvent, { type: 'tool_end' }>): ViewState {
  return event.display?.kind === 'todo' ? { ...view, todos: event.display.todos } : view;
}

/** Questions of a sub-agent are asked like any other; the rest of it is told by its call. */
function onSubagent(view: ViewState, event: AgentEvent, nowMs: number): ViewState {
  switch (event.type) {
    case 'permission_request':
    case 'question':
    case 'permission_answer':
    case 'question_answer':
      return onEvent(view, event, nowMs);
    case 'subagent':
      return onSubagent(view, event.event, nowMs);
    default:
      return view;
  }
}

/** The call is counted, and what it changed. */
function counted(view: ViewState, { display }: Extract<AgentEvent, { type: 'tool_end' }>): ViewState {
  const { tally } = view;
  if (display?.kind === 'todo') return view;
  const calls = tally.calls + 1;
  if (display?.kind !== 'diff') return { ...view, tally: { ...tally, calls } };
  const files = tally.files.includes(display.path) ? tally.files : [...tally.files, display.path];
  const [added, removed] = [tally.added + display.added, tally.removed + display.removed];
  return { ...view, tally: { ...tally, calls, files, added, removed } };
}

const MODE_HINT_MS = 5_000;
/** What a permission mode means, in a few words. */
const MODE_WORDS: Readonly<Record<string, string>> = {
  default: 'changes and commands are asked about',
  acceptEdits: 'files are changed unasked, commands are asked about',
  plan: 'nothing is changed, a plan is made first',
  dontAsk: 'what would be asked about is refused',
  bypassPermissions: 'everything runs unasked',
};
