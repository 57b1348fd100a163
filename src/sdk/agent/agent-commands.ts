import { applyCompaction } from '../../agent/agent-context.ts';
import { getReplyText, type RunEnd } from '../../agent/agent-run-records.ts';
import { NO_SPENDING } from '../../agent/spending.ts';
import type { Agent, AgentListener } from '../../contracts/agent.ts';
import type { QueuedMessage, Spending } from '../../contracts/event.ts';
import type { Message, UserMessage } from '../../contracts/message.ts';
import type { CompactionResult } from '../../contracts/query.ts';
import type { Terminal } from '../../contracts/terminal-reason.ts';
import { deepFreeze } from '../../lib/json.ts';
import { resolveUndefinedOnAbort } from '../../lib/promises.ts';
import type { AgentParts } from './agent-parts.ts';
import { dismissPendingQuestions } from './agent-questions.ts';
import { type AgentCapsule, parsePermissionAnswer } from './capsule.ts';
import { checkAgentChange, checkRunOptions } from './check-agent-options.ts';
import type { AgentChange, AgentSnapshot, RunOptions } from './options.ts';
import {
  type ApiMessage,
  type PromptInput,
  parseAppMessage,
  parseAppMessages,
  parsePromptInput,
} from './parse-app-messages.ts';
import type { SetupValue } from './setup.ts';

type CoreCommands = Pick<
  Agent,
  | 'sessionId'
  | 'unqueue'
  | 'answerPermission'
  | 'answerQuestion'
  | 'abort'
  | 'retryNow'
  | 'clearAllQueues'
  | 'reset'
  | 'withdraw'
  | 'setQueueMode'
  | 'waitForIdle'
>;

/** The agent of one conversation: it takes prompts and answers, and emits events. */
export type SdkAgent = CoreCommands & {
  /** Returns a frozen snapshot of the state. */
  state(): AgentSnapshot;
  /** Adds a listener. With `answers: true` it declares that it answers permission prompts and questions. */
  subscribe(listener: AgentListener, options?: SubscribeOptions): () => void;
  /** Starts a run. It is running when this returns; rejects if another run is active: use `steer` or `followUp` then. */
  prompt(input: PromptInput, options?: RunOptions): Promise<RunEnd>;
  /** Starts a run from the last message, or from the queued messages. Rejects if there is nothing to continue. */
  continue(options?: RunOptions): Promise<RunEnd>;
  /** Continues what an earlier run or process has left. Resolves at once if nothing is left. */
  resume(options?: RunOptions): Promise<RunEnd>;
  /** Queues a message for the end of the current turn. */
  steer(input: PromptInput): QueuedMessage;
  /** Queues a message for the moment the agent would stop. */
  followUp(input: PromptInput): QueuedMessage;
  /** Adds a message that compactions keep unchanged. The model gets it with the next request. */
  pin(input: PromptInput): Promise<void>;
  /** Adds a message without asking the model. During a run it joins when the run ends. */
  append(message: Message | ApiMessage): Promise<void>;
  replaceMessages(messages: readonly (Message | ApiMessage)[]): void;
  /** Changes model, system prompt, thinking or tools from the next turn on. */
  change(change: AgentChange): void;
  /**
   * Ends a run that waits for a permission prompt, and returns it as data. Nothing more is recorded here;
   * `resumeAgent(capsule, { answer })` continues it. Calls that have ended keep their results; others run then.
   */
  suspend(): Promise<AgentCapsule>;
  /** Compacts the conversation now, between two runs: a summary replaces old messages. */
  compact(): Promise<CompactionResult>;
};

/** The options of a subscription. */
export type SubscribeOptions = {
  /** The listener answers permission prompts and questions. Without such a listener or a callback, the answer is no. */
  readonly answers?: boolean;
};

