import type { ActionResult } from '../../contracts/frontend/host-capabilities.ts';
import type { JsonObject } from '../../contracts/json.ts';
import type { CallContext, ToolOutcome } from '../../contracts/tool.ts';
import { getErrorMessage } from '../../lib/errors.ts';
import { resolveUndefinedOnAbort } from '../../lib/promises.ts';
import { sanitizeUntrustedLine } from '../../lib/text/sanitize.ts';
import type { ConfiguredMcpServer } from '../configured-mcp-server.ts';
import type { McpServerToolsOptions } from '../tools.ts';
import type { McpListKind } from './create-mcp-client.ts';
import type { McpHubDeps } from './hub-deps.ts';
import { createMcpListUpdates } from './mcp-list-updates.ts';
import { fetchMcpCatalogPart } from './mcp-server-catalog.ts';
import type { McpServerConnection } from './mcp-server-connection.ts';
import { describeMcpUnavailability, type McpServerLifecycle } from './mcp-server-lifecycle.ts';
import { createMcpStateMachine, type McpStateMachine } from './mcp-state-machine.ts';
import type { McpServerStartListeners, McpServerStartResult } from './start-mcp-server.ts';

/** A server and its life cycle: started, lost, restarted, closed. */
export type ManagedMcpServer = {
  readonly server: ConfiguredMcpServer;
  getState(): McpServerLifecycle;
  /** Starts to connect; does nothing for a server that is started already or blocked. */
  start(): void;
  /** Resolves when it is connected or has failed. */
  whenSettled(): Promise<void>;
  /** Resolves when this list has been fetched or has failed. */
  whenListed(kind: McpListKind): Promise<void>;
  /** Waits for a pending connection; rejects with a message when there is none. */
  waitForConnection(signal: AbortSignal): Promise<McpServerConnection>;
  reconnect(): Promise<ActionResult>;
  /** Ends it at the user's request, until it is reconnected. */
  disable(): Promise<void>;
  /** Ends it until the next `start`. */
  stop(): Promise<void>;
  close(): Promise<void>;
};

const START_TIMEOUT_MS = 30_000;
const CALL_TIMEOUT_MS = 600_000;
const REASON_CHARS = 300;
const LATE_TOOLS = 'has not listed its tools yet; they become available when it does.';

