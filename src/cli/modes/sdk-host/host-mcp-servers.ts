import { z } from 'zod';
import type { CliRunOptions } from '../../../contracts/frontend/cli-run-options.ts';
import type { HostMcpServer } from '../../../contracts/frontend/host-capabilities.ts';
import { isJsonObject, type JsonObject } from '../../../contracts/json.ts';
import type { ControlRequestSender } from './control-request-sender.ts';

/** The MCP servers inside the host process, by name. */
export type HostMcpServers = ReturnType<typeof createHostMcpServers>;

/** Creates the MCP servers of a host, which are reached through control requests. */
export function createHostMcpServers(outgoing: ControlRequestSender) {
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
    /** Returns the server of that name; the same one for every call. */
    getServer(name: string): HostMcpServer {
      const entry = entries.get(name) ?? create(name);
      entries.set(name, entry);
      return entry.server;
    },
    /** Delivers a message sent by a server of the host; returns false for an unknown server. */
    deliver(name: string, message: JsonObject): boolean {
      const entry = entries.get(name);
      for (const listener of entry?.listeners ?? []) listener(message);
      return entry !== undefined;
    },
  };
}

type Listener = (message: JsonObject) => void;

/** The permission policies of the tools of one MCP server inside the host. */
export const serverToolPolicySchema = z.looseObject({
  tools: z.array(z.object({ name: z.string(), permission_policy: z.string().optional() })).catch([]),
});

type ServerConfigs = Readonly<Record<string, z.output<typeof serverToolPolicySchema>>>;

const policySchema = z.looseObject({
  permissions: z.looseObject({ deny: z.array(z.string()).catch([]), ask: z.array(z.string()).catch([]) }).catch({
    deny: [],
    ask: [],
  }),
});

/** Adds the `always_ask` and `always_deny` tools of the host's servers; a policy cannot allow. */
export function addHostToolPolicies(policy: string | undefined, configs: ServerConfigs): Pick<CliRunOptions, 'policy'> {
  const namedRules = Object.entries(configs).flatMap(([server, { tools }]) =>
    tools.map(({ name, permission_policy: toolPolicy }) => ({
      rule: `${formatMcpServerRule(server)}__${name}`,
      toolPolicy,
    })),
  );
  const listRules = (toolPolicy: string) =>
    namedRules.filter((entry) => entry.toolPolicy === toolPolicy).map(({ rule }) => rule);
  const [deny, ask] = [listRules('always_deny'), listRules('always_ask')];
  if (deny.length + ask.length === 0) return policy === undefined ? {} : { policy };
  const parsed = policySchema.parse(policy === undefined ? { permissions: {} } : JSON.parse(policy));
  const { permissions } = parsed;
  return {
    policy: JSON.stringify({
      ...parsed,
      permissions: { ...permissions, deny: [...permissions.deny, ...deny], ask: [...permissions.ask, ...ask] },
    }),
  };
}

/** Returns the permission rule that matches all tools of an MCP server. */
export function formatMcpServerRule(server: string): string {
  const normalizedName = server
    .replaceAll(/[^\w-]/g, '_')
    .replaceAll(/_+/g, '_')
    .replaceAll(/^_|_$/g, '');
  return `mcp__${normalizedName}`;
}
