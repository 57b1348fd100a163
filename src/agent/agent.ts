import type { Agent } from '../contracts/agent.ts';
import type { AgentEvent } from '../contracts/event.ts';
import type { Message } from '../contracts/message.ts';
import type { Terminal } from '../contracts/terminal.ts';
import { type AgentStore, type AgentValue, initialAgent, isRunning, reduceAgent } from './agent-state.ts';
import { createBroadcast } from './broadcast.ts';
import type { AgentParts, AgentPort } from './parts.ts';
import { joiningMessages, promptMessage } from './prompts.ts';
import { createQuestions } from './questions.ts';
import { createQueues, type Queues } from './queues.ts';
import { BUSY, createWork, queuedMessages, type Work } from './work.ts';

/** The control panel: commands go in, events come out, one query runs at a time. */
export function assembleAgent(parts: AgentParts): Agent {
  const broadcast = createBroadcast(parts.listeners, parts.onListenerError ?? (() => undefined));
  const store = holdState(initialAgent(parts.messages, parts.queued), broadcast.tell);
  const { now, change, tell } = store;
  const queues = createQueues(store, parts);
  const questions = createQuestions(store, parts.newId);
  let skipWait: (() => void) | undefined;
  const port: AgentPort = {
    askPermission: questions.askPermission,
    ask: questions.ask,
    queues: queues.port,
    tell,
    onWait: (skip) => {
      skipWait = skip;
    },
  };
  parts.attach?.(port);
  const work = createWork(store, queues, { parts, port, drained: broadcast.drained });

  /** Joins now, or behind the query that runs. */
  async function append(message: Message): Promise<void> {
    if (isRunning(now())) {
      change({ ...now(), late: [...now().late, message] });
      return;
    }
    const joined = tell({ type: 'message_end', message });
    // A listener gets the event of what it adds itself after it has returned, so it must not wait for that.
    if (!broadcast.asksListener()) await joined;
  }

  return {
    sessionId: parts.sessionId,
    state: () => ({ ...publicState(now()), ...parts.describe() }),
    subscribe: broadcast.subscribe,
    prompt: async (said) => work.query(joiningMessages(said, parts)),
    continue: async () => goOn(store, queues, work),
    wake: (words) => work.query([promptMessage(words, 'background', parts)]),
    steer: (words) => queues.add('next', promptMessage(words, 'steer', parts)),
    followUp: (words) => queues.add('after', promptMessage(words, 'follow_up', parts)),
    async pin(words) {
      const message = { ...promptMessage(words, 'steer', parts), pinned: true };
      // The loop takes it like steering. Between two queries no loop looks at the queue.
      if (isRunning(now()) && now().work?.kind === 'query') queues.add('next', message);
      else await append(message);
    },
    async withdraw(id) {
      if (isRunning(now())) throw new Error(BUSY);
      if (now().messages.some((message) => message.id === id)) {
        await tell({ type: 'tombstone', messageId: id, why: 'It was taken back.' });
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
    between: work.between,
    setQueueMode: (lane, mode) => change({ ...now(), queueModes: { ...now().queueModes, [lane]: mode } }),
    async waitForIdle() {
      if (broadcast.asksListener())
        throw new Error('A listener must not wait until the agent is idle: the agent waits for the listener.');
      await work.settled();
    },
  };
}

function goOn({ now }: AgentStore, queues: Queues, work: Work): Promise<Terminal> {
  if (now().work !== undefined) throw new Error('A query is running already.');
  if (isUnanswered(now().messages.at(-1))) return work.query([]);
  const due = queues.takeDue();
  if (due.length === 0) throw new Error('There is nothing to continue: the last word was the model’s.');
  return work.query(queuedMessages(due), due);
}

/** An event is applied before it is told, so that a listener that asks sees what it was told. */
function holdState(first: AgentValue, broadcast: (event: AgentEvent) => Promise<void>): AgentStore {
  let state = first;
  return {
    now: () => state,
    change: (next) => {
      state = next;
    },
    tell: (event) => {
      state = reduceAgent(state, event);
      const start = startOf(event);
      if (start !== undefined) void broadcast(start); // Told in order, so whoever waits for the end waits for it too.
      return broadcast(event);
    },
  };
}

/** A reply has begun with its first word; what is whole at once begins when it joins. */
function startOf(event: AgentEvent): AgentEvent | undefined {
  if (event.type !== 'message_end') return undefined;
  const { id, role } = event.message;
  return role === 'user' || role === 'custom' ? { type: 'message_start', messageId: id, role } : undefined;
}

function publicState({ status, messages, activity, queue, permissions, questions }: AgentValue) {
  const pending = { pendingPermissions: [...permissions], pendingQuestions: [...questions] };
  return { status, messages: [...messages], ...activity, queue, ...pending };
}

function isUnanswered(last: Message | undefined): boolean {
  return last?.role === 'user' || last?.role === 'custom';
}

function replaceMessages({ now, change }: AgentStore, messages: readonly Message[]): void {
  if (now().work !== undefined) throw new Error(BUSY);
  change({ ...now(), messages: [...messages] });
}
