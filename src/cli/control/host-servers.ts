import type { HostMcpServer } from '../../contracts/face/host.ts';
import { isJsonObject, type JsonObject } from '../../contracts/json.ts';
import type { Outbox } from './outbox.ts';

/** MCP servers inside the host's process, by name. */
export type HostServers = {
  /** The server of that name; asked twice it is the same one. */
  server(name: string): HostMcpServer;
  /** A message that the host's server sends on its own; false when nobody knows the server. */
  deliver(name: string, message: JsonObject): boolean;
};

export function createHostServers(outbox: Outbox): HostServers {
  const servers = new Map<string, { readonly server: HostMcpServer; readonly listeners: Set<Listener> }>();

  function create(name: string) {
    const listeners = new Set<Listener>();
    const server: HostMcpServer = {
      name,
      async send(message) {
        const answer = await outbox.ask({ subtype: 'mcp_message', server_name: name, message });
        return isJsonObject(answer.mcp_response) ? answer.mcp_response : undefined;
      },
      onMessage: (listener) => void listeners.add(listener),
    };
    return { server, listeners };
  }

  return {
    server(name) {
      const entry = servers.get(name) ?? create(name);
      servers.set(name, entry);
      return entry.server;
    },
    deliver(name, message) {
      const entry = servers.get(name);
      for (const listener of entry?.listeners ?? []) listener(message);
      return entry !== undefined;
    },
  };
}

type Listener = (message: JsonObject) => void;
