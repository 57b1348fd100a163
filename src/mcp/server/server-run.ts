import type { Attempt, McpServerState } from '../../contracts/face/host.ts';
import { untilAborted } from '../../lib/abort.ts';
import { messageOf } from '../../lib/errors.ts';
import { cleanLine } from '../clean-text.ts';
import type { ConfiguredServer } from '../config/configured-server.ts';
import type { Connection, ListKind } from './connection.ts';
import type { McpParts } from './mcp-parts.ts';
import { type Catalog, type CatalogOf, EMPTY_CATALOG, readCatalog, toolChanges } from './server-catalog.ts';
import { type Phase, stateOf, whyNot } from './server-phase.ts';
import type { Started } from './start-server.ts';

/** One server through its life: started, lost, started again, closed. */
export type ServerRun = {
  readonly server: ConfiguredServer;
  readonly prefix: string;
  state(): McpServerState;
  /** Begins to connect; a second time, or for a server that is held back, nothing happens. */
  start(): void;
  /** Resolves when it is connected or has failed. */
  settled(): Promise<void>;
  catalog(): Catalog;
  instructions(): string | undefined;
  /** Waits for a connection that is on its way; rejects with a sentence when there is none. */
  connected(signal: AbortSignal): Promise<Connection>;
  reconnect(): Promise<Attempt>;
  /** Ends it for now, by the person's wish. */
  switchOff(): Promise<void>;
  close(): Promise<void>;
};

const START_TIMEOUT_MS = 30_000;
const CALL_TIMEOUT_MS = 600_000;
const BACKOFF_MS = 1_000;
const LONGEST_BACKOFF_MS = 30_000;
const MOST_RESTARTS = 5;
/** A server that held for so long has earned all its restarts again. */
const STABLE_MS = 60_000;

