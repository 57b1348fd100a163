import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import { JSONRPCMessageSchema } from '@modelcontextprotocol/sdk/types.js';
import type { HostMcpServer } from '../../contracts/frontend/host-capabilities.ts';
import type { JsonObject } from '../../contracts/json.ts';
import { getErrorMessage } from '../../lib/errors.ts';
import { copyAsJson, omitUndefined } from '../../lib/json.ts';
import { fetch } from '../../lib/network/fetch.ts';
import { RUN_PROCESS_MARKER } from '../../lib/processes/process-markers.ts';
import { resolveUndefinedOnAbort } from '../../lib/promises.ts';
import { splitWords } from '../../lib/text/lines.ts';
import { sanitizeUntrustedLine } from '../../lib/text/sanitize.ts';
import { createStoredMcpAuth, isUnauthorized, type StoredMcpAuth } from '../auth/stored-login-provider.ts';
import type { ConfiguredMcpServer } from '../configured-mcp-server.ts';
import type { McpServerToolsOptions } from '../tools.ts';
import type { McpHubDeps } from './hub-deps.ts';
import { EMPTY_MCP_SERVER_CATALOG, fetchMcpCatalogPart, type McpServerCatalog } from './mcp-server-catalog.ts';
import {
  type McpServerConnection,
  type McpServerConnectionOptions,
  openMcpServerConnection,
} from './mcp-server-connection.ts';
import type { McpServerEvent } from './mcp-server-lifecycle.ts';
import { createStdioTransport, type TransportHandle } from './stdio-transport.ts';

/** The result of an attempt to start; a connected server may still have pending lists. */
export type McpServerStartResult =
  | (Omit<Extract<McpServerEvent, { type: 'connected' }>, 'atMs'> & {
      readonly pendingLists: readonly PendingMcpList[];
    })
  | Extract<McpServerEvent, { type: 'needs-auth' | 'failed' }>;

/** The listeners and limits of the connection to start. */
export type McpServerStartListeners = Pick<
  McpServerConnectionOptions,
  | 'onListChanged'
  | 'onResourceChanged'
  | 'onClosed'
  | 'onListTruncated'
  | 'onDeclined'
  | 'onSampled'
  | 'onVisited'
  | 'callTimeoutMs'
>;

/** A requested list that did not arrive within its limit. */
export type PendingMcpList = { readonly kind: 'tools' | 'prompts'; readonly list: Promise<Partial<McpServerCatalog>> };

const LIST_WAITS = { toolsMs: 5_000, promptsMs: 1_000 };
const START_ERROR_CHARS = 600;
const LIST_ERROR_CHARS = 300;

