import type { QueueMode, RunningCall } from '../contracts/agent.ts';
import { type AgentEvent, type AgentStatus, type QueuedMessage, reduceAgentStatus } from '../contracts/event.ts';
import type { AssistantBlock, AssistantMessage, Message, UserMessage } from '../contracts/message.ts';
import type { PermissionRequest } from '../contracts/permission.ts';
import { type ExcludedContent, NO_EXCLUDED_CONTENT } from '../contracts/query.ts';
import type { Terminal } from '../contracts/terminal-reason.ts';
import type { UserQuestion } from '../contracts/tool.ts';
import { ABORTED_COMPACTION_DETAIL } from '../engine/phases/prepare-context.ts';

/** The kind of a queue: `next` is delivered after the current turn, `after` when the agent would stop. */
export type MessageQueueKind = QueuedMessage['lane'];

/** A question of a tool that waits for its answer. */
type PendingQuestion = { readonly id: string; readonly callId: string; readonly question: UserQuestion };

/** The state of an agent. Only the functions of this file create a new one. */
export type AgentStoreState = {
  readonly messages: readonly Message[];
  readonly status: AgentStatus;
  readonly activity: AgentActivity;
  readonly excluded: ExcludedContent;
  /** Consecutive failed compactions, until one succeeds or the user compacts manually. */
  readonly failedCompactions: number;
  readonly queue: readonly QueuedMessage[];
  readonly queueModes: Readonly<Record<MessageQueueKind, QueueMode>>;
  /** Ids of queued messages that the prompt hook has admitted. */
  readonly admitted: ReadonlySet<string>;
  /** Messages that arrived during a query. They join after it: nothing may come between calls and their results. */
  readonly lateMessages: readonly Message[];
  readonly permissions: readonly PermissionRequest[];
  readonly questions: readonly PendingQuestion[];
  /** The holder of the run lock, with its abort controller. */
  readonly work: { readonly kind: 'query' | 'between'; readonly controller: AbortController } | undefined;
};

/** The store of the agent state, shared by the parts of the agent. */
export type AgentStore = {
  readonly current: () => AgentStoreState;
  readonly update: (next: AgentStoreState) => void;
  /** Applies the event to the state at once. Resolves when every listener has handled it. */
  readonly emit: (event: AgentEvent) => Promise<void>;
};

/** Creates the state of an idle agent with its messages and its queue. */
export function createAgentState(messages: readonly Message[], queue: readonly QueuedMessage[] = []): AgentStoreState {
  return {
    messages: [...messages],
    status: 'idle',
    activity: NO_ACTIVITY,
    excluded: NO_EXCLUDED_CONTENT,
    failedCompactions: 0,
    queue,
    queueModes: { next: 'one-at-a-time', after: 'one-at-a-time' },
    admitted: new Set(),
    lateMessages: [],
    permissions: [],
    questions: [],
    work: undefined,
  };
}

/** Computes the state after an event. */
export function reduceAgentState(before: AgentStoreState, event: AgentEvent): AgentStoreState {
  const { status, activity } = before;
  const state = { ...before, status: reduceAgentStatus(status, event), activity: reduceActivity(activity, event) };
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
      return { ...state, messages: removeById(state.messages, event.messageId) };
    case 'recovery_end':
      return {
        ...state,
        excluded: addExcludedContent(state.excluded, event),
        failedCompactions: countFailedCompactions(state.failedCompactions, event),
      };
    case 'queue': {
      const queue = removeById(state.queue, event.item.id);
      return { ...state, queue: event.state === 'queued' ? [...queue, event.item] : queue };
    }
    case 'permission_request':
      return { ...state, permissions: [...state.permissions, event.request] };
    case 'permission_answer':
      return { ...state, permissions: removeById(state.permissions, event.requestId) };
    case 'question': {
      const { id, callId, question } = event;
      return { ...state, questions: [...state.questions, { id, callId, question }] };
    }
    case 'question_answer':
      return { ...state, questions: removeById(state.questions, event.id) };
    default:
      return state;
  }
}

/** Adds content that the API refused; it stays excluded for the rest of the conversation. @internal */
export function addExcludedContent(stripped: ExcludedContent, event: AgentEvent): ExcludedContent {
  if (event.type !== 'recovery_end' || event.recovery !== 'healed') return stripped;
  return {
    thinking: stripped.thinking || event.detail === 'thinking',
    images: event.until ?? stripped.images,
    refused: [...stripped.refused, ...(event.refused ?? [])],
  };
}

/** Counts consecutive failures. An aborted compaction is ignored; a successful one of any kind resets the count. */
function countFailedCompactions(
  failed: number,
  { recovery, outcome, detail }: Extract<AgentEvent, { type: 'recovery_end' }>,
): number {
  if (recovery === 'reactive_compact_retry') return outcome === 'recovered' ? 0 : failed;
  if (recovery !== 'auto_compact' || detail === ABORTED_COMPACTION_DETAIL) return failed;
  return outcome === 'recovered' ? 0 : failed + 1;
}

