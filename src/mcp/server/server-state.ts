import type { McpServerState } from '../../contracts/face/host.ts';
import { exhaustive } from '../../lib/exhaustive.ts';
import { untrustedLine } from '../../lib/text/sanitize.ts';
import type { ConfiguredServer } from '../config/configured-server.ts';
import type { Connection } from './connection.ts';
import { type Catalog, EMPTY_CATALOG } from './server-catalog.ts';

/** One server as it stands: a value, changed by `nextState` alone. */
export type ServerState = {
  readonly phase: Phase;
  /** What it offers; while it is started again this stays, so that nobody notices a short absence. */
  readonly catalog: Catalog;
  /** How often it was started again since it last held for long. */
  readonly restarts: number;
};

/** Where a server is in its life. */
export type Phase =
  | { readonly at: 'idle' }
  | { readonly at: 'starting'; readonly afterMs: number }
  | { readonly at: 'connected'; readonly connection: Connection; readonly sinceMs: number }
  | { readonly at: 'failed'; readonly why: string }
  | { readonly at: 'needs-auth' }
  | { readonly at: 'off' };

/** What happens to a server. `failed` is an attempt to start it, `lost` a connection that was there. */
export type ServerEvent =
  | { readonly type: 'start' }
  | { readonly type: 'connected'; readonly connection: Connection; readonly catalog: Catalog; readonly atMs: number }
  | { readonly type: 'needs-auth' }
  | { readonly type: 'failed'; readonly why: string }
  | { readonly type: 'lost'; readonly why: string; readonly atMs: number }
  | { readonly type: 'listed'; readonly lists: Partial<Catalog> }
  | { readonly type: 'switched-off' }
  /** Nobody needs it for now. */
  | { readonly type: 'rested' };

/** The next state, and what people are told of the change, to be read after the server's name. */
export type Step = {
  readonly state: ServerState;
  readonly news?: { readonly level: 'info' | 'warn'; readonly words: string };
};

export const IDLE: ServerState = { phase: { at: 'idle' }, catalog: EMPTY_CATALOG, restarts: 0 };

const LONGEST_BACKOFF_MS = 30_000;
const MOST_RESTARTS = 5;
/** A server that held for so long has earned all its restarts again. */
const STABLE_MS = 60_000;

/** `backoffMs` is the first wait before a lost server is started again; it doubles. */
export function nextState(
  state: ServerState,
  event: ServerEvent,
  { name, backoffMs }: { readonly name: string; readonly backoffMs: number },
): Step {
  const { phase, restarts } = state;
  const settle = (next: Phase): ServerState => ({ ...state, phase: next, catalog: EMPTY_CATALOG });
  const restartAfter = (count: number): Phase => ({
    at: 'starting',
    afterMs: Math.min(backoffMs * 2 ** (count - 1), LONGEST_BACKOFF_MS),
  });
  switch (event.type) {
    case 'start':
      return { state: { ...state, phase: { at: 'starting', afterMs: 0 }, restarts: 0 } };
    case 'connected': {
      const { connection, catalog, atMs: sinceMs } = event;
      const connected: ServerState = { ...state, phase: { at: 'connected', connection, sinceMs }, catalog };
      // That it came up as it should is no news; that it is back is.
      return restarts === 0
        ? { state: connected }
        : { state: connected, news: { level: 'info', words: 'is connected again.' } };
    }
    case 'needs-auth':
      return {
        state: settle({ at: 'needs-auth' }),
        news: { level: 'warn', words: `wants a login: /mcp login ${name}, or ouro mcp login ${name}` },
      };
    case 'failed': {
      const { why } = event;
      if (restarts > 0 && restarts <= MOST_RESTARTS)
        return { state: { ...state, phase: restartAfter(restarts), restarts: restarts + 1 } };
      return { state: settle({ at: 'failed', why }), news: { level: 'warn', words: `is not connected: ${why}` } };
    }
    case 'lost': {
      if (phase.at !== 'connected') return { state };
      const { why } = event;
      const count = event.atMs - phase.sinceMs > STABLE_MS ? 1 : restarts + 1;
      if (count > MOST_RESTARTS)
        return {
          state: { ...settle({ at: 'failed', why }), restarts: count },
          news: { level: 'warn', words: `was lost: ${why}` },
        };
      return {
        state: { ...state, phase: restartAfter(count), restarts: count },
        news: { level: 'warn', words: `was lost: ${why}. It is started again.` },
      };
    }
    case 'listed':
      return { state: phase.at === 'connected' ? { ...state, catalog: { ...state.catalog, ...event.lists } } : state };
    case 'switched-off':
      return { state: settle({ at: 'off' }) };
    case 'rested':
      return { state: IDLE };
    default:
      return exhaustive(event);
  }
}

/** What screens and hosts see of a server. */
export function describeServer(server: ConfiguredServer, { phase, catalog }: ServerState): McpServerState {
  const common = { name: server.name, status: statusOf(server, phase), scope: server.scope };
  if (phase.at !== 'connected') return { ...common, error: whyNot(phase, server) };
  const { info } = phase.connection;
  return {
    ...common,
    tools: catalog.described,
    ...(info === undefined
      ? {}
      : { serverInfo: { name: untrustedLine(info.name, 100), version: untrustedLine(info.version, 40) } }),
  };
}

function statusOf({ held }: ConfiguredServer, phase: Phase): McpServerState['status'] {
  switch (phase.at) {
    case 'idle':
      if (held?.why === 'rejected') return 'disabled';
      return held?.why === 'mistake' ? 'failed' : 'pending';
    case 'starting':
      return 'pending';
    case 'off':
      return 'disabled';
    case 'connected':
    case 'failed':
    case 'needs-auth':
      return phase.at;
    default:
      return exhaustive(phase);
  }
}

/** Why a server cannot be used now, to be read after its name. */
export function whyNot(phase: Phase, { name, held, isLent }: ConfiguredServer): string {
  switch (phase.at) {
    case 'idle':
      return held?.words ?? (isLent === true ? 'starts with the sub-agent it belongs to' : 'was not started yet');
    case 'starting':
      return 'is still starting';
    case 'connected':
      return 'is connected';
    case 'failed':
      return `is not connected: ${phase.why}`;
    case 'needs-auth':
      return `wants a login: /mcp login ${name}, or ouro mcp login ${name}`;
    case 'off':
      return 'is switched off';
    default:
      return exhaustive(phase);
  }
}
