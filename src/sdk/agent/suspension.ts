import type { AgentEvent } from '../../contracts/event.ts';
import type { Feature } from '../../contracts/feature.ts';
import type { AssistantBlock, AssistantMessage, Message, Usage } from '../../contracts/message.ts';
import type { ModelEvent, ModelOutcome } from '../../contracts/model.ts';
import type { PermissionAnswer, PermissionRequest } from '../../contracts/permission.ts';
import type { ToolOutcome } from '../../contracts/tool.ts';
import { omitUndefined } from '../../lib/json.ts';
import { createDeferred } from '../../lib/promises.ts';
import type { AgentCapsule } from './capsule.ts';
import type { AgentOptions } from './options.ts';

const NO_USAGE: Usage = { inputTokens: 0, outputTokens: 0, cacheReadTokens: 0, cacheWriteTokens: 0 };

/** The suspension of an agent: its open permission prompts, and what a capsule tells about the current turn. */
export type Suspension = {
  /** Returns whether the run has been suspended; what happens then belongs to the run that continues it. */
  isSuspended(): boolean;
  /** Records the reply of the current turn; the first listener, so that others can suspend the run. */
  onEvent(event: AgentEvent): void;
  /** Adds the outcome of a call that has ended; asked last, it gets what the model gets. */
  readonly afterCall: NonNullable<Feature['afterCall']>;
  /** Asks a permission prompt, at which the run can be suspended until it is answered. */
  ask(request: PermissionRequest, ask: () => Promise<PermissionAnswer>): Promise<PermissionAnswer>;
  /** Captures the run at its open prompt and marks it as suspended; the caller aborts it. */
  start(): Promise<AgentCapsule>;
};

/** Creates the suspension of an agent; `save` gets a capsule before each prompt is asked. */
export function createSuspension(
  sessionId: string,
  getMessages: () => readonly Message[],
  save: AgentOptions['saveCapsule'],
): Suspension {
  const open = new Set<PermissionRequest>();
  let isSuspended = false;
  let blocks: readonly AssistantBlock[] = [];
  let reply: Omit<AssistantMessage, 'blocks' | 'role'> = { id: '', model: '' };
  let outcomes: AgentCapsule['outcomes'] = [];
  let complete = createDeferred<undefined>();

  /** Captures the current turn, once its reply is complete. */
  async function capture(request: PermissionRequest): Promise<AgentCapsule> {
    await complete.promise;
    const messages = getMessages();
    return structuredClone({
      ...{ version: 1, sessionId, messages, outcomes, request },
      reply: { role: 'assistant', ...reply, blocks },
    });
  }

  return {
    isSuspended: () => isSuspended,
    onEvent(event) {
      switch (event.type) {
        case 'turn_start':
          blocks = [];
          outcomes = [];
          complete = createDeferred();
          break;
        case 'message_start':
          if (event.role === 'assistant') reply = { id: event.messageId, model: event.model, usage: event.usage };
          blocks = event.role === 'assistant' ? [] : blocks;
          break;
        case 'block_end':
          blocks = [...blocks, event.block];
          break;
        case 'turn_end':
          reply = { ...reply, ...omitUndefined({ stopReason: event.stopReason, usage: event.usage }) };
          complete.resolve(undefined);
          break;
        default:
      }
    },
    async afterCall({ callId }, outcome) {
      outcomes = [...outcomes, { callId, outcome }];
      return {};
    },
    async ask(request, ask) {
      open.add(request);
      try {
        if (save !== undefined) await save(await capture(request));
        return await ask();
      } finally {
        open.delete(request);
      }
    },
    async start() {
      const [request] = open;
      if (request === undefined) throw new Error('suspend: no permission prompt is open.');
      const capsule = await capture(request);
      if (!open.has(request)) throw new Error('suspend: the permission prompt was answered meanwhile.');
      isSuspended = true;
      return capsule;
    },
  };
}

/** The continuation of a capsule: its reply is played again, its finished calls keep their outcomes. */
export type CapsuleResumption = {
  /** Id of the reply that is played again under a new one. */
  readonly replyId: string;
  /** Returns the reply of the capsule for the first request, and nothing afterwards. */
  takeReply(): AsyncGenerator<ModelEvent, ModelOutcome> | undefined;
  getOutcome(callId: string): ToolOutcome | undefined;
  /** Returns the answer to the question of the capsule, and the input that was asked about. */
  getAnswer(callId: string): { readonly answer: PermissionAnswer; readonly request: PermissionRequest } | undefined;
};

/** Creates the continuation of a capsule. */
export function createCapsuleResumption(
  { reply, outcomes, request }: AgentCapsule,
  answer: PermissionAnswer,
): CapsuleResumption {
  let isTaken = false;
  const byCall = new Map(outcomes.map(({ callId, outcome }) => [callId, outcome]));
  return {
    replyId: reply.id,
    takeReply() {
      if (isTaken) return undefined;
      isTaken = true;
      return playReply(reply);
    },
    getOutcome: (callId) => byCall.get(callId),
    getAnswer: (callId) => (callId === request.callId ? { answer, request } : undefined),
  };
}

/**
 * Limits a feature to what has not happened elsewhere: a call of a capsule has passed its checks, and an event after a
 * suspension belongs to the run that continues.
 */
export function limitToOpenCalls(
  feature: Feature,
  { isSuspended }: Suspension,
  resumption: CapsuleResumption | undefined,
): Feature {
  const { beforeCall, afterCall, onEvent } = feature;
  const isDone = (callId: string) => resumption?.getOutcome(callId) !== undefined;
  return {
    ...feature,
    ...(beforeCall && {
      beforeCall: async (call, signal) =>
        isDone(call.callId) || resumption?.getAnswer(call.callId) !== undefined ? {} : beforeCall(call, signal),
    }),
    ...(afterCall && {
      afterCall: async (call, ...ended) => (isDone(call.callId) ? {} : afterCall(call, ...ended)),
    }),
    ...(onEvent && { onEvent: (event) => (isSuspended() ? undefined : onEvent(event)) }),
  };
}

async function* playReply(reply: AssistantMessage): AsyncGenerator<ModelEvent, ModelOutcome> {
  // The reply was paid by the run that got it.
  yield { type: 'message_start', messageId: crypto.randomUUID(), model: reply.model, usage: NO_USAGE };
  for (const [index, block] of reply.blocks.entries()) {
    yield { type: 'block_start', index, kind: block.type, ...(block.type === 'tool_use' ? { name: block.name } : {}) };
    if (block.type === 'text') yield { type: 'text_delta', index, text: block.text };
    yield { type: 'block_end', index, block };
  }
  return { ok: true, message: reply, stopReason: reply.stopReason ?? 'tool_use', usage: NO_USAGE };
}
