import type { AbortReason, Agent } from '../contracts/agent.ts';
import type { AgentEvent, AgentStatus, QueuedMessage } from '../contracts/event.ts';
import type { Message, UserMessage } from '../contracts/message.ts';
import type { Stripped } from '../contracts/query.ts';
import { statusAfter } from '../contracts/status-after.ts';
import type { Terminal } from '../contracts/terminal.ts';
import { createBroadcast } from './broadcast.ts';
import { createHeardQueues } from './heard-queues.ts';
import type { AgentParts, AgentPort } from './parts.ts';
import { messageOf, promptsIn } from './prompts.ts';
import { createQuestions } from './questions.ts';
import { createQueues } from './queues.ts';
import { runQuery } from './run.ts';
import { strippedAfter } from './stripped-after.ts';

/** The control panel: commands go in, events come out, one query runs at a time. */
export function createAgent(parts: AgentParts): Agent {
  const broadcast = createBroadcast(parts.onListenerError ?? (() => undefined));
  const queues = createQueues(parts.queued);
  const questions = createQuestions((event) => void tell(event), parts.newId);
  let messages: readonly Message[] = parts.messages;
  let status: AgentStatus = 'idle';
  let stripped: Stripped = { thinking: false, images: false };
  let controller: AbortController | undefined;
  let idle: Promise<unknown> = Promise.resolve();
  let skipWait: (() => void) | undefined;
  /** Said while a query ran: it joins behind it, for nothing may come between calls and their results. */
  let late: readonly Message[] = [];
  /** Something is done between two queries: nobody hears steering. */
  let isBetween = false;
  for (const listener of parts.listeners) broadcast.subscribe(listener);

  /** Applies an event to our own copy first, so that a listener that asks sees what it was told. */
  function tell(event: AgentEvent): Promise<void> {
    if (event.type === 'message_end') messages = [...messages, event.message];
    if (event.type === 'compacted') messages = event.messages;
    if (event.type === 'tombstone') messages = messages.filter((message) => message.id !== event.messageId);
    status = statusAfter(status, event);
    stripped = strippedAfter(stripped, event);
    return broadcast.tell(event);
  }

  function enqueue(lane: QueuedMessage['lane'], message: UserMessage): QueuedMessage {
    const item = queues.add(lane, message);
    void tell({ type: 'queue', item, state: 'queued' });
    return item;
  }

  const port: AgentPort = {
    askPermission: questions.askPermission,
    ask: questions.ask,
    queues: createHeardQueues(queues, parts, tell),
    tell,
    onWait: (skip) => {
      skipWait = skip;
    },
  };

  parts.attach?.(port);

  /** A listener hears of what it adds itself after it is done, so it must not wait for that. */
  async function joins(message: Message): Promise<void> {
    const heard = tell({ type: 'message_end', message });
    if (!broadcast.asksListener()) await heard;
  }

  function takeLate(): readonly Message[] {
    const taken = late;
    late = [];
    return taken;
  }

  /** From the first word of a run to the last: a run that has told its end holds nobody up. */
  function isRunning(): boolean {
    return controller !== undefined && status !== 'idle';
  }

  function clearAllQueues(): readonly QueuedMessage[] {
    const dropped = queues.clear();
    for (const item of dropped) void tell({ type: 'queue', item, state: 'removed' });
    return dropped;
  }

  function run(fresh: readonly UserMessage[], delivered: readonly QueuedMessage[]): Promise<Terminal> {
    if (controller !== undefined)
      throw new Error('A query is running already. Use steer or followUp to say something meanwhile.');
    const own = new AbortController();
    controller = own;
    const finished = runQuery({
      fresh,
      delivered,
      parts,
      port,
      tell,
      read: () => messages,
      stripped: () => stripped,
      takeLate,
      hasLate: () => late.length > 0,
      hasWaiting: () => queues.has('next') || queues.has('after'),
      signal: own.signal,
    }).finally(() => {
      controller = undefined;
      skipWait = undefined;
    });
    idleAfter(finished);
    return finished.then((terminal) => {
      // Who spoke between the loop's last look and its end is heard; after a stop it is for them to say.
      if (terminal.reason === 'completed' && controller === undefined) hearWaiting();
      return terminal;
    });
  }

  function hearWaiting(): void {
    const waiting = queues.has('next') ? queues.take('next') : queues.take('after');
    const fresh = waiting.map((item) => item.message);
    // It tells its own end, and never fails.
    if (waiting.length > 0) void run(fresh, waiting);
  }

  function idleAfter(work: Promise<unknown>): void {
    idle = work.then(
      () => broadcast.drained(),
      () => broadcast.drained(),
    );
  }

  /** What was typed meanwhile is heard now, as after a query. */
  async function between<Answer>(busy: AgentStatus, work: (signal: AbortSignal) => Promise<Answer>): Promise<Answer> {
    const own = new AbortController();
    controller = own;
    isBetween = true;
    try {
      await tell({ type: 'status', status: busy });
      return await work(own.signal);
    } finally {
      for (let more = takeLate(); more.length > 0; more = takeLate()) {
        for (const message of more) await tell({ type: 'message_end', message });
      }
      isBetween = false;
      const told = tell({ type: 'status', status: 'idle' });
      controller = undefined;
      // At once: nobody else may begin in between.
      hearWaiting();
      await told;
    }
  }

  return {
    sessionId: parts.sessionId,
    state: () => ({
      status,
      messages: [...messages],
      queue: queues.waiting(),
      pendingPermissions: questions.pendingPermissions(),
      pendingQuestions: questions.pendingQuestions(),
      ...parts.describe(),
    }),
    subscribe: broadcast.subscribe,
    async prompt(words) {
      return run(
        promptsIn(words).map((one) => messageOf(one, 'prompt', parts)),
        [],
      );
    },
    async continue() {
      if (controller !== undefined) throw new Error('A query is running already.');
      if (messages.at(-1)?.role === 'user') return run([], []);
      const waiting = queues.has('next') ? queues.take('next') : queues.take('after');
      if (waiting.length === 0) throw new Error('There is nothing to continue: the last word was the model’s.');
      return run(
        waiting.map((item) => item.message),
        waiting,
      );
    },
    steer: (words) => enqueue('next', messageOf(words, 'steer', parts)),
    followUp: (words) => enqueue('after', messageOf(words, 'follow_up', parts)),
    async pin(words) {
      const message = { ...messageOf(words, 'steer', parts), pinned: true };
      // A message must not come between calls and their results, so a running query takes it like steering.
      if (isBetween) late = [...late, message];
      else if (isRunning()) enqueue('next', message);
      else await joins(message);
    },
    async withdraw(id) {
      if (isRunning()) throw new Error('A query is running; abort it first.');
      if (messages.some((message) => message.id === id)) {
        await tell({ type: 'tombstone', messageId: id, why: 'It was taken back.' });
      }
    },
    unqueue(id) {
      const item = queues.remove(id);
      if (item !== undefined) void tell({ type: 'queue', item, state: 'removed' });
      return item;
    },
    answerPermission: (id, answer, by = 'person') => questions.answerPermission(id, answer, by),
    answerQuestion: questions.answerQuestion,
    abort(reason: AbortReason = 'user') {
      if (controller === undefined || controller.signal.aborted || !isRunning()) return;
      void tell({ type: 'status', status: 'stopping' });
      controller.abort(reason);
    },
    retryNow() {
      skipWait?.();
      skipWait = undefined;
    },
    clearAllQueues,
    reset() {
      if (controller !== undefined) throw new Error('A query is running; abort it first.');
      messages = [];
      clearAllQueues();
    },
    replaceMessages(next) {
      if (controller !== undefined) throw new Error('A query is running; abort it first.');
      messages = [...next];
    },
    async append(message) {
      if (isRunning()) late = [...late, message];
      else await joins(message);
    },
    async between(busy, work) {
      if (controller !== undefined) throw new Error('A query is running; abort it first.');
      const done = between(busy, work);
      idleAfter(done);
      return done;
    },
    setQueueMode: queues.setMode,
    async waitForIdle() {
      if (broadcast.asksListener())
        throw new Error('A listener must not wait until the agent is idle: the agent waits for the listener.');
      await idle;
      await broadcast.drained();
    },
  };
}
