import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import { CallToolRequestSchema, ListToolsRequestSchema } from '@modelcontextprotocol/sdk/types.js';
import type { Conversation } from '../../contracts/face/conversation.ts';
import { asJson } from '../../lib/as-json.ts';

/** Offers our tools to another program over stdio. Resolves when it leaves. */
export async function serveMcp(conversation: Conversation): Promise<void> {
  const server = servedTools(conversation);
  const closed = Promise.withResolvers<void>();
  server.onclose = closed.resolve;
  process.stdin.once('end', () => void server.close());
  await server.connect(new StdioServerTransport());
  await closed.promise;
}

/**
 * Our tools as an MCP server. Nobody is asked: what the rules do not allow is refused.
 * @internal Exported for tests.
 */
export function servedTools({ control, info }: Conversation): Server {
  const server = new Server({ name: 'ouro', version: info().version }, { capabilities: { tools: {} } });
  server.setRequestHandler(ListToolsRequestSchema, () => ({
    tools: (control?.servedTools?.() ?? []).map(({ name, description, input_schema: schema }) => ({
      name,
      description,
      inputSchema: { ...schema, type: 'object' as const },
    })),
  }));
  server.setRequestHandler(CallToolRequestSchema, async ({ params }) => {
    const { end, text } = (await control?.callServed?.(params.name, asJson(params.arguments ?? {}))) ?? GONE;
    return { content: [{ type: 'text', text }], isError: end !== 'done' };
  });
  return server;
}

const GONE = { end: 'failed', text: 'ouro is leaving.' } as const;