/** Returns whether work is running: from its start to `agent_end`, not while listeners handle the end. */
export function isAgentRunning({ work, status }: AgentStoreState): boolean {
  return work !== undefined && status !== 'idle';
}

/** Takes the next message of a queue, or all of them, by its mode; only messages that pass `canDeliver`. */
export function takeQueuedMessages(
  state: AgentStoreState,
  lane: MessageQueueKind,
  canDeliver: (item: QueuedMessage) => boolean = () => true,
): { readonly taken: readonly QueuedMessage[]; readonly state: AgentStoreState } {
  const inLane = state.queue.filter((item) => item.lane === lane && canDeliver(item));
  const taken = state.queueModes[lane] === 'all' ? inLane : inLane.slice(0, 1);
  return { taken, state: { ...state, queue: state.queue.filter((item) => !taken.includes(item)) } };
}

/** Marks a queued message as admitted by the prompt hook, and replaces it with the hook's version. */
export function admitQueuedMessage(state: AgentStoreState, message: UserMessage): AgentStoreState {
  return {
    ...state,
    admitted: new Set([...state.admitted, message.id]),
    queue: state.queue.map((item) => (item.id === message.id ? { ...item, message } : item)),
  };
}

function removeById<Item extends { readonly id: string }>(items: readonly Item[], id: string): readonly Item[] {
  return items.filter((item) => item.id !== id);
}

/** The activity of an agent at one moment, so that a late subscriber can display it. */
type AgentActivity = {
  /** The reply that is streaming, as far as it has arrived. */
  readonly partial: PartialReply | undefined;
  readonly running: readonly RunningCall[];
  /** End of the last run, if it did not complete. */
  readonly lastError: Terminal | undefined;
};

/** A reply that is streaming. Its blocks change in place, so it is copied before it is passed on. */
type PartialReply = AssistantMessage & { readonly blocks: AssistantBlock[] };

/** Copies a reply that is streaming. */
export function copyPartialReply(partial: AssistantMessage | undefined): PartialReply | undefined {
  return partial && { ...partial, blocks: [...partial.blocks] };
}

const NO_ACTIVITY: AgentActivity = { partial: undefined, running: [], lastError: undefined };

/** Computes the activity after an event. */
function reduceActivity(before: AgentActivity, event: AgentEvent): AgentActivity {
  switch (event.type) {
    case 'agent_start':
      return NO_ACTIVITY;
    case 'message_start': {
      if (event.role !== 'assistant') return before;
      const { messageId: id, model, usage } = event;
      return { ...before, partial: { role: 'assistant', id, model, blocks: [], usage } };
    }
    case 'block_start':
      return setBlock(before, event.messageId, event.index, createEmptyBlock(event.kind, event.name));
    case 'message_update': {
      const block = before.partial?.blocks[event.index];
      if (block === undefined) return before;
      return setBlock(before, event.messageId, event.index, appendDelta(block, event.delta));
    }
    case 'block_end':
      return setBlock(before, event.messageId, event.index, event.block);
    case 'message_end':
      return event.message.id === before.partial?.id ? { ...before, partial: undefined } : before;
    case 'tombstone':
      return event.messageId === before.partial?.id ? { ...before, partial: undefined } : before;
    case 'tool_start': {
      const { callId, tool, title, input } = event;
      return { ...before, running: [...before.running, { callId, tool, title, input, progress: undefined }] };
    }
    case 'tool_update': {
      const { callId, progress } = event;
      const running = before.running.map((call) => (call.callId === callId ? { ...call, progress } : call));
      return { ...before, running };
    }
    case 'tool_end':
      return { ...before, running: before.running.filter(({ callId }) => callId !== event.callId) };
    case 'agent_end':
      return { ...NO_ACTIVITY, lastError: event.terminal.reason === 'completed' ? undefined : event.terminal };
    default:
      return before;
  }
}

/** Sets the block at its index, in place; skipped indices get empty blocks. */
function setBlock(before: AgentActivity, messageId: string, index: number, block: AssistantBlock): AgentActivity {
  const { partial } = before;
  if (partial === undefined || partial.id !== messageId) return before;
  while (partial.blocks.length <= index) partial.blocks.push(createEmptyBlock('text'));
  partial.blocks[index] = block;
  return before;
}

function createEmptyBlock(kind: AssistantBlock['type'], name = ''): AssistantBlock {
  switch (kind) {
    case 'thinking':
      return { type: 'thinking', thinking: '', signature: '' };
    case 'tool_use':
      return { type: 'tool_use', id: '', name, input: {}, unparsed: '' };
    case 'text':
      return { type: 'text', text: '' };
    default:
      return { type: 'opaque', raw: {} };
  }
}

function appendDelta(block: AssistantBlock, delta: string): AssistantBlock {
  if (block.type === 'text') return { ...block, text: block.text + delta };
  if (block.type === 'thinking') return { ...block, thinking: block.thinking + delta };
  return block.type === 'tool_use' ? { ...block, unparsed: (block.unparsed ?? '') + delta } : block;
}