/** Creates the life cycle of one server: runs its state machine and acts on the transitions. */
export function createManagedMcpServer(
  server: ConfiguredMcpServer,
  prefix: string,
  deps: McpHubDeps,
): ManagedMcpServer {
  const { name } = server;
  const startTimeoutMs = () => deps.getLimits?.().startMs ?? START_TIMEOUT_MS;
  const callTimeoutMs = () => server.callTimeoutMs ?? deps.getLimits?.().callMs ?? CALL_TIMEOUT_MS;
  /** Aborted when the server is stopped. */
  let lifetime = new AbortController();
  let starting: Promise<void> = Promise.resolve();
  const machine = createMcpStateMachine(server, deps, (afterMs) => {
    if (lifetime.signal.aborted) lifetime = new AbortController();
    starting = connect(afterMs, lifetime.signal);
  });
  const { getState, dispatch, notify } = machine;
  const lists = createMcpListUpdates(name, machine, deps.onChange);
  const toolsOptions: McpServerToolsOptions = { server: name, prefix, callTool };

  async function connect(afterMs: number, signal: AbortSignal): Promise<void> {
    if (afterMs > 0) await resolveUndefinedOnAbort(new Promise((resolve) => setTimeout(resolve, afterMs)), signal);
    if (signal.aborted) return;
    const started = await start(signal);
    if (started.type !== 'connected') return signal.aborted ? undefined : dispatch(started);
    if (signal.aborted) return started.connection.close();
    const { pendingLists, ...event } = started;
    dispatch({ ...event, atMs: performance.now() });
    for (const { kind, list } of pendingLists) lists.fetch(kind, () => list, signal);
    if (pendingLists.some(({ kind }) => kind === 'tools')) notify('warn', LATE_TOOLS);
  }

  async function start(signal: AbortSignal): Promise<McpServerStartResult> {
    const listeners: McpServerStartListeners = {
      callTimeoutMs,
      onListChanged: (kind) =>
        lists.refetch(kind, (connection) => fetchMcpCatalogPart(connection, toolsOptions, kind), signal),
      onClosed(problem) {
        if (!signal.aborted) dispatch({ type: 'lost', problem, atMs: performance.now() });
      },
      onListTruncated: (message) => notify('warn', message),
      onDeclined: (message) => notify('warn', message),
      onSampled: (message) => notify('info', message),
      onResourceChanged: (uri) => deps.onChange({ kind: 'resource', server: name, uri }),
      onVisited: (id) => deps.onChange({ kind: 'visited', server: name, id }),
    };
    try {
      // Imported on the first start: a session without servers does not load the SDK.
      const { startMcpServer } = await import('./start-mcp-server.ts');
      return await startMcpServer(server, deps, toolsOptions, listeners, startTimeoutMs(), signal);
    } catch (thrown) {
      return { type: 'failed', problem: sanitizeUntrustedLine(getErrorMessage(thrown), REASON_CHARS) };
    }
  }

  async function waitForConnection(signal: AbortSignal): Promise<McpServerConnection> {
    const limit = AbortSignal.any([signal, AbortSignal.timeout(startTimeoutMs())]);
    while (getState().phase.status === 'starting' && !limit.aborted) await resolveUndefinedOnAbort(starting, limit);
    const { phase } = getState();
    if (phase.status === 'connected') return phase.connection;
    throw new Error(`The MCP server ${name} ${describeMcpUnavailability(phase, server)}. The user can look at /mcp.`);
  }

  async function callTool(tool: string, input: JsonObject, context: CallContext): Promise<ToolOutcome> {
    const connection = await waitForConnection(context.signal);
    const { callMcpTool } = await import('./call-mcp-tool.ts');
    return callMcpTool(connection, tool, input, context, {
      server: name,
      file: server.file,
      callTimeoutMs: callTimeoutMs(),
      saveBytes: deps.saveBytes,
      onUnauthorized: () => disconnectForLogin(machine),
    });
  }

  async function whenSettled(): Promise<void> {
    if (getState().phase.status === 'starting') await starting;
  }

  async function close(): Promise<void> {
    lifetime.abort();
    const { phase } = getState();
    // A pending start sees the abort and closes its own connection.
    if (phase.status === 'starting') await starting;
    if (phase.status === 'connected') await phase.connection.close();
  }

  return {
    server,
    getState,
    start() {
      if (getState().phase.status === 'idle' && server.blocked === undefined) dispatch({ type: 'start' });
    },
    whenSettled,
    async whenListed(kind) {
      await whenSettled();
      await lists.whenFetched(kind);
    },
    waitForConnection,
    async reconnect() {
      if (server.blocked !== undefined && server.blocked.reason !== 'rejected')
        return { ok: false, problem: server.blocked.message };
      await close();
      dispatch({ type: 'start' });
      await starting;
      const { phase } = getState();
      return phase.status === 'connected'
        ? { ok: true }
        : { ok: false, problem: describeMcpUnavailability(phase, server) };
    },
    disable: () => close().then(() => dispatch({ type: 'switched-off' })),
    stop: () => close().then(() => dispatch({ type: 'stopped' })),
    close,
  };
}

/** Closes a connection that is unusable until the user has logged in. */
function disconnectForLogin({ getState, dispatch }: McpStateMachine): void {
  const { phase } = getState();
  // Before the close, so that its `onClosed` is not taken for a lost connection.
  dispatch({ type: 'needs-auth' });
  if (phase.status === 'connected') void phase.connection.close();
}
