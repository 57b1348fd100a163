import type { McpServerState } from '../../contracts/frontend/host-capabilities.ts';
import { exhaustive } from '../../lib/errors.ts';
import { sanitizeUntrustedLine } from '../../lib/text/sanitize.ts';
import type { ConfiguredMcpServer } from '../configured-mcp-server.ts';
import { EMPTY_MCP_SERVER_CATALOG, type McpServerCatalog } from './mcp-server-catalog.ts';
import type { McpServerConnection } from './mcp-server-connection.ts';

/** The state of one server; changed only by `reduceMcpServerLifecycle`. */
export type McpServerLifecycle = {
  readonly phase: McpServerPhase;
  /** Tools and prompts it offers; kept while it restarts, so a short outage removes no tools. */
  readonly catalog: McpServerCatalog;
  /** Restarts since the last stable connection. */
  readonly restarts: number;
};

/** The phase of a server's life cycle. */
export type McpServerPhase =
  | { readonly status: 'idle' }
  | { readonly status: 'starting'; readonly afterMs: number }
  | { readonly status: 'connected'; readonly connection: McpServerConnection; readonly sinceMs: number }
  | { readonly status: 'failed'; readonly problem: string }
  | { readonly status: 'needs-auth' }
  | { readonly status: 'off' };

/** An event in a server's life cycle; `failed` ends an attempt to start, `lost` an open connection. */
export type McpServerEvent =
  | { readonly type: 'start' }
  | {
      readonly type: 'connected';
      readonly connection: McpServerConnection;
      readonly catalog: McpServerCatalog;
      readonly atMs: number;
    }
  | { readonly type: 'needs-auth' }
  | { readonly type: 'failed'; readonly problem: string }
  | { readonly type: 'lost'; readonly problem: string; readonly atMs: number }
  | { readonly type: 'listed'; readonly lists: Partial<McpServerCatalog> }
  | { readonly type: 'switched-off' }
  /** Its last lease was released. */
  | { readonly type: 'stopped' };

/** The next state, and a message for the user that follows the server's name. */
export type McpStateTransition = {
  readonly state: McpServerLifecycle;
  readonly notice?: { readonly level: 'info' | 'warn'; readonly message: string };
};

/** The state of a server that was not started. */
export const IDLE_MCP_SERVER: McpServerLifecycle = {
  phase: { status: 'idle' },
  catalog: EMPTY_MCP_SERVER_CATALOG,
  restarts: 0,
};

const MAX_BACKOFF_MS = 30_000;
const MAX_RESTARTS = 5;
/** A connection that lasted this long resets the count of restarts. */
const STABLE_MS = 60_000;

/** Reduces an event to the next state; `backoffMs` is the delay before the first restart and doubles. */
export function reduceMcpServerLifecycle(
  state: McpServerLifecycle,
  event: McpServerEvent,
  { name, backoffMs }: { readonly name: string; readonly backoffMs: number },
): McpStateTransition {
  const { phase, restarts } = state;
  const enterPhase = (next: McpServerPhase): McpServerLifecycle => ({
    ...state,
    phase: next,
    catalog: EMPTY_MCP_SERVER_CATALOG,
  });
  const createRestart = (count: number): McpServerPhase => ({
    status: 'starting',
    afterMs: Math.min(backoffMs * 2 ** (count - 1), MAX_BACKOFF_MS),
  });
  switch (event.type) {
    case 'start':
      return { state: { ...state, phase: { status: 'starting', afterMs: 0 }, restarts: 0 } };
    case 'connected': {
      const { connection, catalog, atMs: sinceMs } = event;
      const connected: McpServerLifecycle = { ...state, phase: { status: 'connected', connection, sinceMs }, catalog };
      // Only a reconnect is reported; a first connection is expected.
      return restarts === 0
        ? { state: connected }
        : { state: connected, notice: { level: 'info', message: 'reconnected.' } };
    }
    case 'needs-auth':
      return {
        state: enterPhase({ status: 'needs-auth' }),
        notice: { level: 'warn', message: `needs a login: run /mcp login ${name} or ouro mcp login ${name}` },
      };
    case 'failed': {
      const { problem } = event;
      if (restarts > 0 && restarts <= MAX_RESTARTS)
        return { state: { ...state, phase: createRestart(restarts), restarts: restarts + 1 } };
      return {
        state: enterPhase({ status: 'failed', problem }),
        notice: { level: 'warn', message: `is not connected: ${problem}` },
      };
    }
    case 'lost': {
      if (phase.status !== 'connected') return { state };
      const { problem } = event;
      const count = event.atMs - phase.sinceMs > STABLE_MS ? 1 : restarts + 1;
      if (count > MAX_RESTARTS)
        return {
          state: { ...enterPhase({ status: 'failed', problem }), restarts: count },
          notice: { level: 'warn', message: `disconnected: ${problem}` },
        };
      return {
        state: { ...state, phase: createRestart(count), restarts: count },
        notice: { level: 'warn', message: `disconnected: ${problem}. It is being restarted.` },
      };
    }
    case 'listed':
      return {
        state: phase.status === 'connected' ? { ...state, catalog: { ...state.catalog, ...event.lists } } : state,
      };
    case 'switched-off':
      return { state: enterPhase({ status: 'off' }) };
    case 'stopped':
      return { state: IDLE_MCP_SERVER };
    default:
      return exhaustive(event);
  }
}

/** Describes a server for screens and hosts. */
export function describeMcpServer(server: ConfiguredMcpServer, { phase, catalog }: McpServerLifecycle): McpServerState {
  const common = { name: server.name, status: getStatus(server, phase), scope: server.scope };
  if (phase.status !== 'connected') return { ...common, error: describeMcpUnavailability(phase, server) };
  const { info } = phase.connection;
  return {
    ...common,
    tools: catalog.toolSummaries,
    ...(info === undefined
      ? {}
      : {
          serverInfo: { name: sanitizeUntrustedLine(info.name, 100), version: sanitizeUntrustedLine(info.version, 40) },
        }),
  };
}

function getStatus({ blocked }: ConfiguredMcpServer, phase: McpServerPhase): McpServerState['status'] {
  switch (phase.status) {
    case 'idle':
      if (blocked?.reason === 'rejected') return 'disabled';
      return blocked?.reason === 'mistake' ? 'failed' : 'pending';
    case 'starting':
      return 'pending';
    case 'off':
      return 'disabled';
    case 'connected':
    case 'failed':
    case 'needs-auth':
      return phase.status;
    default:
      return exhaustive(phase);
  }
}

/** Describes why a server cannot be used now; the text follows its name. */
export function describeMcpUnavailability(
  phase: McpServerPhase,
  { name, blocked, isAgentOnly }: ConfiguredMcpServer,
): string {
  switch (phase.status) {
    case 'idle':
      return (
        blocked?.message ?? (isAgentOnly === true ? 'starts together with its sub-agent' : 'has not been started yet')
      );
    case 'starting':
      return 'is still starting';
    case 'connected':
      return 'is connected';
    case 'failed':
      return `is not connected: ${phase.problem}`;
    case 'needs-auth':
      return `needs a login: run /mcp login ${name} or ouro mcp login ${name}`;
    case 'off':
      return 'is disabled';
    default:
      return exhaustive(phase);
  }
}
