import { z } from 'zod';
import type { AgentEvent } from '../../contracts/event.ts';
import type { Feature } from '../../contracts/feature.ts';
import type { AssistantBlock, AssistantMessage, Message, Usage } from '../../contracts/message.ts';
import type { ModelEvent, ModelOutcome } from '../../contracts/model.ts';
import type { PermissionAnswer, PermissionRequest } from '../../contracts/permission.ts';
import type { ToolOutcome } from '../../contracts/tool.ts';
import { omitUndefined } from '../../lib/json.ts';
import { parseArgument } from '../../lib/parse-argument.ts';
import { createDeferred } from '../../lib/promises.ts';
import { isPermissionAnswer } from './agent-questions.ts';

/** A run that waits for an answer, as plain data: it can be stored as JSON and continued elsewhere, days later. */
export type AgentCapsule = {
  readonly version: 1;
  readonly sessionId: string;
  /** Conversation before the reply. */
  readonly messages: readonly Message[];
  /** Reply whose calls are under way. */
  readonly reply: AssistantMessage;
  /** Outcomes of the calls that have ended. */
  readonly outcomes: readonly { readonly callId: string; readonly outcome: ToolOutcome }[];
  /** Question that waits for its answer. */
  readonly request: PermissionRequest;
};

const NO_USAGE: Usage = { inputTokens: 0, outputTokens: 0, cacheReadTokens: 0, cacheWriteTokens: 0 };

const capsuleSchema = z.object({
  version: z.literal(1, 'is not known here'),
  sessionId: z.string(),
  messages: z.custom<readonly Message[]>(Array.isArray, 'must be a list'),
  reply: z.custom<AssistantMessage>(
    (reply) => typeof reply === 'object' && reply !== null && 'blocks' in reply,
    'is missing',
  ),
  outcomes: z.custom<AgentCapsule['outcomes']>(Array.isArray, 'must be a list'),
  request: z.custom<PermissionRequest>(
    (request) => typeof request === 'object' && request !== null && 'callId' in request,
    'is missing',
  ),
});

/** Checks a capsule that was stored. */
export function parseAgentCapsule(capsule: unknown): AgentCapsule {
  return parseArgument('resumeAgent', typeof capsule === 'string' ? parseJson(capsule) : capsule, capsuleSchema);
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new TypeError('resumeAgent: the capsule is not JSON.', { cause });
  }
}

/** Takes an answer to a permission prompt, also from untyped callers. */
export function parsePermissionAnswer(caller: string, answer: unknown): PermissionAnswer {
  if (typeof answer === 'boolean') return { behavior: answer ? 'allow' : 'deny' };
  if (isPermissionAnswer(answer)) return answer;
  throw new TypeError(`${caller}: answer must be true, false, or { behavior: 'allow' | 'deny' }.`);
}

/** The reply of the current turn and the calls that have ended, for a capsule. */
export type CapsuleTurnRecord = {
  onEvent(event: AgentEvent): void;
  /** Adds the outcome of a call that has ended; asked last, it gets what the model gets. */
  readonly afterCall: NonNullable<Feature['afterCall']>;
  /** Resolves when the reply is complete. */
  whenComplete(): Promise<unknown>;
  /** Creates a capsule for a question of the current turn. */
  capture(sessionId: string, messages: readonly Message[], request: PermissionRequest): AgentCapsule;
};

/** Creates the record of the current turn. */
export function createCapsuleTurnRecorder(): CapsuleTurnRecord {
  let blocks: readonly AssistantBlock[] = [];
  let reply: Omit<AssistantMessage, 'blocks' | 'role'> = { id: '', model: '' };
  let outcomes: AgentCapsule['outcomes'] = [];
  let complete = createDeferred<undefined>();
  return {
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
          reply = {
            ...reply,
            ...omitUndefined({ stopReason: event.stopReason, usage: event.usage }),
          };
          complete.resolve(undefined);
          break;
        default:
      }
    },
    async afterCall({ callId }, outcome) {
      outcomes = [...outcomes, { callId, outcome }];
      return {};
    },
    whenComplete: () => complete.promise,
    capture: (sessionId, messages, request) =>
      structuredClone({
        version: 1,
        sessionId,
        messages,
        reply: { role: 'assistant', ...reply, blocks },
        outcomes,
        request,
      }),
  };
}

/** The continuation of a capsule: its reply is played again, its finished calls keep their outcomes. */
export type CapsuleResumption = {
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
  resumption: CapsuleResumption | undefined,
  isSuspended: () => boolean,
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
