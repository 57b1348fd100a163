import type { Agent, AgentListener } from '../contracts/agent.ts';
import type { AgentEvent } from '../contracts/event.ts';
import type { Message } from '../contracts/message.ts';
import type { PermissionAnswer } from '../contracts/permission.ts';
import type { Terminal } from '../contracts/terminal-reason.ts';
import type { UserAnswer } from '../contracts/tool.ts';
import { type AsyncScope, createAsyncScopes } from '../lib/async-scopes.ts';
import type { AgentDeps, AgentPort } from './agent-deps.ts';
import { AGENT_BUSY_MESSAGE, type AgentRunLock, createAgentRunLock, getQueuedMessages } from './agent-run-lock.ts';
import {
  type AgentStore,
  type AgentStoreState,
  copyPartialReply,
  createAgentState,
  isAgentRunning,
  reduceAgentState,
} from './agent-state.ts';
import {
  convertInputToMessages,
  createMessageQueues,
  createPromptMessage,
  type MessageQueues,
} from './message-queues.ts';

/** Creates an agent from its parts. It takes commands, emits events and runs one query at a time. */
export function assembleAgent(parts: AgentDeps): Agent {
  const broadcast = createEventBroadcast(parts.listeners, parts.onListenerError ?? (() => undefined));
  const store = createStore(createAgentState(parts.messages, parts.queued), broadcast.emit);
  const { current, update, emit } = store;
  const queues = createMessageQueues(store, parts);
  const questions = createPendingQuestions(store, parts.newId);
  let skipWait: (() => void) | undefined;
  const port: AgentPort = {
    askPermission: questions.askPermission,
    ask: questions.ask,
    answerPermission: questions.answerPermission,
    queues: queues.port,
    emit,
    messages: () => current().messages,
    onWait: (skip) => {
      skipWait = skip;
    },
  };
  parts.attach?.(port);
  const work = createAgentRunLock(store, queues, { parts, port, drained: broadcast.waitUntilDrained });

  /** Adds the message now, or after the running query. */
  async function append(message: Message): Promise<void> {
    if (isAgentRunning(current())) {
      update({ ...current(), lateMessages: [...current().lateMessages, message] });
      return;
    }
    const joined = emit({ type: 'message_end', message });
    // A listener gets the event of its own message only after it has returned, so it must not await it here.
    if (!broadcast.isInsideListener()) await joined;
  }

  return {
    sessionId: parts.sessionId,
    state: () => ({ ...describeState(current()), ...parts.describe() }),
    subscribe: broadcast.subscribe,
    prompt: async (prompt) => work.query(convertInputToMessages(prompt, parts)),
    continue: async () => continueQuery(store, queues, work),
    startBackgroundTurn: (text) => work.query([createPromptMessage(text, 'background', parts)]),
    steer: (prompt) => queues.add('next', createPromptMessage(prompt, 'steer', parts)),
    followUp: (prompt) => queues.add('after', createPromptMessage(prompt, 'follow_up', parts)),
    async pin(prompt) {
      const message = { ...createPromptMessage(prompt, 'steer', parts), pinned: true };
      // The loop takes it like steering. Without a query, no loop reads the queue.
      if (isAgentRunning(current()) && current().work?.kind === 'query') queues.add('next', message);
      else await append(message);
    },
    async withdraw(id) {
      if (isAgentRunning(current())) throw new Error(AGENT_BUSY_MESSAGE);
      if (current().messages.some((message) => message.id === id)) {
        await emit({ type: 'tombstone', messageId: id, why: 'It was withdrawn.' });
      }
    },
    unqueue: queues.remove,
    answerPermission: questions.answerPermission,
    answerQuestion: questions.answerQuestion,
    abort: (reason = 'user') => work.abort(reason),
    retryNow() {
      skipWait?.();
      skipWait = undefined;
    },
    clearAllQueues: queues.clear,
    reset() {
      replaceMessages(store, []);
      queues.clear();
    },
    replaceMessages: (messages) => replaceMessages(store, messages),
    append,
    runExclusive: work.runExclusive,
    setQueueMode: (lane, mode) => update({ ...current(), queueModes: { ...current().queueModes, [lane]: mode } }),
    async waitForIdle() {
      if (broadcast.isInsideListener())
        throw new Error('A listener must not call waitForIdle: the agent waits for the listener.');
      await work.waitUntilSettled();
    },
  };
}

function continueQuery({ current }: AgentStore, queues: MessageQueues, work: AgentRunLock): Promise<Terminal> {
  if (current().work !== undefined) throw new Error('A query is already running.');
  if (isUnanswered(current().messages.at(-1))) return work.query([]);
  const due = queues.takeDue();
  if (due.length === 0) throw new Error('There is nothing to continue: the last message is a reply of the model.');
  return work.query(getQueuedMessages(due), due);
}

