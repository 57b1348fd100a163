import { untilAborted } from '../../lib/abort.ts';
import { messageOf } from '../../lib/errors.ts';
import { untrustedLine } from '../../lib/text/sanitize.ts';
import type { ConfiguredServer } from '../config/configured-server.ts';
import { isUnauthorized, storedAuth } from '../login/stored-auth.ts';
import { type Connection, type ConnectionParts, openConnection } from './connection.ts';
import type { McpParts } from './mcp-parts.ts';
import { openTransport } from './open-transport.ts';
import { type Catalog, type CatalogOf, EMPTY_CATALOG, readList } from './server-catalog.ts';
import { serverEnvironment } from './server-environment.ts';
import type { ServerEvent } from './server-state.ts';

/** What came of an attempt; a server that is there may still owe one of its lists. */
export type Started =
  | (Omit<Extract<ServerEvent, { type: 'connected' }>, 'atMs'> & { readonly owed: readonly OwedList[] })
  | Extract<ServerEvent, { type: 'needs-auth' | 'failed' }>;

export type StartHooks = Pick<
  ConnectionParts,
  | 'onListChanged'
  | 'onResourceChanged'
  | 'onClosed'
  | 'onCut'
  | 'onDeclined'
  | 'onSampled'
  | 'onVisited'
  | 'callTimeoutMs'
>;

/** A list that is asked for and was not waited for any longer. */
export type OwedList = { readonly kind: 'tools' | 'prompts'; readonly list: Promise<Partial<Catalog>> };

/** Who shook hands lists what it has in no time; nobody waits for one that does not. */
const TOOLS_PATIENCE_MS = 5_000;
const PROMPTS_PATIENCE_MS = 1_000;
const WORDS_CHARS = 600;
const LISTING_CHARS = 300;

/**
 * Starts a server, shakes hands within the limit and reads what is offered. One that stalls is used with what is there;
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
  const { cwd, ouroHome, variables, added } = parts;
  const auth = await storedAuth(server, { cwd, ouroHome, env: () => serverEnvironment(variables, { ...added?.() }) });
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
        sample: parts.sample,
        samplingRule: () => parts.samplingRule?.(server.name),
        isRemote: server.launch.kind === 'http' || server.launch.kind === 'sse',
      },
      AbortSignal.any([signal, limit]),
    );
  } catch (thrown) {
    // Before it is closed: closing is an end of its own.
    const why = limit.aborted ? lateWords(limitMs, describeEnd()) : (describeEnd() ?? messageOf(thrown));
    await transport.close();
    if (isUnauthorized(thrown)) return { type: 'needs-auth' };
    // Servers of an older kind answer such a request with a refusal, and wait at the same address.
    const { launch } = server;
    if (launch.kind === 'http' && OLD_KIND.some((code) => hasCode(thrown, code)) && !limit.aborted)
      return startServer({ ...server, launch: { ...launch, kind: 'sse' } }, parts, catalogOf, hooks, limitMs, signal);
    return { type: 'failed', why: untrustedLine(why, WORDS_CHARS) };
  }
  try {
    const asked = (kind: OwedList['kind']) => ({ kind, list: readList(connection, catalogOf, kind) });
    const [tools, prompts] = [asked('tools'), asked('prompts')];
    const patient = (ms: number) => AbortSignal.any([signal, AbortSignal.timeout(Math.min(ms, limitMs))]);
    const first = await untilAborted(tools.list, patient(TOOLS_PATIENCE_MS));
    const second = await untilAborted(prompts.list, patient(PROMPTS_PATIENCE_MS));
    const owed = [...(first === undefined ? [tools] : []), ...(second === undefined ? [prompts] : [])];
    return { type: 'connected', connection, catalog: { ...EMPTY_CATALOG, ...first, ...second }, owed };
  } catch (thrown) {
    const why = describeEnd() ?? messageOf(thrown);
    await connection.close();
    if (isUnauthorized(thrown)) return { type: 'needs-auth' };
    return { type: 'failed', why: `cannot list its tools: ${untrustedLine(why, LISTING_CHARS)}` };
  }
}

const OLD_KIND = [400, 404, 405];

function hasCode(thrown: unknown, code: number): boolean {
  return thrown instanceof Error && 'code' in thrown && thrown.code === code;
}

function lateWords(limitMs: number, end: string | undefined): string {
  const words = `did not answer within ${limitMs / 1000} s`;
  return end === undefined ? words : `${words}: ${end}`;
}
