import { z } from 'zod';
import type { Conversation } from '../../contracts/face/conversation.ts';
import type { Attempt, ControlPort } from '../../contracts/face/host.ts';
import type { JsonObject } from '../../contracts/json.ts';
import type { HostIds } from './host-ids.ts';
import type { HostServers } from './host-servers.ts';

/** What a handler may touch. */
export type HandlerContext = {
  readonly conversation: Conversation;
  readonly servers: HostServers;
  readonly ids: Pick<HostIds, 'messageOf' | 'queueOf'>;
};

/** Answers one kind of request; throws the sentence of an error response. */
export type Handler = (request: JsonObject, context: HandlerContext) => Promise<JsonObject>;

/** A handler behind its schema: what does not fit is an error, never a guess. */
export function handler<Request>(
  schema: z.ZodType<Request>,
  answer: (request: Request, context: HandlerContext) => Promise<JsonObject> | JsonObject,
): Handler {
  return async (request, context) => {
    const read = schema.safeParse(request);
    if (read.success) return answer(read.data, context);
    throw new Error(problemOf(read.error));
  };
}

/** The first thing that does not fit, with its place. */
export function problemOf({ issues: [issue] }: z.ZodError): string {
  return `${issue?.path.join('.') || 'request'}: ${issue?.message ?? 'not understood'}`;
}

export const nothing = z.object({});
export const jsonObject: z.ZodType<JsonObject> = z.record(z.string(), z.json());

/** Thrown when this conversation lacks what a request needs. */
export class Unsupported extends Error {
  override readonly name = 'Unsupported';
}

/** A member of the control port, or an error that says it is not there. */
export function member<Name extends keyof ControlPort>(context: HandlerContext, name: Name): ControlPort[Name] {
  const found: Partial<ControlPort>[Name] = context.conversation.control?.[name];
  if (found === undefined) throw new Unsupported(name);
  return found;
}

/** An attempt that failed becomes an error response. */
export function answerOf(attempt: Attempt): JsonObject {
  if (!attempt.ok) throw new Error(attempt.why);
  return {};
}
