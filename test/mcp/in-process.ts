import { Server, type ServerOptions } from '@modelcontextprotocol/sdk/server/index.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import { JSONRPCMessageSchema } from '@modelcontextprotocol/sdk/types.js';
import type { HostMcpServer } from '../../src/contracts/frontend/host-capabilities.ts';
import type { JsonObject } from '../../src/contracts/json.ts';
import { copyAsJson } from '../../src/lib/json.ts';
import type { McpHubDeps } from '../../src/mcp/client/hub-deps.ts';
import { startHub } from './servers.ts';

/** A real server of the MCP library inside this process, as a host lends one; what it says reaches whoever listens. */
export function inProcess(options: ServerOptions, arrange: (server: Server) => void): HostMcpServer {
  const listeners: ((message: JsonObject) => void)[] = [];
  const server = new Server({ name: 'inside', version: '1' }, options);
  arrange(server);
  const transport: Transport = {
    start: async () => undefined,
    async send(message) {
      for (const receive of listeners) receive(copyAsJson(message));
    },
    close: async () => undefined,
  };
  void server.connect(transport);
  return {
    name: 'inside',
    async send(message) {
      transport.onmessage?.(JSONRPCMessageSchema.parse(message));
      return undefined;
    },
    onMessage: (receive) => void listeners.push(receive),
  };
}

/** A hub of this one server, connected. */
export async function hubInside(
  options: ServerOptions,
  arrange: (server: Server) => void,
  parts: Partial<McpHubDeps> = {},
) {
  const started = startHub([], { hostServers: [inProcess(options, arrange)], ...parts });
  await started.hub.whenSettled();
  return started;
}
