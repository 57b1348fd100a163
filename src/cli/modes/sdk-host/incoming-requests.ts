import { z } from 'zod';
import type { CliRunOptions } from '../../../contracts/frontend/cli-run-options.ts';
import type { Conversation } from '../../../contracts/frontend/conversation.ts';
import type { McpServerState } from '../../../contracts/frontend/host-capabilities.ts';
import type { JsonObject } from '../../../contracts/json.ts';
import { getErrorMessage } from '../../../lib/errors.ts';
import { formatModelCost, formatTokens } from '../../../lib/text/format.ts';
import { describeModelUsage } from '../../stream-json/run-result.ts';
import {
  type ControlHandler,
  type ControlHandlerContext,
  createControlHandler,
  jsonObjectSchema,
  noParametersSchema,
  UnsupportedRequest,
  unwrapActionResult,
} from './control-handler.ts';
import type { ControlRequestSender } from './control-request-sender.ts';
import { createHostMcpServers, formatMcpServerRule } from './host-mcp-servers.ts';
import { applyInitialize, createInitializeResponse, describeUnknownFields } from './initialize.ts';
import type { ControlRequest } from './input-lines.ts';
import type { LazyConversation } from './lazy-conversation.ts';

import { modelControlHandlers, sessionControlHandlers } from './session-requests.ts';

/** The connection to the host that control requests are answered on. */
export type ControlDispatcherDeps = {
  readonly outgoing: ControlRequestSender;
  readonly write: (line: JsonObject) => void;
  readonly warn: (text: string) => void;
  readonly pid: number;
  /** The initialize request brings the MCP servers, not the command line. */
  readonly awaitsInitialize: boolean;
};