/** Creates the store. An event is applied before it is emitted, so that listeners see the state it led to. */
function createStore(first: AgentStoreState, broadcast: (event: AgentEvent) => Promise<void>): AgentStore {
  let state = first;
  return {
    current: () => state,
    update: (next) => {
      state = next;
    },
    emit: (event) => {
      state = reduceAgentState(state, event);
      const start = createMessageStart(event);
      // Events keep their order, so awaiting the broadcast below covers this one.
      if (start !== undefined) void broadcast(start);
      return broadcast(event);
    },
  };
}

/** Creates the `message_start` of a message that is complete at once. Replies start with their first delta. */
function createMessageStart(event: AgentEvent): AgentEvent | undefined {
  if (event.type !== 'message_end') return undefined;
  const { id, role } = event.message;
  return role === 'user' || role === 'custom' ? { type: 'message_start', messageId: id, role } : undefined;
}

function describeState({ status, messages, activity, queue, permissions, questions }: AgentStoreState) {
  const pending = { pendingPermissions: [...permissions], pendingQuestions: [...questions] };
  const partial = copyPartialReply(activity.partial);
  return { status, messages: [...messages], ...activity, partial, queue, ...pending };
}

function isUnanswered(last: Message | undefined): boolean {
  return last?.role === 'user' || last?.role === 'custom';
}

function replaceMessages({ current, update }: AgentStore, messages: readonly Message[]): void {
  if (current().work !== undefined) throw new Error(AGENT_BUSY_MESSAGE);
  update({ ...current(), messages: [...messages] });
}

/**
 * Creates a broadcast: events in order, one after the other, each listener awaited. An error of a listener goes to
 * `report`, never to the emitter. @internal Exported for tests.
 */
export function createEventBroadcast(
  first: readonly AgentListener[],
  report: (thrown: unknown, event: AgentEvent) => void,
) {
  let listeners = first;
  let tail: Promise<void> = Promise.resolve();
  const visits = createAsyncScopes();

  async function deliver(event: AgentEvent): Promise<void> {
    for (const listener of listeners) {
      const visit: AsyncScope = { isOpen: true };
      try {
        const answer = visits.run(visit, listener, event);
        if (answer !== undefined) await answer;
      } catch (thrown) {
        report(thrown, event);
      } finally {
        visit.isOpen = false;
      }
    }
  }

  return {
    subscribe(listener: AgentListener): () => void {
      listeners = [...listeners, listener];
      return () => {
        listeners = listeners.filter((other) => other !== listener);
      };
    },
    /** Resolves when every listener has handled the event; never rejects. */
    emit(event: AgentEvent) {
      tail = tail.then(() => deliver(event));
      return tail;
    },
    /** Resolves when all events so far have been handled. */
    waitUntilDrained: () => tail,
    /** Returns whether the caller is inside a listener that is being awaited. */
    isInsideListener: visits.isInside,
  };
}

/** Pending questions, emitted as events and answered by id. The first answer counts; an abort answers all. */
type PendingQuestions = Pick<AgentPort, 'askPermission' | 'ask'> & {
  answerPermission(id: string, answer: PermissionAnswer, by?: 'person' | 'host' | 'abort'): boolean;
  answerQuestion(id: string, answer: UserAnswer | undefined): boolean;
};

const INTERRUPTED: PermissionAnswer = { behavior: 'deny', message: 'Interrupted by the user.', interrupt: true };

function createPendingQuestions({ emit }: AgentStore, newId: () => string): PendingQuestions {
  /** Resolvers by question id. The questions themselves are in the state. */
  const permissions = new Map<string, (answer: PermissionAnswer) => void>();
  const questions = new Map<string, (answer: UserAnswer | undefined) => void>();

  const answerPermission: PendingQuestions['answerPermission'] = (id, answer, by = 'person') => {
    const resolve = permissions.get(id);
    if (resolve === undefined) return false;
    permissions.delete(id);
    void emit({ type: 'permission_answer', requestId: id, answer, by });
    resolve(answer);
    return true;
  };

  const answerQuestion: PendingQuestions['answerQuestion'] = (id, answer) => {
    const resolve = questions.get(id);
    if (resolve === undefined) return false;
    questions.delete(id);
    void emit({ type: 'question_answer', id, answer });
    resolve(answer);
    return true;
  };

  return {
    askPermission(request, signal) {
      if (signal.aborted) return Promise.resolve(INTERRUPTED);
      return new Promise((resolve) => {
        permissions.set(request.id, resolve);
        signal.addEventListener('abort', () => answerPermission(request.id, INTERRUPTED, 'abort'), { once: true });
        void emit({ type: 'permission_request', request });
      });
    },
    ask(callId, question, signal) {
      if (signal.aborted) return Promise.resolve(undefined);
      const id = newId();
      return new Promise((resolve) => {
        questions.set(id, resolve);
        signal.addEventListener('abort', () => answerQuestion(id, undefined), { once: true });
        void emit({ type: 'question', id, callId, question });
      });
    },
    answerPermission,
    answerQuestion,
  };
}
