import type { McpServerState } from '../../contracts/face/host.ts';
import { exhaustive } from '../../lib/exhaustive.ts';
import { cleanLine } from '../clean-text.ts';
import type { ConfiguredServer } from '../config/configured-server.ts';
import type { Connection } from './connection.ts';
import type { Catalog } from './server-catalog.ts';

/** Where a server is in its life. */
export type Phase =
  | { readonly at: 'idle' }
  | { readonly at: 'starting'; readonly done: Promise<void> }
  | { readonly at: 'connected'; readonly connection: Connection; readonly sinceMs: number }
  | { readonly at: 'failed'; readonly why: string }
  | { readonly at: 'needs-auth' }
  | { readonly at: 'off' };

/** What screens and hosts see of a server. */
export function stateOf(
  server: ConfiguredServer,
  phase: Phase,
  catalog: Catalog,
  info: Connection['info'],
): McpServerState {
  const status = statusOf(server, phase);
  return {
    name: server.name,
    status,
    scope: server.scope,
    ...(status === 'connected' ? { tools: catalog.described } : { error: whyNot(phase, server) }),
    ...(status === 'connected' && info !== undefined
      ? { serverInfo: { name: cleanLine(info.name, 100), version: cleanLine(info.version, 40) } }
      : {}),
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
export function whyNot(phase: Phase, { name, held }: ConfiguredServer): string {
  switch (phase.at) {
    case 'idle':
      return held?.words ?? 'was not started yet';
    case 'starting':
      return 'is still starting';
    case 'connected':
      return 'is connected';
    case 'failed':
      return `is not connected: ${phase.why}`;
    case 'needs-auth':
      return `wants a login: ouro mcp login ${name}`;
    case 'off':
      return 'is switched off';
    default:
      return exhaustive(phase);
  }
}
