import { once } from 'node:events';
import { createServer } from 'node:http';
import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import { SSEServerTransport } from '@modelcontextprotocol/sdk/server/sse.js';
import { CallToolRequestSchema, ListToolsRequestSchema } from '@modelcontextprotocol/sdk/types.js';
import { serveMcpOverHttp } from '../../src/mcp/server/serve-mcp-over-http.ts';
import { CONFORMANCE_FEATURES } from '../support/conformance-features.ts';

type Remote = { readonly url: string; close(): Promise<void> };

/** A server of the present kind inside this process; one of its tools is `test_simple_text`. */
export const startPresent = (): Promise<Remote> =>
  serveMcpOverHttp(CONFORMANCE_FEATURES, { port: 0, token: undefined });

/** A server of the older kind inside this process, with a tool of the same name. */
export async function startOld(): Promise<Remote> {
  const open = new Map<string, SSEServerTransport>();
  const http = createServer(async (request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? '/', 'http://127.0.0.1');
    if (request.method === 'POST') {
      const transport = open.get(searchParams.get('sessionId') ?? '');
      if (pathname !== '/messages' || transport === undefined) return response.writeHead(404).end();
      return transport.handlePostMessage(request, response);
    }
    const transport = new SSEServerTransport('/messages', response);
    open.set(transport.sessionId, transport);
    const server = new Server({ name: 'old', version: '1' }, { capabilities: { tools: {} } });
    server.setRequestHandler(ListToolsRequestSchema, () => ({
      tools: [{ name: 'test_simple_text', inputSchema: { type: 'object' } }],
    }));
    server.setRequestHandler(CallToolRequestSchema, () => ({
      content: [{ type: 'text', text: 'This is a simple text response for testing.' }],
    }));
    return server.connect(transport);
  }).listen(0, '127.0.0.1');
  await once(http, 'listening');
  const address = http.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  return {
    url: `http://127.0.0.1:${port}/sse`,
    async close() {
      http.closeAllConnections();
      await new Promise((resolve) => http.close(resolve));
    },
  };
}
