import { z } from 'zod';
import type { AssistantMessage, Message } from '../../contracts/message.ts';
import type { PermissionAnswer, PermissionRequest } from '../../contracts/permission.ts';
import type { ToolOutcome } from '../../contracts/tool.ts';
import { parseArgument } from '../../lib/parse-argument.ts';

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

/** Returns whether a value is an answer to a permission prompt. */
export function isPermissionAnswer(answer: unknown): answer is PermissionAnswer {
  if (typeof answer !== 'object' || answer === null || !('behavior' in answer)) return false;
  return answer.behavior === 'allow' || answer.behavior === 'deny';
}
