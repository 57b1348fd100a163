import { z } from 'zod';
import type { McpServerState } from '../../../../contracts/frontend/host-capabilities.ts';
import type { JsonObject } from '../../../../contracts/json.ts';
import {
  createHandler,
  emptySchema,
  type Handler,
  type HandlerContext,
  jsonObjectSchema,
  requireControl,
  unwrapActionResult,
} from '../request-handler.ts';
import { formatServerRule } from '../server-tool-policy.ts';

const sdkServer = z.looseObject({ type: z.literal('sdk') });

const externalServer = z.object({
  type: z.enum(['stdio', 'http', 'sse']).optional(),
  command: z.string().optional(),
  args: z.array(z.string()).optional(),
  env: z.record(z.string(), z.string()).optional(),
  url: z.string().optional(),
  headers: z.record(z.string(), z.string()).optional(),
  timeout: z.number().optional(),
});

/** Handlers for MCP servers: those of the settings, and those inside the host process. */
export const mcpHandlers: Readonly<Record<string, Handler>> = {
  mcp_status: createHandler(emptySchema, (_, context) => ({
    mcpServers: listServerStates(context).map((state) => ({ ...state })),
  })),
  mcp_reconnect: createHandler(z.object({ serverName: z.string() }), async ({ serverName }, context) =>
    unwrapActionResult(await requireControl(context, 'reconnectMcp')(serverName)),
  ),
  mcp_toggle: createHandler(
    z.object({ serverName: z.string(), enabled: z.boolean() }),
    async ({ serverName, enabled }, context) =>
      unwrapActionResult(await requireControl(context, 'toggleMcp')(serverName, enabled ? 'on' : 'off')),
  ),
  mcp_set_servers: createHandler(
    z.object({ servers: z.record(z.string(), z.union([sdkServer, externalServer])) }),
    async ({ servers }, context) => {
      const entries = Object.entries(servers);
      const hosted = entries
        .filter(([, config]) => config.type === 'sdk')
        .map(([name]) => context.servers.getServer(name));
      const external = entries.flatMap(([name, config]) => {
        const parsed = externalServer.safeParse(config);
        return parsed.success ? [[name, parsed.data] as const] : [];
      });
      return { ...(await requireControl(context, 'setMcpServers')(Object.fromEntries(external), hosted)) };
    },
  ),
  mcp_read_resource: createHandler(
    z.object({ serverName: z.string(), uri: z.string().startsWith('ui://', 'must be a ui:// URI') }),
    async ({ serverName, uri }, context) => ({
      contents: await requireControl(context, 'readMcpResource')(serverName, uri),
    }),
  ),
  set_mcp_permission_mode_override: createHandler(
    z.object({ serverName: z.string(), mode: z.enum(['default', 'auto']).nullable() }),
    async ({ serverName, mode }, context) => {
      const type = mode === null ? 'removeRules' : 'addRules';
      const rules = [formatServerRule(serverName)];
      unwrapActionResult(
        await requireControl(context, 'updatePermissions')([{ type, rules, behavior: 'ask', destination: 'session' }]),
      );
      const isKnown = listServerStates(context).some(({ name }) => name === serverName);
      return isKnown
        ? {}
        : { warning: `There is no MCP server ${serverName} yet; the override applies once it exists.` };
    },
  ),
  mcp_message: createHandler(
    z.object({ server_name: z.string(), message: jsonObjectSchema }),
    ({ server_name: name, message }, { servers }): JsonObject => {
      if (!servers.deliver(name, message)) throw new Error(`The host has no MCP server named ${name}.`);
      return {};
    },
  ),
};

function listServerStates({ conversation }: HandlerContext): readonly Omit<McpServerState, 'status'>[] {
  return conversation.control?.mcpServers?.() ?? conversation.info().mcpServers;
}
