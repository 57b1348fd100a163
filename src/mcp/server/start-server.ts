import { messageOf } from '../../lib/errors.ts';
import { cleanLine } from '../clean-text.ts';
import type { ConfiguredServer } from '../config/configured-server.ts';
import { isUnauthorized, storedAuth } from '../login/stored-auth.ts';
import { type Connection, type ConnectionParts, openConnection } from './connection.ts';
import type { McpParts } from './mcp-parts.ts';
import { openTransport } from './open-transport.ts';

export type Started =
  | { readonly kind: 'connected'; readonly connection: Connection; readonly describeEnd: () => string | undefined }
  | { readonly kind: 'needs-auth' }
  | { readonly kind: 'failed'; readonly why: string };

export type StartHooks = Pick<ConnectionParts, 'onListChanged' | 'onClosed' | 'callTimeoutMs'>;

const WORDS_CHARS = 600;

/** Starts a server and shakes hands, within the limit. Nothing of it is left when that fails. */
export async function startServer(
  server: ConfiguredServer,
  parts: McpParts,
  hooks: StartHooks,
  limitMs: number,
  signal: AbortSignal,
): Promise<Started> {
  const limit = AbortSignal.timeout(limitMs);
  const auth = await storedAuth(server, parts.ouroHome);
  const { transport, describeEnd } = await openTransport(server, parts, auth);
  try {
    const connection = await openConnection(
      {
        ...hooks,
        transport,
        describeEnd,
        server: server.name,
        version: parts.version,
        roots: parts.roots,
        ask: parts.ask,
        afterTrouble: server.launch.kind === 'http' || server.launch.kind === 'sse' ? 'ask' : 'go on',
      },
      AbortSignal.any([signal, limit]),
    );
    return { kind: 'connected', connection, describeEnd };
  } catch (thrown) {
    // Before it is closed: closing is an end of its own.
    const why = limit.aborted ? lateWords(limitMs, describeEnd()) : (describeEnd() ?? messageOf(thrown));
    await transport.close();
    if (isUnauthorized(thrown)) return { kind: 'needs-auth' };
    return { kind: 'failed', why: cleanLine(why, WORDS_CHARS) };
  }
}

function lateWords(limitMs: number, end: string | undefined): string {
  const words = `did not answer within ${limitMs / 1000} s`;
  return end === undefined ? words : `${words}: ${end}`;
}
