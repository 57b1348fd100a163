import type { ActionResult } from '../../contracts/frontend/host-capabilities.ts';
import { getErrorMessage } from '../../lib/errors.ts';
import { resolveUndefinedOnAbort } from '../../lib/promises.ts';
import { sanitizeUntrustedLine } from '../../lib/text/sanitize.ts';
import type { ConfiguredMcpServer } from '../configured-mcp-server.ts';
import type { McpServerToolsOptions } from '../tools.ts';
import type { McpListKind } from './create-mcp-client.ts';
import type { McpHubDeps } from './hub-deps.ts';
import { diffMcpTools, fetchMcpCatalogPart, type McpServerCatalog } from './mcp-server-catalog.ts';
import type { McpServerConnection } from './mcp-server-connection.ts';
import {
  describeMcpUnavailability,
  IDLE_MCP_SERVER,
  type McpServerEvent,
  type McpServerLifecycle,
  reduceMcpServerLifecycle,
} from './mcp-server-lifecycle.ts';
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
const BACKOFF_MS = 1_000;
const REASON_CHARS = 300;
const MIN_LIST_INTERVAL_MS = 500;
const LATE_TOOLS = 'has not listed its tools yet; they become available when it does.';

/** Creates the life cycle of one server: runs its state machine and acts on the transitions. */
export function createManagedMcpServer(
  server: ConfiguredMcpServer,
  prefix: string,
  deps: McpHubDeps,
): ManagedMcpServer {
  const startTimeoutMs = () => deps.getLimits?.().startMs ?? START_TIMEOUT_MS;
  const callTimeoutMs = () => server.callTimeoutMs ?? deps.getLimits?.().callMs ?? CALL_TIMEOUT_MS;
  /** Aborted when the server is stopped. */
  let lifetime = new AbortController();
  let starting: Promise<void> = Promise.resolve();
  const machine = createStateMachine(server, deps, (afterMs) => {
    if (lifetime.signal.aborted) lifetime = new AbortController();
    starting = connect(afterMs, lifetime.signal);
  });
  const { getState, dispatch, notify } = machine;
  const getConnection: ManagedMcpServer['waitForConnection'] = (signal) =>
    awaitConnection(server, getState, () => starting, AbortSignal.any([signal, AbortSignal.timeout(startTimeoutMs())]));
  const invokeTool: McpServerToolsOptions['callTool'] = async (tool, input, context) => {
    const connection = await getConnection(context.signal);
    const { callMcpTool } = await import('./call-mcp-tool.ts');
    return callMcpTool(connection, tool, input, context, {
      server: server.name,
      file: server.file,
      callTimeoutMs: callTimeoutMs(),
      saveBytes: deps.saveBytes,
      onUnauthorized: () => disconnectForLogin(machine),
    });
  };
  const catalogOptions: McpServerToolsOptions = { server: server.name, prefix, callTool: invokeTool };
  const lists = createListUpdater(server.name, machine, deps.onChange);

  async function connect(afterMs: number, signal: AbortSignal): Promise<void> {
    if (afterMs > 0) await resolveUndefinedOnAbort(new Promise((resolve) => setTimeout(resolve, afterMs)), signal);
    if (signal.aborted) return;
    const onClosed = (problem: string) => {
      if (!signal.aborted) dispatch({ type: 'lost', problem, atMs: performance.now() });
    };
    const onListChanged = (kind: McpListKind) =>
      lists.refetch(kind, (connection) => fetchMcpCatalogPart(connection, catalogOptions, kind), signal);
    const listeners = { callTimeoutMs, onListChanged, onClosed, ...createListeners(server.name, deps, notify) };
    // Imported on the first start: a session without servers does not load the SDK.
    const started = await import('./start-mcp-server.ts')
      .then(({ startMcpServer }) => startMcpServer(server, deps, catalogOptions, listeners, startTimeoutMs(), signal))
      .catch(
        (thrown): McpServerStartResult => ({
          type: 'failed',
          problem: sanitizeUntrustedLine(getErrorMessage(thrown), REASON_CHARS),
        }),
      );
    if (started.type !== 'connected') return signal.aborted ? undefined : dispatch(started);
    if (signal.aborted) return started.connection.close();
    const { pendingLists, ...event } = started;
    dispatch({ ...event, atMs: performance.now() });
    for (const { kind, list } of pendingLists) lists.fetch(kind, () => list, signal);
    if (pendingLists.some(({ kind }) => kind === 'tools')) notify('warn', LATE_TOOLS);
  }

  async function whenSettled(): Promise<void> {
    if (getState().phase.status === 'starting') await starting;
  }

  async function end(): Promise<void> {
    lifetime.abort();
    const { phase } = getState();
    // A pending start sees the abort and closes its own connection.
    if (phase.status === 'starting') await starting;
    if (phase.status === 'connected') await phase.connection.close();
  }

  async function reconnect(): Promise<ActionResult> {
    if (server.blocked !== undefined && server.blocked.reason !== 'rejected')
      return { ok: false, problem: server.blocked.message };
    await end();
    dispatch({ type: 'start' });
    await starting;
    const { phase } = getState();
    return phase.status === 'connected'
      ? { ok: true }
      : { ok: false, problem: describeMcpUnavailability(phase, server) };
  }

  return {
    server,
    getState: getState,
    start: () =>
      void (getState().phase.status === 'idle' && server.blocked === undefined && dispatch({ type: 'start' })),
    whenSettled,
    async whenListed(kind) {
      await whenSettled();
      await lists.whenFetched(kind);
    },
    waitForConnection: getConnection,
    reconnect,
    disable: () => end().then(() => dispatch({ type: 'switched-off' })),
    stop: () => end().then(() => dispatch({ type: 'stopped' })),
    close: end,
  };
}