/** Creates the commands of an agent. */
export function createSdkAgentMethods(agent: Agent, parts: AgentParts): SdkAgent {
  const { options, setup, meter, context, runs, answerers, suspension, connection, newId, now } = parts;
  const toDeps = (caller: string) => ({ caller, newId, now, model: setup.current().model });

  /** Starts a run. The run lock is taken before the first await. */
  async function run({ signal }: RunOptions, start: () => Promise<Terminal>): Promise<RunEnd> {
    const isFree = agent.state().status === 'idle';
    const unlink = isFree ? runs.link([options.signal, signal], () => agent.abort()) : () => undefined;
    try {
      return runs.describe(await start());
    } finally {
      unlink();
    }
  }

  const toUserMessage = (caller: string, input: PromptInput): UserMessage => {
    const [message, ...others] = parsePromptInput(input, toDeps(caller));
    if (message?.role !== 'user' || others.length > 0)
      throw new TypeError(`${caller}: pass one text or one user message.`);
    return message;
  };

  return {
    ...pickCommands(agent),
    answerPermission: (id, answer, by) =>
      agent.answerPermission(id, parsePermissionAnswer('answerPermission', answer), by),
    setQueueMode(queue, mode) {
      if (queue !== 'next' && queue !== 'after')
        throw new TypeError("setQueueMode: the queue must be 'next' or 'after'.");
      if (mode !== 'all' && mode !== 'one-at-a-time')
        throw new TypeError("setQueueMode: the mode must be 'all' or 'one-at-a-time'.");
      agent.setQueueMode(queue, mode);
    },
    state: () => createSnapshot(agent, setup.current(), meter.current()),
    subscribe(listener, { answers = false } = {}) {
      if (typeof listener !== 'function') throw new TypeError('subscribe: pass a function.');
      const unsubscribe = agent.subscribe((event) =>
        suspension.isSuspended() && event.type !== 'agent_end' ? undefined : listener(event),
      );
      if (answers) answerers.add(listener);
      return () => {
        unsubscribe();
        if (answerers.delete(listener) && answerers.size === 0) dismissPendingQuestions(agent);
      };
    },
    async prompt(input, runOptions = {}) {
      checkRunOptions('prompt', runOptions);
      const messages = parsePromptInput(input, toDeps('prompt'));
      return run(runOptions, () => agent.prompt(messages));
    },
    async continue(runOptions = {}) {
      checkRunOptions('continue', runOptions);
      return run(runOptions, agent.continue);
    },
    async resume(runOptions = {}) {
      checkRunOptions('resume', runOptions);
      const { messages, queue } = agent.state();
      const last = messages.at(-1);
      if (last?.role === 'user' || last?.role === 'custom' || queue.length > 0) return run(runOptions, agent.continue);
      return { reason: 'completed', text: getReplyText(last), spent: NO_SPENDING };
    },
    steer: (input) => agent.steer(toUserMessage('steer', input)),
    followUp: (input) => agent.followUp(toUserMessage('followUp', input)),
    pin: async (input) => agent.pin(toUserMessage('pin', input).blocks),
    append: async (message) => agent.append(parseAppMessage(message, 'the message', toDeps('append'))),
    replaceMessages: (messages) => agent.replaceMessages(parseAppMessages(messages, toDeps('replaceMessages'))),
    change(change) {
      checkAgentChange(change);
      setup.update(change);
    },
    async suspend() {
      const capsule = await suspension.start();
      agent.abort();
      await agent.waitForIdle();
      return capsule;
    },
    compact: () =>
      agent.runExclusive('compacting', async (signal) => {
        await resolveUndefinedOnAbort(setup.current().chain.waitUntilReady(), signal);
        const compacting = context.compact(agent.state().messages, 'manual', signal);
        return (await applyCompaction(compacting, connection.emit, signal)) ?? STOPPED;
      }),
  };
}

const STOPPED: CompactionResult = { ok: false, why: 'it was stopped' };

function pickCommands(agent: Agent): CoreCommands {
  const { sessionId, unqueue, answerPermission, answerQuestion, abort, retryNow, clearAllQueues } = agent;
  const { reset, withdraw, setQueueMode, waitForIdle } = agent;
  return {
    ...{ sessionId, unqueue, answerPermission, answerQuestion, abort, retryNow, clearAllQueues },
    ...{ reset, withdraw, setQueueMode, waitForIdle },
  };
}

function createSnapshot(agent: Agent, { systemPrompt, tools, thinking }: SetupValue, spent: Spending): AgentSnapshot {
  const { mode: _mode, effort: _effort, ...state } = agent.state();
  const toolInfos = tools.map(({ name, label, spec }) => ({ name, label, description: spec.description }));
  return deepFreeze({ ...state, sessionId: agent.sessionId, systemPrompt, thinking, spent, tools: toolInfos });
}
