import { z } from 'zod';
import type { RunEnd } from '../../agent/agent-run-records.ts';
import type { AgentListener } from '../../contracts/agent.ts';
import type { UserMessage } from '../../contracts/message.ts';
import type { CompactionResult } from '../../contracts/query.ts';
import type { SdkAgent } from '../agent/agent-commands.ts';
import { type AgentCapsule, parseAgentCapsule } from '../agent/capsule.ts';
import { checkRunOptions } from '../agent/check-agent-options.ts';
import type { RunOptions } from '../agent/options.ts';
import { type PromptInput, parsePromptInput } from '../agent/parse-app-messages.ts';
import type { REMOTE_METHODS } from './wire-format.ts';

type RemoteDeps = {
  readonly call: (method: (typeof REMOTE_METHODS)[number], ...args: readonly unknown[]) => Promise<unknown>;
  readonly listeners: Set<AgentListener>;
  readonly state: SdkAgent['state'];
};

const endSchema = z.custom<RunEnd>((end) => typeof end === 'object' && end !== null && 'reason' in end);
const compactionSchema = z.custom<CompactionResult>((result) => typeof result === 'object' && result !== null);

/**
 * Creates the commands of a remote agent. What a local agent returns at once is computed from the mirrored state; what
 * the server refuses then is ignored, as if it had come too late.
 */
export function createRemoteAgent({ call, listeners, state }: RemoteDeps): SdkAgent {
  const send = (...args: Parameters<typeof call>) => void call(...args).catch(() => undefined);

  async function run(
    method: 'prompt' | 'continue' | 'resume',
    { signal }: RunOptions,
    ...args: readonly unknown[]
  ): Promise<RunEnd> {
    checkRunOptions(method, signal === undefined ? {} : { signal });
    const abort = () => send('abort');
    signal?.addEventListener('abort', abort, { once: true });
    try {
      const end = call(method, ...args);
      if (signal?.aborted === true) abort();
      return endSchema.parse(await end);
    } finally {
      signal?.removeEventListener('abort', abort);
    }
  }

  /** Messages get their ids here, so that they can be taken back. */
  function toMessages(caller: string, input: PromptInput) {
    return parsePromptInput(input, { caller, newId: () => crypto.randomUUID(), now: Date.now, model: state().model });
  }

  function toUserMessage(caller: string, input: PromptInput): UserMessage {
    const [message] = toMessages(caller, input);
    if (message?.role !== 'user') throw new TypeError(`${caller}: pass one text or one user message.`);
    return message;
  }

  function enqueue(method: 'steer' | 'followUp', lane: 'next' | 'after', input: PromptInput) {
    const message = toUserMessage(method, input);
    send(method, message);
    return { id: message.id, lane, message };
  }

  return {
    get sessionId() {
      return state().sessionId;
    },
    state,
    subscribe(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    prompt: async (input, options = {}) => run('prompt', options, toMessages('prompt', input)),
    continue: (options = {}) => run('continue', options),
    resume: (options = {}) => run('resume', options),
    steer: (input) => enqueue('steer', 'next', input),
    followUp: (input) => enqueue('followUp', 'after', input),
    pin: async (input) => void (await call('pin', toUserMessage('pin', input))),
    append: async (message) => void (await call('append', message)),
    replaceMessages: (messages) => send('replaceMessages', messages),
    change({ tools, ...change }) {
      if (tools !== undefined) throw new TypeError('change: tools run where the agent runs; change them there.');
      send('change', change);
    },
    suspend: async (): Promise<AgentCapsule> => parseAgentCapsule(await call('suspend')),
    compact: async () => compactionSchema.parse(await call('compact')),
    abort: (reason) => send('abort', ...(reason === undefined ? [] : [reason])),
    retryNow: () => send('retryNow'),
    unqueue(id) {
      send('unqueue', id);
      return state().queue.find((item) => item.id === id);
    },
    clearAllQueues() {
      send('clearAllQueues');
      return state().queue;
    },
    reset: () => send('reset'),
    withdraw: async (id) => void (await call('withdraw', id)),
    setQueueMode: (queue, mode) => send('setQueueMode', queue, mode),
    answerPermission(id, answer) {
      send('answerPermission', id, answer);
      return state().pendingPermissions.some((request) => request.id === id);
    },
    answerQuestion(id, answer) {
      send('answerQuestion', id, answer);
      return state().pendingQuestions.some((question) => question.id === id);
    },
    waitForIdle: async () => void (await call('waitForIdle')),
  };
}
