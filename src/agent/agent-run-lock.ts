import type { AbortReason, Agent, InputMessage } from '../contracts/agent.ts';
import type { AgentStatus, QueuedMessage } from '../contracts/event.ts';
import type { Message, UserMessage } from '../contracts/message.ts';
import type { QueryConfig } from '../contracts/query.ts';
import type { Terminal } from '../contracts/terminal-reason.ts';
import { query } from '../engine/query.ts';
import { getErrorMessage } from '../lib/errors.ts';
import { resolveUndefinedOnAbort } from '../lib/promises.ts';
import type { AgentDeps, AgentPort } from './agent-deps.ts';
import { type AgentStore, isAgentRunning } from './agent-state.ts';
import { type MessageQueues, runUserPromptHook } from './message-queues.ts';

/** The run lock: only one query, or one piece of work between queries, runs at a time. */
export type AgentRunLock = {
  /** Runs a query with new messages. */
  query(fresh: readonly InputMessage[], delivered?: readonly QueuedMessage[]): Promise<Terminal>;
  /** Runs work on the conversation between two queries. */
  runExclusive: Agent['runExclusive'];
  abort(reason: AbortReason): void;
  /** Resolves when nothing runs and the listeners have handled all events. */
  waitUntilSettled(): Promise<void>;
};

/** Creates the run lock; `drained` resolves when the listeners have handled all events. */
export function createAgentRunLock(
  store: AgentStore,
  queues: MessageQueues,
  { parts, port, drained }: { parts: AgentDeps; port: AgentPort; drained: () => Promise<void> },
): AgentRunLock {
  const { current, update, emit } = store;
  let idle: Promise<unknown> = Promise.resolve();
  let ended: Promise<unknown> = Promise.resolve();

  function begin(kind: 'query' | 'between', refusal: string): AbortSignal {
    if (current().work !== undefined) throw new Error(refusal);
    const controller = new AbortController();
    update({ ...current(), work: { kind, controller } });
    return controller.signal;
  }

  function end(): void {
    update({ ...current(), work: undefined });
  }

  function idleAfter(work: Promise<unknown>): void {
    idle = work.then(drained, drained);
  }

  function query(fresh: readonly InputMessage[], delivered: readonly QueuedMessage[] = []): Promise<Terminal> {
    // Listeners are still handling the end of the last query; a listener may start the next one.
    if (current().work !== undefined && !isAgentRunning(current())) return ended.then(() => query(fresh, delivered));
    const signal = begin('query', 'A query is already running. Use steer or followUp to add a message.');
    const finished = runQuery({ store, parts, port, fresh, delivered, signal }).finally(end);
    ended = finished;
    idleAfter(finished);
    return finished.then((terminal) => {
      // Messages queued after the loop last read the queue start a query. After an abort the user decides.
      if (terminal.reason === 'completed' && !terminal.isFinal && current().work === undefined) queryQueued();
      return terminal;
    });
  }

  function queryQueued(): void {
    const due = queues.takeDue();
    // A query emits its own end and never rejects.
    if (due.length > 0) void query(getQueuedMessages(due), due);
  }

  return {
    query,
    async runExclusive(status, work) {
      // Listeners are still handling the end of the last query.
      while (current().work !== undefined && !isAgentRunning(current())) await ended;
      const signal = begin('between', AGENT_BUSY_MESSAGE);
      const replaceMessages = (messages: readonly Message[]) => update({ ...current(), messages: [...messages] });
      const done = runBetween(
        store,
        status,
        () => work(signal, replaceMessages),
        () => {
          end();
          // Synchronous, so that nothing else can start first.
          queryQueued();
        },
      );
      idleAfter(done);
      return done;
    },
    abort(reason) {
      const { work } = current();
      if (work === undefined || work.controller.signal.aborted || !isAgentRunning(current())) return;
      void emit({ type: 'status', status: 'stopping' });
      work.controller.abort(reason);
    },
    async waitUntilSettled() {
      do {
        await idle;
        await drained();
      } while (current().work !== undefined);
    },
  };
}

/** Runs work between two queries. Messages that arrive meanwhile are added after it. */
async function runBetween<Answer>(
  store: AgentStore,
  status: AgentStatus,
  work: () => Promise<Answer>,
  end: () => void,
): Promise<Answer> {
  const { emit } = store;
  try {
    await emit({ type: 'status', status });
    return await work();
  } finally {
    for (let late = takeLateMessages(store); late.length > 0; late = takeLateMessages(store)) {
      for (const message of late) await emit({ type: 'message_end', message });
    }
    const idle = emit({ type: 'status', status: 'idle' });
    end();
    await idle;
  }
}

/** The error message for changes of the conversation during a query. */
export const AGENT_BUSY_MESSAGE = 'A query is running; abort it first.';

/** Returns the messages of queue items. */
export function getQueuedMessages(items: readonly QueuedMessage[]): readonly UserMessage[] {
  return items.map((item) => item.message);
}