/** Waits while the server is starting; throws with the reason when it does not connect. */
async function awaitConnection(
  server: ConfiguredMcpServer,
  getState: () => McpServerLifecycle,
  starting: () => Promise<void>,
  limit: AbortSignal,
): Promise<McpServerConnection> {
  while (getState().phase.status === 'starting' && !limit.aborted) await resolveUndefinedOnAbort(starting(), limit);
  const { phase } = getState();
  if (phase.status === 'connected') return phase.connection;
  throw new Error(
    `The MCP server ${server.name} ${describeMcpUnavailability(phase, server)}. The user can look at /mcp.`,
  );
}

/** Closes a connection that is unusable until the user has logged in. */
function disconnectForLogin({ getState, dispatch }: StateMachine): void {
  const { phase } = getState();
  // Before the close, so that its `onClosed` is not taken for a lost connection.
  dispatch({ type: 'needs-auth' });
  if (phase.status === 'connected') void phase.connection.close();
}

/** Creates the listeners that report a server's questions and changes. */
function createListeners(
  server: string,
  { onChange }: McpHubDeps,
  notify: StateMachine['notify'],
): Omit<McpServerStartListeners, 'callTimeoutMs' | 'onListChanged' | 'onClosed'> {
  return {
    onListTruncated: (message: string) => notify('warn', message),
    onDeclined: (message: string) => notify('warn', message),
    onSampled: (message: string) => notify('info', message),
    onResourceChanged: (uri: string) => onChange({ kind: 'resource', server, uri }),
    onVisited: (id: string) => onChange({ kind: 'visited', server, id }),
  };
}

/** Creates the updates of a connected server's lists: late first lists, and lists that changed. */
function createListUpdater(
  server: string,
  { getState, dispatch, notify }: StateMachine,
  onChange: McpHubDeps['onChange'],
) {
  const done = Promise.resolve();
  let updates: Readonly<Record<McpListKind, Promise<void>>> = { tools: done, prompts: done, resources: done };

  async function update(kind: McpListKind, fetchList: FetchList, signal: AbortSignal): Promise<void> {
    const { phase } = getState();
    if (signal.aborted || phase.status !== 'connected') return;
    try {
      const lists = await fetchList(phase.connection);
      if (signal.aborted) return;
      dispatch({ type: 'listed', lists });
      if (kind !== 'tools') onChange({ kind, server });
    } catch (thrown) {
      notify('warn', `could not list its ${kind}: ${sanitizeUntrustedLine(getErrorMessage(thrown), REASON_CHARS)}`);
    }
  }

  /** Kinds with a scheduled update, which also covers further changes until it starts. */
  let scheduled: readonly McpListKind[] = [];
  let cooldowns: Readonly<Record<McpListKind, Promise<unknown>>> = updates;
  const waitInterval = (signal: AbortSignal) =>
    resolveUndefinedOnAbort(new Promise((resolve) => setTimeout(resolve, MIN_LIST_INTERVAL_MS)), signal);

  return {
    /** Fetches a list after earlier updates of the same kind, so the server's latest list wins. */
    fetch(kind: McpListKind, fetchList: FetchList, signal: AbortSignal): void {
      updates = { ...updates, [kind]: updates[kind].then(() => update(kind, fetchList, signal)) };
    },
    /** Fetches a changed list: once for a burst of changes, and at most once per interval. */
    refetch(kind: McpListKind, fetchList: FetchList, signal: AbortSignal): void {
      if (scheduled.includes(kind)) return;
      scheduled = [...scheduled, kind];
      const updated = Promise.all([updates[kind], cooldowns[kind]]).then(() => {
        scheduled = scheduled.filter((other) => other !== kind);
        const running = update(kind, fetchList, signal);
        cooldowns = { ...cooldowns, [kind]: running.then(() => waitInterval(signal)) };
        return running;
      });
      updates = { ...updates, [kind]: updated };
    },
    whenFetched: (kind: McpListKind) => updates[kind],
  };
}

type FetchList = (connection: McpServerConnection) => Promise<Partial<McpServerCatalog>>;

type StateMachine = ReturnType<typeof createStateMachine>;

/** Creates the state machine of a server; reports changes and calls `begin` with the delay of each start. */
function createStateMachine(
  server: ConfiguredMcpServer,
  { onChange, backoffMs = BACKOFF_MS }: McpHubDeps,
  begin: (afterMs: number) => void,
) {
  let state = IDLE_MCP_SERVER;

  function notify(level: 'info' | 'warn', message: string): void {
    onChange({ kind: 'state', server: server.name, level, message: `MCP server ${server.name} ${message}` });
  }

  function dispatch(event: McpServerEvent): void {
    const before = state;
    const transition = reduceMcpServerLifecycle(before, event, { name: server.name, backoffMs });
    state = transition.state;
    const changes = diffMcpTools(before.catalog.tools, state.catalog.tools);
    if (changes.added.length + changes.removed.length > 0) onChange({ kind: 'tools', server: server.name, ...changes });
    if (transition.notice !== undefined) notify(transition.notice.level, transition.notice.message);
    if (state.phase.status === 'starting' && state.phase !== before.phase) begin(state.phase.afterMs);
  }

  return { getState: () => state, dispatch, notify };
}