/** Creates the dispatcher of the control requests of a host, which opens the conversation at the first of them. */
export function createControlDispatcher(
  options: CliRunOptions,
  lazyConversation: LazyConversation,
  { outgoing, write, warn, pid, awaitsInitialize }: ControlDispatcherDeps,
) {
  const servers = createHostMcpServers(outgoing);
  /** The initialize request the conversation was opened with. */
  let acceptedRequest: string | undefined;
  /** Set after a failed initialize request: a run without the requested options would be a different run. */
  let refusal: string | undefined;
  /** Background tasks survive an interrupt only when the host can stop each of them itself. */
  let background: 'stop' | 'keep' = 'stop';

  function respond(id: string, response: JsonObject): void {
    write({ type: 'control_response', response: { subtype: 'success', request_id: id, response } });
  }

  function respondError(id: string, error: string): void {
    write({ type: 'control_response', response: { subtype: 'error', request_id: id, error } });
  }

  async function initialize(request: JsonObject): Promise<JsonObject> {
    const serialized = JSON.stringify(request);
    if (lazyConversation.isStarted()) {
      // A host may repeat the same request. A different one cannot take effect any more.
      if (acceptedRequest !== serialized)
        throw new Error('The conversation is already open: initialize must come first.');
      return createInitializeResponse((await lazyConversation.open(options)).conversation, request, pid);
    }
    const newOptions = applyInitialize(options, request, outgoing, servers);
    refusal = undefined;
    acceptedRequest = serialized;
    const warning = describeUnknownFields(request);
    if (warning !== undefined) warn(warning);
    if (request.perTaskStopAffordance === true) background = 'keep';
    const { conversation } = await lazyConversation.open(newOptions);
    if (typeof request.title === 'string' && request.title.trim() !== '') await conversation.rename(request.title);
    const response = await createInitializeResponse(conversation, request, pid);
    const hasAppliedServers = awaitsInitialize && request.mcpServers !== undefined;
    return { ...response, ...(hasAppliedServers ? { mcp_servers_applied: true } : {}) };
  }

  async function runHandler(request: ControlRequest['request']): Promise<JsonObject> {
    const handler = CONTROL_REQUEST_HANDLERS.get(request.subtype);
    if (handler === undefined) throw new UnsupportedRequest(request.subtype);
    const { conversation, hostConversation } = await lazyConversation.open(options);
    return handler(request, { conversation, servers, ids: hostConversation.ids });
  }

  return {
    respondError,
    /** Returns the error of a failed initialize request, which no user message may ignore. */
    refusal: () => refusal,
    async handle({ request_id: id, request }: ControlRequest): Promise<void> {
      const { subtype } = request;
      try {
        respond(id, subtype === 'initialize' ? await initialize(request) : await runHandler(request));
      } catch (thrown) {
        if (subtype === 'initialize' && !lazyConversation.isStarted())
          refusal = `initialize failed: ${getErrorMessage(thrown)}`;
        respondError(id, thrown instanceof UnsupportedRequest ? `unsupported: ${subtype}` : getErrorMessage(thrown));
      }
    },
    /** Stops the run. A run that is about to start is stopped after it has started, through `enqueue`. */
    interrupt({ request_id: id, request }: ControlRequest, enqueue: (action: () => void) => void): void {
      const stop = () => {
        const queue = request.cancel_queued === true ? 'clear' : 'keep';
        const hostConversation = lazyConversation.getHostConversation();
        if (hostConversation === undefined) respond(id, { still_queued: [] });
        else hostConversation.interrupt({ queue, background }, (receipt) => respond(id, receipt));
      };
      if (lazyConversation.getHostConversation()?.isRunning() === true) {
        stop();
        return;
      }
      // A slash command such as /compact may run between two runs; queued lines wait for its end.
      lazyConversation.getHostConversation()?.stopCommand();
      enqueue(stop);
    },
  };
}

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
const mcpControlHandlers: Readonly<Record<string, ControlHandler>> = {
  mcp_status: createControlHandler(noParametersSchema, (_, context) => ({
    mcpServers: listServerStates(context).map((state) => ({ ...state })),
  })),
  mcp_reconnect: createControlHandler(z.object({ serverName: z.string() }), async ({ serverName }, context) =>
    unwrapActionResult(await context.conversation.control.reconnectMcp(serverName)),
  ),
  mcp_toggle: createControlHandler(
    z.object({ serverName: z.string(), enabled: z.boolean() }),
    async ({ serverName, enabled }, context) =>
      unwrapActionResult(await context.conversation.control.toggleMcp(serverName, enabled ? 'on' : 'off')),
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
      return { ...(await context.conversation.control.setMcpServers(Object.fromEntries(external), hosted)) };
    },
  ),
  mcp_read_resource: createControlHandler(
    z.object({ serverName: z.string(), uri: z.string().startsWith('ui://', 'must be a ui:// URI') }),
    async ({ serverName, uri }, context) => ({
      contents: await context.conversation.control.readMcpResource(serverName, uri),
    }),
  ),
  set_mcp_permission_mode_override: createControlHandler(
    z.object({ serverName: z.string(), mode: z.enum(['default', 'auto']).nullable() }),
    async ({ serverName, mode }, context) => {
      const type = mode === null ? 'removeRules' : 'addRules';
      const rules = [formatMcpServerRule(serverName)];
      unwrapActionResult(
        await context.conversation.control.updatePermissions([
          { type, rules, behavior: 'ask', destination: 'session' },
        ]),
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
  return conversation.control.mcpServers();
}

/** Handlers for token usage and cost. */
const usageControlHandlers: Readonly<Record<string, ControlHandler>> = {
  get_context_usage: createControlHandler(noParametersSchema, (_, { conversation }) =>
    describeContextUsage(conversation),
  ),
  get_session_cost: createControlHandler(noParametersSchema, (_, { conversation }) => {
    const { costUsd, total, isComplete } = conversation.usage();
    const tokens = `${formatTokens(total.inputTokens)} in, ${formatTokens(total.outputTokens)} out`;
    return { text: `${formatModelCost(costUsd, { isComplete })}, ${tokens}`, total_cost_usd: costUsd };
  }),
  get_usage: createControlHandler(noParametersSchema, (_, { conversation }) => {
    const report = conversation.usage();
    return {
      session: {
        total_cost_usd: report.costUsd,
        total_api_duration_ms: report.apiMs,
        total_duration_ms: report.elapsedMs,
        total_lines_added: Math.max(0, report.lines.added),
        total_lines_removed: Math.max(0, report.lines.removed),
        model_usage: describeModelUsage(report),
      },
      subscription_type: null,
      rate_limits_available: false,
      rate_limits: null,
      behaviors: null,
    };
  }),
};

const COLORS = ['blue', 'cyan', 'green', 'magenta', 'yellow', 'red'];
const GRID_COLUMNS = 10;

async function describeContextUsage(conversation: Conversation): Promise<JsonObject> {
  const usage = await conversation.contextUsage();
  const free = Math.max(0, usage.maxTokens - usage.totalTokens);
  const used = usage.categories.map(({ name, tokens }, index) => ({
    name,
    tokens,
    color: COLORS[index % COLORS.length] ?? 'blue',
    kind: 'used',
  }));
  const categories = [...used, { name: 'Free space', tokens: free, color: 'gray', kind: 'free', id: 'free_space' }];
  return {
    categories,
    totalTokens: usage.totalTokens,
    maxTokens: usage.maxTokens,
    rawMaxTokens: usage.maxTokens,
    percentage: Math.round((100 * usage.totalTokens) / Math.max(1, usage.maxTokens)),
    gridRows: createGrid(categories, usage.maxTokens),
    model: usage.model,
    memoryFiles: [],
    mcpTools: [],
    agents: [],
    isAutoCompactEnabled: true,
    apiUsage: null,
  };
}

type Category = { readonly name: string; readonly tokens: number; readonly color: string; readonly kind: string };

/** Creates a grid of a hundred squares, one per percent of the context window. */
function createGrid(categories: readonly Category[], maxTokens: number): readonly (readonly JsonObject[])[] {
  const squares = categories.flatMap((category) => {
    const share = category.tokens / Math.max(1, maxTokens);
    const square = {
      color: category.color,
      isFilled: category.kind === 'used',
      categoryName: category.name,
      tokens: category.tokens,
      percentage: Math.round(100 * share),
      squareFullness: 1,
    };
    return Array.from({ length: Math.round(100 * share) }, () => square);
  });
  const rows = Math.ceil(Math.min(100, squares.length) / GRID_COLUMNS);
  return Array.from({ length: rows }, (_, row) => squares.slice(row * GRID_COLUMNS, (row + 1) * GRID_COLUMNS));
}

/** The handlers of all requests a host may make in an open conversation; any other request is unsupported. @internal */
export const CONTROL_REQUEST_HANDLERS: ReadonlyMap<string, ControlHandler> = new Map(
  Object.entries({
    ...modelControlHandlers,
    ...usageControlHandlers,
    ...mcpControlHandlers,
    ...sessionControlHandlers,
  }),
);
