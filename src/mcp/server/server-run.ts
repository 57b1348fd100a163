import type { Attempt } from '../../contracts/face/host.ts';
import { untilAborted } from '../../lib/abort.ts';
import { messageOf } from '../../lib/errors.ts';
import { untrustedLine } from '../../lib/text/sanitize.ts';
import type { ConfiguredServer } from '../config/configured-server.ts';
import type { Connection } from './connection.ts';
import type { McpParts } from './mcp-parts.ts';
import type { ListKind } from './our-side.ts';
import { type Catalog, type CatalogOf, readList, toolChanges } from './server-catalog.ts';
import { IDLE, nextState, type ServerEvent, type ServerState, whyNot } from './server-state.ts';
import type { Started } from './start-server.ts';

/** One server through its life: started, lost, started again, closed. */
export type ServerRun = {
  readonly server: ConfiguredServer;
  now(): ServerState;
  /** Begins to connect; a second time, or for a server that is held back, nothing happens. */
  start(): void;
  /** Resolves when it is connected or has failed. */
  settled(): Promise<void>;
  /** Resolves when it does not owe this list any more. */
  listed(kind: ListKind): Promise<void>;
  /** Waits for a connection that is on its way; rejects with a sentence when there is none. */
  connected(signal: AbortSignal): Promise<Connection>;
  reconnect(): Promise<Attempt>;
  /** Ends it for now, by the person's wish. */
  switchOff(): Promise<void>;
  /** Ends it until it is started again. */
  rest(): Promise<void>;
  close(): Promise<void>;
};

const START_TIMEOUT_MS = 30_000;
const CALL_TIMEOUT_MS = 600_000;
const BACKOFF_MS = 1_000;
const WHY_CHARS = 300;
const LIST_GAP_MS = 500;
const LATE_TOOLS = 'does not list its tools yet; they are offered when it does.';

/** Holds the state of one server and does what a change of it asks for. */
export function createServerRun(server: ConfiguredServer, prefix: string, parts: McpParts): ServerRun {
  const startTimeoutMs = () => parts.limits?.().startMs ?? START_TIMEOUT_MS;
  const callTimeoutMs = () => server.callTimeoutMs ?? parts.limits?.().callMs ?? CALL_TIMEOUT_MS;
  /** Aborted when the server is not wanted any more. */
  let life = new AbortController();
  let starting: Promise<void> = Promise.resolve();
  const held = holdState(server, parts, (afterMs) => {
    if (life.signal.aborted) life = new AbortController();
    starting = attempt(afterMs, life.signal);
  });
  const { now, happen, say } = held;
  const connected: ServerRun['connected'] = (signal) =>
    whenConnected(server, now, () => starting, AbortSignal.any([signal, AbortSignal.timeout(startTimeoutMs())]));
  const call: CatalogOf['call'] = async (tool, input, context) => {
    const connection = await connected(context.signal);
    const { callTool } = await import('./call-tool.ts');
    const site = { server: server.name, keep: parts.keepBytes, onUnauthorized: () => dropForLogin(held) };
    return callTool(connection, tool, input, context, { ...site, callTimeoutMs: callTimeoutMs() });
  };
  const catalogOf: CatalogOf = { server: server.name, prefix, call };
  const lists = createLists(server.name, held, parts.onChange);

  async function attempt(afterMs: number, signal: AbortSignal): Promise<void> {
    if (afterMs > 0) await untilAborted(new Promise((resolve) => setTimeout(resolve, afterMs)), signal);
    if (signal.aborted) return;
    const onClosed = (why: string) => {
      if (!signal.aborted) happen({ type: 'lost', why, atMs: performance.now() });
    };
    const onListChanged = (kind: ListKind) =>
      lists.takeAgain(kind, (connection) => readList(connection, catalogOf, kind), signal);
    const hooks = { callTimeoutMs, onListChanged, onClosed, ...questionHooks(server.name, parts, say) };
    // Loaded with the first server that starts: a session without servers never pays for it.
    const started = await import('./start-server.ts')
      .then(({ startServer }) => startServer(server, parts, catalogOf, hooks, startTimeoutMs(), signal))
      .catch((thrown): Started => ({ type: 'failed', why: untrustedLine(messageOf(thrown), WHY_CHARS) }));
    if (started.type !== 'connected') return signal.aborted ? undefined : happen(started);
    if (signal.aborted) return started.connection.close();
    const { owed, ...connected } = started;
    happen({ ...connected, atMs: performance.now() });
    for (const { kind, list } of owed) lists.take(kind, () => list, signal);
    if (owed.some(({ kind }) => kind === 'tools')) say('warn', LATE_TOOLS);
  }

  async function settled(): Promise<void> {
    if (now().phase.at === 'starting') await starting;
  }

  async function end(): Promise<void> {
    life.abort();
    const { phase } = now();
    // A start that is under way ends itself when it sees that it is not wanted any more.
    if (phase.at === 'starting') await starting;
    if (phase.at === 'connected') await phase.connection.close();
  }

  async function reconnect(): Promise<Attempt> {
    if (server.held !== undefined && server.held.why !== 'rejected') return { ok: false, why: server.held.words };
    await end();
    happen({ type: 'start' });
    await starting;
    const { phase } = now();
    return phase.at === 'connected' ? { ok: true } : { ok: false, why: whyNot(phase, server) };
  }

  return {
    server,
    now,
    start: () => void (now().phase.at === 'idle' && server.held === undefined && happen({ type: 'start' })),
    settled,
    async listed(kind) {
      await settled();
      await lists.taken(kind);
    },
    connected,
    reconnect,
    switchOff: () => end().then(() => happen({ type: 'switched-off' })),
    rest: () => end().then(() => happen({ type: 'rested' })),
    close: end,
  };
}