/** Starts a server and fetches its lists within the limit; a late list is returned as pending. */
export async function startMcpServer(
  server: ConfiguredMcpServer,
  deps: McpHubDeps,
  catalogOptions: McpServerToolsOptions,
  listeners: McpServerStartListeners,
  limitMs: number,
  signal: AbortSignal,
): Promise<McpServerStartResult> {
  const limit = AbortSignal.timeout(limitMs);
  const { cwd, ouroHome, variables, getExtraVariables } = deps;
  const auth = await createStoredMcpAuth(server, {
    cwd,
    ouroHome,
    env: () => buildMcpServerEnvironment(variables, { ...getExtraVariables?.() }),
  });
  const { transport, describeExit, adviseOnSandbox } = await openMcpTransport(server, deps, auth);
  let connection: McpServerConnection;
  try {
    connection = await openMcpServerConnection(
      {
        ...listeners,
        transport,
        describeExit,
        server: server.name,
        file: server.file,
        version: deps.version,
        getRoots: deps.getRoots,
        ask: deps.ask,
        sample: deps.sample,
        getSamplingVerdict: () => deps.getSamplingVerdict?.(server.name),
        isRemote: server.launch.kind === 'http' || server.launch.kind === 'sse',
      },
      AbortSignal.any([signal, limit]),
    );
  } catch (thrown) {
    // Read before the close, which would set an end reason itself.
    const reason = limit.aborted
      ? describeTimeout(limitMs, describeExit())
      : (describeExit() ?? getErrorMessage(thrown));
    await transport.close();
    if (isUnauthorized(thrown)) return { type: 'needs-auth' };
    // Servers of the older SSE transport refuse this request and listen at the same address.
    const { launch } = server;
    if (launch.kind === 'http' && SSE_FALLBACK_STATUSES.some((code) => hasCode(thrown, code)) && !limit.aborted)
      return startMcpServer(
        { ...server, launch: { ...launch, kind: 'sse' } },
        deps,
        catalogOptions,
        listeners,
        limitMs,
        signal,
      );
    return {
      type: 'failed',
      problem: addAdvice(sanitizeUntrustedLine(reason, START_ERROR_CHARS), adviseOnSandbox?.()),
    };
  }
  try {
    const request = (kind: PendingMcpList['kind']) => ({
      kind,
      list: fetchMcpCatalogPart(connection, catalogOptions, kind),
    });
    const [tools, prompts] = [request('tools'), request('prompts')];
    const { toolsMs, promptsMs } = deps.listWaits ?? LIST_WAITS;
    const createLimit = (ms: number) => AbortSignal.any([signal, AbortSignal.timeout(Math.min(ms, limitMs))]);
    const [listedTools, listedPrompts] = await Promise.all([
      resolveUndefinedOnAbort(tools.list, createLimit(toolsMs)),
      resolveUndefinedOnAbort(prompts.list, createLimit(promptsMs)),
    ]);
    const pendingLists = [
      ...(listedTools === undefined ? [tools] : []),
      ...(listedPrompts === undefined ? [prompts] : []),
    ];
    return {
      type: 'connected',
      connection,
      catalog: { ...EMPTY_MCP_SERVER_CATALOG, ...listedTools, ...listedPrompts },
      pendingLists,
    };
  } catch (thrown) {
    const reason = describeExit() ?? getErrorMessage(thrown);
    await connection.close();
    if (isUnauthorized(thrown)) return { type: 'needs-auth' };
    return { type: 'failed', problem: `cannot list its tools: ${sanitizeUntrustedLine(reason, LIST_ERROR_CHARS)}` };
  }
}

const addAdvice = (reason: string, advice: string | undefined) =>
  advice === undefined ? reason : `${reason.replace(/[.;]$/, '')}; ${advice}`;

/** Statuses that make a start fall back to the SSE transport. */
const SSE_FALLBACK_STATUSES = [400, 404, 405];

function hasCode(thrown: unknown, code: number): boolean {
  return thrown instanceof Error && 'code' in thrown && thrown.code === code;
}

function describeTimeout(limitMs: number, end: string | undefined): string {
  const message = `did not answer within ${limitMs / 1000} s`;
  return end === undefined ? message : `${message}: ${end}`;
}

/** Dependencies of a transport. */
type TransportOptions = Pick<
  McpHubDeps,
  'cwd' | 'variables' | 'getExtraVariables' | 'ledger' | 'newMarker' | 'probeIntervalMs' | 'checkProgram'
>;

