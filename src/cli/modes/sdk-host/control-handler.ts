import { z } from 'zod';
import type { Conversation } from '../../../contracts/frontend/conversation.ts';
import type { ActionResult } from '../../../contracts/frontend/host-capabilities.ts';
import type { JsonObject } from '../../../contracts/json.ts';
import type { HostMcpServers } from './host-mcp-servers.ts';
import type { HostMessageIdMap } from './host-output.ts';

/** The parts of a conversation that request handlers use. */
export type ControlHandlerContext = {
  readonly conversation: Conversation;
  readonly servers: HostMcpServers;
  readonly ids: HostMessageIdMap;
};

/** Handles one kind of control request; throws an error whose message becomes the error response. */
export type ControlHandler = (request: JsonObject, context: ControlHandlerContext) => Promise<JsonObject>;

/** Creates the handler of a request that is valid for a schema. */
export function createControlHandler<Request>(
  schema: z.ZodType<Request>,
  answer: (request: Request, context: ControlHandlerContext) => Promise<JsonObject> | JsonObject,
): ControlHandler {
  return async (request, context) => {
    const parsed = schema.safeParse(request);
    if (parsed.success) return answer(parsed.data, context);
    throw new Error(describeSchemaError(parsed.error));
  };
}

/** Returns the path and message of the first schema violation. */
export function describeSchemaError({ issues: [issue] }: z.ZodError): string {
  return `${issue?.path.join('.') || 'request'}: ${issue?.message ?? 'invalid'}`;
}

/** Schema of a request without parameters. */
export const noParametersSchema = z.object({});

/** Schema of any JSON object. */
export const jsonObjectSchema: z.ZodType<JsonObject> = z.record(z.string(), z.json());

/** Thrown for a request that is unknown, or that this conversation cannot handle. */
export class UnsupportedRequest extends Error {
  override readonly name = 'Unsupported';
}

/** Returns an empty response for a successful attempt; throws the reason of a failed one. */
export function unwrapActionResult(attempt: ActionResult): JsonObject {
  if (!attempt.ok) throw new Error(attempt.problem);
  return {};
}
