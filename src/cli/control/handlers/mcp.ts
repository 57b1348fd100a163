import { z } from 'zod';
import type { McpServerState } from '../../../contracts/face/host.ts';
import type { JsonObject } from '../../../contracts/json.ts';
import { answerOf, type Handler, type HandlerContext, handler, jsonObject, member, nothing } from '../handler.ts';
import { serverRule } from '../host-policy.ts';

const sdkServer = z.looseObject({ type: z.literal('sdk') });

const otherServer = z.object({
  type: z.enum(['stdio', 'http', 'sse']).optional(),
  command: z.string().optional(),
  args: z.array(z.string()).optional(),
  env: z.record(z.string(), z.string()).optional(),
  url: z.string().optional(),
  headers: z.record(z.string(), z.string()).optional(),
  timeout: z.number().optional(),
});

/** MCP servers: those of the settings, and those that live in the host. */
export const mcpHandlers: Readonly<Record<string, Handler>> = {
  mcp_status: handler(nothing, (_, context) => ({ mcpServers: statesOf(context).map((state) => ({ ...state })) })),
  mcp_reconnect: handler(z.object({ serverName: z.string() }), async ({ serverName }, context) =>
    answerOf(await member(context, 'reconnectMcp')(serverName)),
  ),
  mcp_toggle: handler(
    z.object({ serverName: z.string(), enabled: z.boolean() }),
    async ({ serverName, enabled }, context) =>
      answerOf(await member(context, 'toggleMcp')(serverName, enabled ? 'on' : 'off')),
  ),
  mcp_set_servers: handler(
    z.object({ servers: z.record(z.string(), z.union([sdkServer, otherServer])) }),
    async ({ servers }, context) => {
      const all = Object.entries(servers);
      const hosted = all.filter(([, config]) => config.type === 'sdk').map(([name]) => context.servers.server(name));
      const others = all.flatMap(([name, config]) => {
        const read = otherServer.safeParse(config);
        return read.success ? [[name, read.data] as const] : [];
      });
      return { ...(await member(context, 'setMcpServers')(Object.fromEntries(others), hosted)) };
    },
  ),
  mcp_read_resource: handler(
    z.object({ serverName: z.string(), uri: z.string().startsWith('ui://', 'must be a ui:// address') }),
    async ({ serverName, uri }, context) => ({
      contents: await member(context, 'readMcpResource')(serverName, uri),
    }),
  ),
  set_mcp_permission_mode_override: handler(
    z.object({ serverName: z.string(), mode: z.enum(['default', 'auto']).nullable() }),
    async ({ serverName, mode }, context) => {
      const type = mode === null ? 'removeRules' : 'addRules';
      const rules = [serverRule(serverName)];
      answerOf(await member(context, 'updatePermissions')([{ type, rules, behavior: 'ask', destination: 'session' }]));
      const isKnown = statesOf(context).some(({ name }) => name === serverName);
      return isKnown ? {} : { warning: `There is no MCP server ${serverName} yet; it holds once there is.` };
    },
  ),
  mcp_message: handler(
    z.object({ server_name: z.string(), message: jsonObject }),
    ({ server_name: name, message }, { servers }): JsonObject => {
      if (!servers.deliver(name, message)) throw new Error(`There is no MCP server of the host called ${name}.`);
      return {};
    },
  ),
};

function statesOf({ conversation }: HandlerContext): readonly Omit<McpServerState, 'status'>[] {
  return conversation.control?.mcpServers?.() ?? conversation.info().mcpServers;
}
