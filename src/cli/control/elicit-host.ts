import { z } from 'zod';
import { isJsonObject } from '../../contracts/json.ts';
import type { UserAnswer, UserQuestion } from '../../contracts/tool.ts';
import { messageOf } from '../../lib/errors.ts';
import type { Outbox } from './outbox.ts';

type Elicitation = Extract<UserQuestion, { kind: 'elicitation' }>;

const elicited = z.object({
  action: z.enum(['accept', 'decline', 'cancel']),
  content: z.record(z.string(), z.json()).nullish(),
});

/** Hands the question of an MCP server to the host, a form or an address to visit. */
export async function elicitFromHost(
  outbox: Outbox,
  { server, message, wants }: Elicitation,
  signal: AbortSignal,
): Promise<UserAnswer> {
  const asked =
    wants.mode === 'url'
      ? { mode: 'url', url: wants.url, elicitation_id: wants.id }
      : {
          mode: 'form',
          requested_schema: wants.schema,
          ...(isJsonObject(wants.schema.properties) ? { property_order: Object.keys(wants.schema.properties) } : {}),
        };
  try {
    const request = { subtype: 'elicitation', mcp_server_name: server, message, ...asked };
    const { action, content } = elicited.parse(await outbox.ask(request, signal));
    return { kind: 'elicitation', action, ...(content == null ? {} : { content }) };
  } catch (thrown) {
    if (signal.aborted) return { kind: 'elicitation', action: 'cancel' };
    return { kind: 'elicitation', action: 'decline', reason: `The host did not answer: ${messageOf(thrown)}` };
  }
}
