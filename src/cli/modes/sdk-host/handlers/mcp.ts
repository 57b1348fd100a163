import { z } from 'zod';
import type { McpServerState } from '../../../../contracts/frontend/host-capabilities.ts';
import type { JsonObject } from '../../../../contracts/json.ts';
import {
  type ControlHandler,
  type ControlHandlerContext,
  createControlHandler,
  jsonObjectSchema,
  noParametersSchema,
  requireControlFunction,
  unwrapActionResult,
} from '../control-handler.ts';
import { formatMcpServerRule } from '../server-tool-policy.ts';

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
export const mcpControlHandlers: Readonly<Record<string, ControlHandler>> = {
  mcp_status: createControlHandler(noParametersSchema, (_, context) => ({
    mcpServers: listServerStates(context).map((state) => ({ ...state })),
  })),
  mcp_reconnect: createControlHandler(z.object({ serverName: z.string() }), async ({ serverName }, context) =>
    unwrapActionResult(await requireControlFunction(context, 'reconnectMcp')(serverName)),
  ),
  mcp_toggle: createControlHandler(
    z.object({ serverName: z.string(), enabled: z.boolean() }),
    async ({ serverName, enabled }, context) =>
      unwrapActionResult(await requireControlFunction(context, 'toggleMcp')(serverName, enabled ? 'on' : 'off')),
  ),
  mcp_set_servers: createControlHandler(
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
      return { ...(await requireControlFunction(context, 'setMcpServers')(Object.fromEntries(external), hosted)) };
    },
  ),
  mcp_read_resource: createControlHandler(
    z.object({ serverName: z.string(), uri: z.string().startsWith('ui://', 'must be a ui:// URI') }),
    async ({ serverName, uri }, context) => ({
      contents: await requireControlFunction(context, 'readMcpResource')(serverName, uri),
    }),
  ),
  set_mcp_permission_mode_override: createControlHandler(
    z.object({ serverName: z.string(), mode: z.enum(['default', 'auto']).nullable() }),
    async ({ serverName, mode }, context) => {
      const type = mode === null ? 'removeRules' : 'addRules';
      const rules = [formatMcpServerRule(serverName)];
      unwrapActionResult(
        await requireControlFunction(
          context,
          'updatePermissions',
        )([{ type, rules, behavior: 'ask', destination: 'session' }]),
      );
      const isKnown = listServerStates(context).some(({ name }) => name === serverName);
      return isKnown
        ? {}
        : { warning: `There is no MCP server ${serverName} yet; the override applies once it exists.` };
    },
  ),
  mcp_message: createControlHandler(
    z.object({ server_name: z.string(), message: jsonObjectSchema }),
    ({ server_name: name, message }, { servers }): JsonObject => {
      if (!servers.deliver(name, message)) throw new Error(`The host has no MCP server named ${name}.`);
      return {};
    },
  ),
};

function listServerStates({ conversation }: ControlHandlerContext): readonly Omit<McpServerState, 'status'>[] {
  return conversation.control?.mcpServers?.() ?? conversation.info().mcpServers;
}
