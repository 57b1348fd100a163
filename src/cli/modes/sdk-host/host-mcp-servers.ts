import type { HostMcpServer } from '../../../contracts/frontend/host-capabilities.ts';
import { isJsonObject, type JsonObject } from '../../../contracts/json.ts';
import type { ControlRequestSender } from './control-request-sender.ts';

/** The MCP servers inside the host process, by name. */
export type HostMcpServers = {
  /** Returns the server of that name; the same one for every call. */
  getServer(name: string): HostMcpServer;
  /** Delivers a message sent by a server of the host; returns false for an unknown server. */
  deliver(name: string, message: JsonObject): boolean;
};

/** Creates the MCP servers of a host, which are reached through control requests. */
export function createHostMcpServers(outgoing: ControlRequestSender): HostMcpServers {
  const entries = new Map<string, { readonly server: HostMcpServer; readonly listeners: Set<Listener> }>();

  function create(name: string) {
    const listeners = new Set<Listener>();
    const server: HostMcpServer = {
      name,
      async send(message) {
        const response = await outgoing.send({ subtype: 'mcp_message', server_name: name, message });
        return isJsonObject(response.mcp_response) ? response.mcp_response : undefined;
      },
      onMessage: (listener) => void listeners.add(listener),
    };
    return { server, listeners };
  }

  return {
    getServer(name) {
      const entry = entries.get(name) ?? create(name);
      entries.set(name, entry);
      return entry.server;
    },
    deliver(name, message) {
      const entry = entries.get(name);
      for (const listener of entry?.listeners ?? []) listener(message);
      return entry !== undefined;
    },
  };
}

type Listener = (message: JsonObject) => void;