type Run = {
  readonly store: AgentStore;
  readonly parts: AgentDeps;
  readonly port: AgentPort;
  readonly fresh: readonly InputMessage[];
  readonly delivered: readonly QueuedMessage[];
  readonly signal: AbortSignal;
};

/** Runs one query, from the prompt hook to the last listener. It always ends with `agent_end`. */
async function runQuery(run: Run): Promise<Terminal> {
  const { store, parts } = run;
  const { current, emit } = store;
  const startedAt = parts.now();
  const delivered = [...run.delivered];
  await emit({ type: 'agent_start' });
  let terminal = await catchErrors(run, async () => {
    if (parts.beforeRun !== undefined) await resolveUndefinedOnAbort(parts.beforeRun(), run.signal);
    for (const item of run.delivered) await emit({ type: 'queue', item, state: 'delivered' });
    // These messages were just taken from the queue, so the loop need not poll it first.
    return (await admitMessages(run)) ?? runLoop(run, delivered, { skipFirstPoll: run.delivered.length > 0 });
  });
  for (;;) {
    for (const item of delivered.splice(0)) await emit({ type: 'queue', item, state: 'completed' });
    for (const message of takeLateMessages(store)) await emit({ type: 'message_end', message });
    if (current().lateMessages.length > 0) continue;
    // Nothing is awaited from this check to the end, so no message can arrive in between.
    if (terminal.reason !== 'completed' || terminal.isFinal || run.signal.aborted || current().queue.length === 0)
      break;
    const waiting = current().queue.length;
    terminal = await catchErrors(run, () => runWithQueued(run, delivered));
    // If the loop takes none of the queued messages, another round would take none either.
    if (delivered.length === 0 && current().queue.length >= waiting) break;
  }
  const closing = parts.afterRun === undefined ? [] : await parts.afterRun(terminal);
  // Not awaited: a message that arrives between two of these events would stay behind.
  for (const message of [...closing, ...takeLateMessages(store)]) void emit({ type: 'message_end', message });
  await emit({ type: 'agent_end', terminal, durationMs: parts.now() - startedAt });
  return terminal;
}

/** Takes the messages that arrived during the query. */
function takeLateMessages({ current, update }: AgentStore): readonly Message[] {
  const { lateMessages } = current();
  update({ ...current(), lateMessages: [] });
  return lateMessages;
}

async function catchErrors({ store: { emit }, parts }: Run, work: () => Promise<Terminal>): Promise<Terminal> {
  try {
    return await work();
  } catch (thrown) {
    const message = getErrorMessage(thrown);
    const text = (parts.describeFault ?? describeFault)(message);
    await emit({ type: 'notice', level: 'error', topic: 'model_error', text });
    return { reason: 'model_error', words: message };
  }
}

function describeFault(message: string): string {
  return `Internal error: ${message}. Report it with \`ouro sessions capsule\`.`;
}

/** Runs the prompt hook, then adds the messages, which puts them on disk before any request. A refusal ends the run. */
async function admitMessages({ fresh, parts, store: { emit }, signal }: Run): Promise<Terminal | undefined> {
  for (const message of fresh) {
    if (message.role === 'custom') {
      await emit({ type: 'message_end', message });
      continue;
    }
    const verdict = await resolveUndefinedOnAbort(runUserPromptHook(parts.onPrompt, message, signal), signal);
    if (verdict?.kind === 'block') {
      await emit({ type: 'notice', level: 'warn', topic: 'prompt_hook', text: verdict.words });
      return { reason: 'hook_stopped', words: verdict.words };
    }
    await emit({ type: 'message_end', message: verdict?.message ?? message });
  }
  return undefined;
}

/** Runs the loop again for messages that arrived after it last read the queue. */
async function runWithQueued(run: Run, delivered: QueuedMessage[]): Promise<Terminal> {
  const { queues } = run.port;
  const { emit } = run.store;
  await queues.admitQueued?.(run.signal);
  const hasSteering = queues.hasSteering();
  const followUps = hasSteering ? [] : queues.takeFollowUps();
  // The prompt hook refused all queued messages.
  if (!hasSteering && followUps.length === 0) return { reason: 'completed' };
  for (const item of followUps) {
    delivered.push(item);
    await emit({ type: 'queue', item, state: 'delivered' });
    await emit({ type: 'message_end', message: item.message });
  }
  return runLoop(run, delivered, { skipFirstPoll: false });
}

async function runLoop(
  { parts, port, store: { current, emit }, signal }: Run,
  delivered: QueuedMessage[],
  overrides: Pick<QueryConfig, 'skipFirstPoll'>,
): Promise<Terminal> {
  const deps = parts.deps(port);
  const { excluded, failedCompactions } = current();
  const config: QueryConfig = { ...deps.config, ...overrides, excluded, failedCompactions };
  const events = query(current().messages, { ...deps, config }, signal);
  for (;;) {
    const step = await events.next();
    if (step.done === true) return step.value;
    if (step.value.type === 'queue' && step.value.state === 'delivered') delivered.push(step.value.item);
    await emit(step.value);
  }
}