export function createServerRun(server: ConfiguredServer, prefix: string, parts: McpParts): ServerRun {
  const startTimeoutMs = () => parts.limits?.().startMs ?? START_TIMEOUT_MS;
  const callTimeoutMs = () => server.callTimeoutMs ?? parts.limits?.().callMs ?? CALL_TIMEOUT_MS;
  const endings = new WeakMap<Connection, string>();
  let phase: Phase = { at: 'idle' };
  let catalog = EMPTY_CATALOG;
  let life = new AbortController();
  let restarts = 0;
  let refreshes: Promise<void> = Promise.resolve();

  const catalogOf: CatalogOf = {
    server: server.name,
    prefix,
    async call(tool, input, context) {
      const connection = await connected(context.signal);
      const { callTool } = await import('./call-tool.ts');
      const site = { server: server.name, callTimeoutMs: callTimeoutMs(), endedBy: () => endings.get(connection) };
      return callTool(connection, tool, input, context, site);
    },
  };

  function say(level: 'info' | 'warn', words: string): void {
    parts.onChange({ kind: 'state', server: server.name, level, words: `MCP server ${server.name} ${words}` });
  }

  function offer(next: Catalog): void {
    const changes = toolChanges(catalog.tools, next.tools);
    catalog = next;
    if (changes.added.length + changes.removed.length > 0) {
      parts.onChange({ kind: 'tools', server: server.name, ...changes });
    }
  }

  function begin(delayMs: number): void {
    const { signal } = life;
    phase = { at: 'starting', done: attempt(delayMs, signal) };
  }

  async function attempt(delayMs: number, signal: AbortSignal): Promise<void> {
    if (delayMs > 0) await untilAborted(new Promise((resolve) => setTimeout(resolve, delayMs)), signal);
    if (signal.aborted) return;
    const started = await open(signal);
    if (signal.aborted) {
      if (started.kind === 'connected') await started.connection.close();
      return;
    }
    if (started.kind === 'connected') {
      phase = { at: 'connected', connection: started.connection, sinceMs: performance.now() };
      // That it came up as it should is no news; that it is back is.
      if (restarts > 0) say('info', 'is connected again.');
    } else if (started.kind === 'needs-auth') {
      settleDown({ at: 'needs-auth' });
      say('warn', `wants a login: ouro mcp login ${server.name}`);
    } else again(started.why, `is not connected: ${started.why}`);
  }

  /** Connects and reads what is offered; only both together make a usable server. */
  async function open(signal: AbortSignal): Promise<Started> {
    try {
      // Loaded with the first server that starts: a session without servers never pays for it.
      const { startServer } = await import('./start-server.ts');
      const hooks = {
        callTimeoutMs,
        onListChanged: (kind: ListKind) => refresh(kind),
        onClosed: () => lost(signal),
      };
      const started = await startServer(server, parts, hooks, startTimeoutMs(), signal);
      if (started.kind !== 'connected') return started;
      current = started;
      try {
        offer(await readCatalog(started.connection, catalogOf, EMPTY_CATALOG, 'all'));
        return started;
      } catch (thrown) {
        const why = started.describeEnd() ?? messageOf(thrown);
        await started.connection.close();
        return { kind: 'failed', why: `cannot list its tools: ${cleanLine(why, 300)}` };
      }
    } catch (thrown) {
      return { kind: 'failed', why: cleanLine(messageOf(thrown), 300) };
    }
  }

  let current: Extract<Started, { kind: 'connected' }> | undefined;

  function lost(signal: AbortSignal): void {
    if (current !== undefined) endings.set(current.connection, current.describeEnd() ?? 'the connection was closed');
    if (signal.aborted || phase.at !== 'connected') return;
    if (performance.now() - phase.sinceMs > STABLE_MS) restarts = 0;
    const why = endings.get(phase.connection) ?? 'the connection was closed';
    restarts += 1;
    again(why, `was lost: ${why}`);
  }

  /** Tries again a bounded number of times, if it had been there before. */
  function again(why: string, words: string): void {
    if (restarts === 0 || restarts > MOST_RESTARTS) {
      settleDown({ at: 'failed', why });
      say('warn', words);
      return;
    }
    const delayMs = Math.min((parts.backoffMs ?? BACKOFF_MS) * 2 ** (restarts - 1), LONGEST_BACKOFF_MS);
    if (phase.at === 'starting') restarts += 1;
    else say('warn', `${words}. It is started again.`);
    begin(delayMs);
  }

  function settleDown(next: Phase): void {
    phase = next;
    offer(EMPTY_CATALOG);
  }

  /** One after the other, so that the last word of the server counts. */
  function refresh(kind: ListKind): void {
    const { signal } = life;
    refreshes = refreshes.then(async () => {
      if (signal.aborted || phase.at !== 'connected') return;
      try {
        offer(await readCatalog(phase.connection, catalogOf, catalog, kind));
        if (kind !== 'tools') parts.onChange({ kind, server: server.name });
      } catch (thrown) {
        say('warn', `changed its ${kind}, but does not list them: ${cleanLine(messageOf(thrown), 300)}`);
      }
    });
  }

  async function connected(signal: AbortSignal): Promise<Connection> {
    const limit = AbortSignal.any([signal, AbortSignal.timeout(startTimeoutMs())]);
    while (phase.at === 'starting' && !limit.aborted) await untilAborted(phase.done, limit);
    if (phase.at === 'connected') return phase.connection;
    throw new Error(`The MCP server ${server.name} ${whyNot(phase, server)}. The user can look at /mcp.`);
  }

  async function end(): Promise<void> {
    life.abort();
    const last = phase;
    // A start that is under way ends itself when it sees that it is not wanted any more.
    if (last.at === 'starting') await last.done;
    if (last.at === 'connected') await last.connection.close();
  }

  return {
    server,
    prefix,
    state: () => stateOf(server, phase, catalog, current?.connection.info),
    start() {
      if (phase.at === 'idle' && server.held === undefined) begin(0);
    },
    async settled() {
      if (phase.at === 'starting') await phase.done;
    },
    catalog: () => catalog,
    instructions: () => (phase.at === 'connected' ? phase.connection.instructions : undefined),
    connected,
    async reconnect() {
      if (server.held !== undefined && server.held.why !== 'rejected') return { ok: false, why: server.held.words };
      await end();
      life = new AbortController();
      restarts = 0;
      begin(0);
      if (phase.at === 'starting') await phase.done;
      return phase.at === 'connected' ? { ok: true } : { ok: false, why: whyNot(phase, server) };
    },
    async switchOff() {
      await end();
      settleDown({ at: 'off' });
    },
    close: end,
  };
}
