import { messageOf } from '../../lib/errors.ts';
import type { ConfiguredServer } from '../config/configured-server.ts';
import { isUnauthorized, storedAuth } from '../login/stored-auth.ts';
import { untrustedLine } from '../untrusted-text.ts';
import { type Connection, type ConnectionParts, openConnection } from './connection.ts';
import type { McpParts } from './mcp-parts.ts';
import { openTransport } from './open-transport.ts';
import { type CatalogOf, EMPTY_CATALOG, readCatalog } from './server-catalog.ts';
import type { ServerEvent } from './server-state.ts';

/** What came of an attempt. */
export type Started =
  | Omit<Extract<ServerEvent, { type: 'connected' }>, 'atMs'>
  | Extract<ServerEvent, { type: 'needs-auth' | 'failed' }>;

export type StartHooks = Pick<ConnectionParts, 'onListChanged' | 'onClosed' | 'callTimeoutMs'>;

const WORDS_CHARS = 600;
const LISTING_CHARS = 300;

/**
 * Starts a server, shakes hands within the limit and reads what is offered: only all of it makes a usable server, and
 * nothing is left of one that fails.
 */
export async function startServer(
  server: ConfiguredServer,
  parts: McpParts,
  catalogOf: CatalogOf,
  hooks: StartHooks,
  limitMs: number,
  signal: AbortSignal,
): Promise<Started> {
  const limit = AbortSignal.timeout(limitMs);
  const auth = await storedAuth(server, parts.ouroHome);
  const { transport, describeEnd } = await openTransport(server, parts, auth);
  let connection: Connection;
  try {
    connection = await openConnection(
      {
        ...hooks,
        transport,
        describeEnd,
        server: server.name,
        version: parts.version,
        roots: parts.roots,
        ask: parts.ask,
        isRemote: server.launch.kind === 'http' || server.launch.kind === 'sse',
      },
      AbortSignal.any([signal, limit]),
    );
  } catch (thrown) {
    // Before it is closed: closing is an end of its own.
    const why = limit.aborted ? lateWords(limitMs, describeEnd()) : (describeEnd() ?? messageOf(thrown));
    await transport.close();
    if (isUnauthorized(thrown)) return { type: 'needs-auth' };
    return { type: 'failed', why: untrustedLine(why, WORDS_CHARS) };
  }
  try {
    return { type: 'connected', connection, catalog: await readCatalog(connection, catalogOf, EMPTY_CATALOG, 'all') };
  } catch (thrown) {
    const why = describeEnd() ?? messageOf(thrown);
    await connection.close();
    return { type: 'failed', why: `cannot list its tools: ${untrustedLine(why, LISTING_CHARS)}` };
  }
}

function lateWords(limitMs: number, end: string | undefined): string {
  const words = `did not answer within ${limitMs / 1000} s`;
  return end === undefined ? words : `${words}: ${end}`;
}
