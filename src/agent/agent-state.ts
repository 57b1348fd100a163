import type { QueueMode } from '../contracts/agent.ts';
import type { AgentEvent, AgentStatus, QueuedMessage } from '../contracts/event.ts';
import type { Message, UserMessage } from '../contracts/message.ts';
import type { PermissionRequest } from '../contracts/permission.ts';
import { NOTHING_STRIPPED, type Stripped } from '../contracts/query.ts';
import { statusAfter } from '../contracts/status-after.ts';
import type { UserQuestion } from '../contracts/tool.ts';
import { STOPPED_COMPACTION } from '../engine/transitions/auto-compact.ts';
import { type Activity, QUIET, reduceActivity } from './activity.ts';

/** `next` goes in after the current turn, `after` when the agent would stop. */
export type Lane = QueuedMessage['lane'];

export type PendingQuestion = { readonly id: string; readonly callId: string; readonly question: UserQuestion };

/** Everything an agent is at one moment. Only the functions of this file make a new one. */
export type AgentValue = {
  readonly messages: readonly Message[];
  readonly status: AgentStatus;
  readonly activity: Activity;
  readonly stripped: Stripped;
  /** In a row, until one succeeds or the person makes room. */
  readonly failedCompactions: number;
  readonly queue: readonly QueuedMessage[];
  readonly queueModes: Readonly<Record<Lane, QueueMode>>;
  /** Ids of queued messages that the prompt hook has seen and let through. */
  readonly admitted: ReadonlySet<string>;
  /** Messages that came during a query. They join behind it: nothing may stand between calls and their results. */
  readonly late: readonly Message[];
  readonly permissions: readonly PermissionRequest[];
  readonly questions: readonly PendingQuestion[];
  /** What has the conversation to itself, and how it is stopped. Only one thing at a time. */
  readonly work: { readonly kind: 'query' | 'between'; readonly controller: AbortController } | undefined;
};

/** The one holder of the state. The parts of the agent read it, change it, and tell everybody what happened. */
export type AgentStore = {
  readonly now: () => AgentValue;
  readonly change: (next: AgentValue) => void;
  /** Applies the event to the state at once; resolves when every listener has handled it. */
  readonly tell: (event: AgentEvent) => Promise<void>;
};

export function initialAgent(messages: readonly Message[], queue: readonly QueuedMessage[] = []): AgentValue {
  return {
    messages: [...messages],
    status: 'idle',
    activity: QUIET,
    stripped: NOTHING_STRIPPED,
    failedCompactions: 0,
    queue,
    queueModes: { next: 'one-at-a-time', after: 'one-at-a-time' },
    admitted: new Set(),
    late: [],
    permissions: [],
    questions: [],
    work: undefined,
  };
}

/** The agent after an event. Pure: the same events always make the same agent. */
export function reduceAgent(before: AgentValue, event: AgentEvent): AgentValue {
  const { status, activity } = before;
  const state = { ...before, status: statusAfter(status, event), activity: reduceActivity(activity, event) };
  switch (event.type) {
    case 'message_end':
      return { ...state, messages: [...state.messages, event.message] };
    case 'compacted':
      return {
        ...state,
        messages: event.messages,
        ...(event.boundary.trigger === 'manual' ? { failedCompactions: 0 } : {}),
      };
    case 'tombstone':
      return { ...state, messages: without(state.messages, event.messageId) };
    case 'recovery_end':
      return {
        ...state,
        stripped: strippedAfter(state.stripped, event),
        failedCompactions: failedAfter(state.failedCompactions, event),
      };
    case 'queue': {
      const queue = without(state.queue, event.item.id);
      return { ...state, queue: event.state === 'queued' ? [...queue, event.item] : queue };
    }
    case 'permission_request':
      return { ...state, permissions: [...state.permissions, event.request] };
    case 'permission_answer':
      return { ...state, permissions: without(state.permissions, event.requestId) };
    case 'question': {
      const { id, callId, question } = event;
      return { ...state, questions: [...state.questions, { id, callId, question }] };
    }
    case 'question_answer':
      return { ...state, questions: without(state.questions, event.id) };
    default:
      return state;
  }
}

/**
 * A part the API refused once is left out for the rest of the conversation.
 * @internal Exported for tests.
 */
export function strippedAfter(stripped: Stripped, event: AgentEvent): Stripped {
  if (event.type !== 'recovery_end' || event.recovery !== 'healed') return stripped;
  return {
    thinking: stripped.thinking || event.detail === 'thinking',
    images: event.until ?? stripped.images,
    refused: [...stripped.refused, ...(event.refused ?? [])],
  };
}

/** A compaction that was stopped is none; one that made room, however it was asked for, ends the row. */
function failedAfter(
  failed: number,
  { recovery, outcome, detail }: Extract<AgentEvent, { type: 'recovery_end' }>,
): number {
  if (recovery === 'reactive_compact_retry') return outcome === 'recovered' ? 0 : failed;
  if (recovery !== 'auto_compact' || detail === STOPPED_COMPACTION) return failed;
  return outcome === 'recovered' ? 0 : failed + 1;
}

/** From the first word of a query to its `agent_end`; while listeners still hear of the end, nothing runs any more. */
export function isRunning({ work, status }: AgentValue): boolean {
  return work !== undefined && status !== 'idle';
}

/** The next message of a lane, or all of them by its mode; only those that pass `mayGo`. */
export function takeQueued(
  state: AgentValue,
  lane: Lane,
  mayGo: (item: QueuedMessage) => boolean = () => true,
): { readonly taken: readonly QueuedMessage[]; readonly state: AgentValue } {
  const inLane = state.queue.filter((item) => item.lane === lane && mayGo(item));
  const taken = state.queueModes[lane] === 'all' ? inLane : inLane.slice(0, 1);
  return { taken, state: { ...state, queue: state.queue.filter((item) => !taken.includes(item)) } };
}

/** The prompt hook has let a queued message through, perhaps with something added. */
export function admitQueued(state: AgentValue, message: UserMessage): AgentValue {
  return {
    ...state,
    admitted: new Set([...state.admitted, message.id]),
    queue: state.queue.map((item) => (item.id === message.id ? { ...item, message } : item)),
  };
}

function without<Item extends { readonly id: string }>(items: readonly Item[], id: string): readonly Item[] {
  return items.filter((item) => item.id !== id);
}