/** Waits for a connection that is on its way. */
async function whenConnected(
  server: ConfiguredServer,
  now: () => ServerState,
  starting: () => Promise<void>,
  limit: AbortSignal,
): Promise<Connection> {
  while (now().phase.at === 'starting' && !limit.aborted) await untilAborted(starting(), limit);
  const { phase } = now();
  if (phase.at === 'connected') return phase.connection;
  throw new Error(`The MCP server ${server.name} ${whyNot(phase, server)}. The user can look at /mcp.`);
}

/** What was there is of no use before somebody has logged in. */
function dropForLogin({ now, happen }: ReturnType<typeof holdState>): void {
  const { phase } = now();
  happen({ type: 'needs-auth' });
  // It tells of its own end, which is none any more.
  if (phase.at === 'connected') void phase.connection.close();
}

/** What is told of questions that the server has put to the person or the model, and of what it has changed. */
function questionHooks(server: string, { onChange }: McpParts, say: (level: 'info' | 'warn', words: string) => void) {
  return {
    onCut: (words: string) => say('warn', words),
    onDeclined: (words: string) => say('warn', words),
    onSampled: (words: string) => say('info', words),
    onResourceChanged: (uri: string) => onChange({ kind: 'resource', server, uri }),
    onVisited: (id: string) => onChange({ kind: 'visited', server, id }),
  };
}

/** The lists of a server that come after it is connected: the first ones late, and those that changed. */
function createLists(
  server: string,
  { now, happen, say }: ReturnType<typeof holdState>,
  onChange: McpParts['onChange'],
) {
  const none = Promise.resolve();
  let coming: Readonly<Record<ListKind, Promise<void>>> = { tools: none, prompts: none, resources: none };

  async function takeOne(kind: ListKind, read: ReadList, signal: AbortSignal): Promise<void> {
    const { phase } = now();
    if (signal.aborted || phase.at !== 'connected') return;
    try {
      const lists = await read(phase.connection);
      if (signal.aborted) return;
      happen({ type: 'listed', lists });
      if (kind !== 'tools') onChange({ kind, server });
    } catch (thrown) {
      say('warn', `has ${kind}, but does not list them: ${untrustedLine(messageOf(thrown), WHY_CHARS)}`);
    }
  }

  /** Kinds of which a list waits to be asked for; another change before then is heard with it. */
  let waiting: readonly ListKind[] = [];
  let rests: Readonly<Record<ListKind, Promise<unknown>>> = coming;
  const gap = (signal: AbortSignal) => untilAborted(new Promise((resolve) => setTimeout(resolve, LIST_GAP_MS)), signal);

  return {
    /** One list of a kind after the other, so that the last word of the server counts. */
    take(kind: ListKind, read: ReadList, signal: AbortSignal): void {
      coming = { ...coming, [kind]: coming[kind].then(() => takeOne(kind, read, signal)) };
    },
    /** The same for a list that changed: once for all changes in a row, and then not again at once. */
    takeAgain(kind: ListKind, read: ReadList, signal: AbortSignal): void {
      if (waiting.includes(kind)) return;
      waiting = [...waiting, kind];
      const taken = Promise.all([coming[kind], rests[kind]]).then(() => {
        waiting = waiting.filter((one) => one !== kind);
        const one = takeOne(kind, read, signal);
        rests = { ...rests, [kind]: one.then(() => gap(signal)) };
        return one;
      });
      coming = { ...coming, [kind]: taken };
    },
    taken: (kind: ListKind) => coming[kind],
  };
}

type ReadList = (connection: Connection) => Promise<Partial<Catalog>>;

/** The state of a server; tells of its changes, and says when it is to be started and after how long. */
function holdState(
  server: ConfiguredServer,
  { onChange, backoffMs = BACKOFF_MS }: McpParts,
  begin: (afterMs: number) => void,
) {
  let state = IDLE;

  function say(level: 'info' | 'warn', words: string): void {
    onChange({ kind: 'state', server: server.name, level, words: `MCP server ${server.name} ${words}` });
  }

  function happen(event: ServerEvent): void {
    const before = state;
    const step = nextState(before, event, { name: server.name, backoffMs });
    state = step.state;
    const changes = toolChanges(before.catalog.tools, state.catalog.tools);
    if (changes.added.length + changes.removed.length > 0) onChange({ kind: 'tools', server: server.name, ...changes });
    if (step.news !== undefined) say(step.news.level, step.news.words);
    if (state.phase.at === 'starting' && state.phase !== before.phase) begin(state.phase.afterMs);
  }

  return { now: () => state, happen, say };
}