/** Opens the transport to a server; the HTTP transports are loaded when the first server needs one. */
async function openMcpTransport(
  { launch }: ConfiguredMcpServer,
  options: TransportOptions,
  auth: StoredMcpAuth | undefined,
): Promise<TransportHandle> {
  const describeExit = () => undefined;
  switch (launch.kind) {
    case 'host':
      return { transport: createHostTransport(launch.server), describeExit };
    case 'stdio':
      return createStdioTransport({
        command: launch.command,
        args: launch.args,
        cwd: options.cwd,
        env: buildMcpServerEnvironment(options.variables, { ...options.getExtraVariables?.(), ...launch.env }),
        entryVariables: Object.keys(launch.env),
        ...omitUndefined({ sandbox: launch.sandbox }),
        marker: options.newMarker(),
        ledger: options.ledger,
        check: options.checkProgram,
        use: 'serves',
        probeIntervalMs: options.probeIntervalMs,
      });
    case 'sse': {
      const [{ SSEClientTransport }, { createLimitedResponseFetch }] = await Promise.all([
        import('@modelcontextprotocol/sdk/client/sse.js'),
        import('./limited-response-fetch.ts'),
      ]);
      const limitedFetch = createLimitedResponseFetch(auth?.fetch ?? fetch, () => undefined);
      const sseOptions = { ...auth, fetch: limitedFetch, requestInit: { headers: launch.headers } };
      return { transport: new SSEClientTransport(new URL(launch.url), sseOptions), describeExit };
    }
    default: {
      const [{ StreamableHTTPClientTransport }, { createMcpSessionTransport }] = await Promise.all([
        import('@modelcontextprotocol/sdk/client/streamableHttp.js'),
        import('./http-session.ts'),
      ]);
      const url = new URL(launch.url);
      const httpOptions = { ...auth, requestInit: { headers: launch.headers } };
      return {
        transport: createMcpSessionTransport(
          (limitedFetch) => new StreamableHTTPClientTransport(url, { ...httpOptions, fetch: limitedFetch }),
          auth?.fetch,
        ),
        describeExit,
      };
    }
  }
}

function createHostTransport(server: HostMcpServer): Transport {
  let isOpen = false;
  const receive = (message: JsonObject) => {
    const parsed = JSONRPCMessageSchema.safeParse(message);
    if (isOpen && parsed.success) transport.onmessage?.(parsed.data);
  };
  const transport: Transport = {
    async start() {
      isOpen = true;
      server.onMessage(receive);
    },
    async send(message) {
      const reply = await server.send(copyAsJson(message));
      // Some hosts answer a notification with an empty object, which the schema drops.
      if (reply !== undefined) receive(reply);
    },
    async close() {
      if (!isOpen) return;
      isOpen = false;
      transport.onclose?.();
    },
  };
  return transport;
}

/** Variables every server gets; any other variable must be in its entry. */
const INHERITED_NAMES: readonly string[] = [
  // Detached processes of a server are found by it.
  RUN_PROCESS_MARKER,
  // Display, SSH agent, container hosts and account names; none of them is a secret itself.
  ...splitWords(`
    AWS_PROFILE AWS_REGION DBUS_SESSION_BUS_ADDRESS DISPLAY DOCKER_CONTEXT DOCKER_HOST KUBECONFIG SSH_AUTH_SOCK
    WAYLAND_DISPLAY HOME LANG LANGUAGE LOGNAME NODE_EXTRA_CA_CERTS PATH SHELL SSL_CERT_DIR SSL_CERT_FILE TERM TEMP TMP
    TMPDIR TZ USER HTTP_PROXY HTTPS_PROXY NO_PROXY http_proxy https_proxy no_proxy
  `),
  // Windows
  ...splitWords(`
    APPDATA COMSPEC HOMEDRIVE HOMEPATH LOCALAPPDATA PATHEXT PROGRAMDATA PROGRAMFILES SYSTEMDRIVE SYSTEMROOT USERNAME
    USERPROFILE
  `),
];
const INHERITED_PREFIXES = ['LC_', 'XDG_'];

/** Builds the environment of a server: a short list of the user's variables, and those of its entry. */
function buildMcpServerEnvironment(
  variables: Readonly<Record<string, string>>,
  entryVariables: Readonly<Record<string, string>>,
): Record<string, string> {
  const inherited = Object.entries(variables).filter(
    ([name]) => INHERITED_NAMES.includes(name) || INHERITED_PREFIXES.some((prefix) => name.startsWith(prefix)),
  );
  return { ...Object.fromEntries(inherited), ...entryVariables };
}
