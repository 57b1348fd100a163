import { z } from 'zod';
import { getErrorMessage } from '../../lib/errors.ts';
import { createCallbackSchema, parseArgument } from '../../lib/parse-argument.ts';
import type { SdkAgent } from '../agent/agent-commands.ts';
import { createAgentReplica } from './agent-replica.ts';
import { REMOTE_METHODS, type RemoteStreamContent, type RemoteStreamLine, remoteCallSchema } from './wire-format.ts';

/** The options of a server. */
export type ServeOptions = {
  /**
   * Token that clients must send. Without it, every program of this machine that reaches the address controls the agent;
   * requests for another host than this machine, and those of foreign web pages, are refused.
   */
  readonly token?: string;
  /** Number of lines that a client which reconnects can catch up on; by default 10,000. */
  readonly keepLines?: number;
  /** A client that answers questions counts as present for so long after its connection broke; by default 10 s. */
  readonly graceMs?: number;
};

/** A server for one agent, as a function from requests to responses, for Node, Bun, Deno and workers. */
export type AgentServer = {
  fetch(request: Request): Promise<Response>;
  /** Handles a request of `node:http`. */
  handle(request: NodeRequest, response: NodeResponse): Promise<void>;
  /** Ends all streams and unsubscribes. */
  close(): void;
};

/** The part of an incoming request of `node:http` that the server uses. */
export type NodeRequest = AsyncIterable<Uint8Array> & {
  readonly method?: string | undefined;
  readonly url?: string | undefined;
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
};

/** The part of a response of `node:http` that the server uses. */
export type NodeResponse = {
  writeHead(status: number, headers: Record<string, string>): unknown;
  write(chunk: Uint8Array): unknown;
  end(): unknown;
  once(event: 'close', listener: () => void): unknown;
};

const KEPT_LINES = 10_000;
const GRACE_MS = 10_000;
const HEARTBEAT_MS = 15_000;

const optionsSchema = z.strictObject({
  token: z.string().min(1, 'is empty').exactOptional(),
  keepLines: z.number().int().positive().exactOptional(),
  graceMs: z.number().nonnegative().exactOptional(),
});
const agentSchema = z.looseObject({
  state: createCallbackSchema<SdkAgent['state']>(),
  subscribe: createCallbackSchema<SdkAgent['subscribe']>(),
});

/** Serves an agent: clients of `connectAgent` see its events from any cursor on and call its commands. */
export function serveAgent(agent: SdkAgent, options: ServeOptions = {}): AgentServer {
  parseArgument('serveAgent', agent, agentSchema);
  const { token, keepLines = KEPT_LINES, graceMs = GRACE_MS } = parseArgument('serveAgent', options, optionsSchema);
  const server = crypto.randomUUID();
  const mirror = createAgentReplica(agent.state());
  const readers = new Set<(line: RemoteStreamLine) => void>();
  const closing = new AbortController();
  let lines: readonly RemoteStreamLine[] = [];
  let cursor = 0;

  function push(content: RemoteStreamContent): void {
    cursor += 1;
    const line = { cursor, server, ...content };
    lines = [...lines.slice(Math.max(0, lines.length + 1 - keepLines)), line];
    for (const read of readers) read(line);
  }

  const unsubscribe = agent.subscribe((event) => {
    mirror.apply(event);
    push({ event });
  });
  const presence = createPresence(agent, graceMs);

  async function call(request: Request): Promise<Response> {
    // A page of another origin cannot send this type without being asked first, which nothing here answers.
    if (!JSON_TYPE.test(request.headers.get('content-type') ?? '')) return reply(415, 'Send JSON.');
    const parsed = remoteCallSchema.safeParse(await request.json().catch(() => undefined));
    if (!parsed.success) return reply(400, 'Send { id, method, args }.');
    const { id, method, args } = parsed.data;
    const name = REMOTE_METHODS.find((one) => one === method);
    if (name === undefined) return reply(404, `Unknown method ${method}.`);
    const run = async (): Promise<unknown> => Reflect.apply(Reflect.get(agent, name), agent, args);
    run().then(
      (value) => push({ result: { id, ok: true, value } }),
      (thrown) => push({ result: { id, ok: false, error: getErrorMessage(thrown) } }),
    );
    // Their effects are not events.
    if (name === 'change' || name === 'reset' || name === 'replaceMessages') {
      mirror.replace(agent.state());
      push({ state: mirror.snapshot() });
    }
    return reply(202, '');
  }

  function stream(url: URL, signal: AbortSignal): Response {
    const after = url.searchParams.get('server') === server ? Number(url.searchParams.get('after')) : Number.NaN;
    const start = findMissedLines(lines, cursor, after) ?? [{ cursor, server, state: mirror.snapshot() }];
    const leave = url.searchParams.get('answers') === '1' ? presence.enter() : () => undefined;
    const encoder = new TextEncoder();
    const cancelled = new AbortController();
    const ended = AbortSignal.any([signal, closing.signal, cancelled.signal]);
    const body = new ReadableStream<Uint8Array>({
      start(controller) {
        const send = (text: string) => controller.enqueue(encoder.encode(text));
        const read = (line: RemoteStreamLine) => send(`${JSON.stringify(line)}\n`);
        const heartbeat = setInterval(() => send('\n'), HEARTBEAT_MS);
        const end = () => {
          readers.delete(read);
          clearInterval(heartbeat);
          leave();
          // A cancelled stream is closed already.
          if (!cancelled.signal.aborted) controller.close();
        };
        for (const line of start) read(line);
        readers.add(read);
        ended.addEventListener('abort', end, { once: true });
      },
      cancel: () => cancelled.abort(),
    });
    return new Response(body, { headers: { 'content-type': 'application/x-ndjson', 'cache-control': 'no-store' } });
  }

  async function fetch(request: Request): Promise<Response> {
    const url = new URL(request.url);
    const refusal = await refuseRequest(request.headers, url, token);
    if (refusal !== undefined) return refusal;
    const path = url.pathname.replace(/^.*\//, '');
    if (request.method === 'GET' && path === 'events') return stream(url, request.signal);
    if (request.method === 'POST' && path === 'call') return call(request);
    return reply(404, 'Use GET events or POST call.');
  }

  return {
    fetch,
    handle: (request, response) => handleNodeRequest(fetch, request, response),
    close() {
      unsubscribe();
      presence.close();
      closing.abort();
    },
  };
}

/** Other types that begin like it can be sent by pages of other origins. */
const JSON_TYPE = /^application\/json(?:\s*;\s*charset=utf-8)?$/i;
const LOCAL_HOST = /^(?:localhost|127\.0\.0\.1|\[::1\])(?::\d+)?$/i;

async function refuseRequest(headers: Headers, url: URL, token: string | undefined): Promise<Response | undefined> {
  if (token === undefined)
    return isLocalRequest(headers, url)
      ? undefined
      : reply(403, 'Without a token, only requests to this machine are served, and none of foreign pages.');
  const isAllowed = await isSameText(headers.get('authorization') ?? '', `Bearer ${token}`);
  return isAllowed ? undefined : reply(401, 'Send the token.');
}

/** Tells whether a request names this machine as its host: a foreign name may lead here, and a page of it comes along. */
function isLocalRequest(headers: Headers, url: URL): boolean {
  const host = headers.get('host') ?? url.host;
  const origin = headers.get('origin');
  // Browsers send no origin for an image or a script of a page, only this.
  const isForeign = /^(?:cross-site|same-site)$/i.test(headers.get('sec-fetch-site') ?? '');
  return (
    !isForeign && LOCAL_HOST.test(host) && (origin === null || origin.toLowerCase() === `http://${host}`.toLowerCase())
  );
}

/** Compares texts in a time that does not depend on where they differ. */
async function isSameText(a: string, b: string): Promise<boolean> {
  const digest = async (text: string) =>
    new Uint8Array(await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text)));
  const [left, right] = await Promise.all([digest(a), digest(b)]);
  return left.reduce((difference, byte, index) => difference | (byte ^ (right[index] ?? 0)), 0) === 0;
}

/** Returns the lines after a cursor; `undefined` if some of them are no longer kept. */
function findMissedLines(
  lines: readonly RemoteStreamLine[],
  cursor: number,
  after: number,
): readonly RemoteStreamLine[] | undefined {
  const first = lines[0]?.cursor ?? cursor + 1;
  return after >= first - 1 && after <= cursor ? lines.filter((line) => line.cursor > after) : undefined;
}

function reply(status: number, text: string): Response {
  return new Response(text === '' ? null : text, { status, headers: { 'content-type': 'text/plain' } });
}

/** Counts the clients that answer questions. While there is one, or was until recently, questions are asked. */
function createPresence(agent: SdkAgent, graceMs: number) {
  let present = 0;
  let leaveTimer: ReturnType<typeof setTimeout> | undefined;
  let unsubscribe: (() => void) | undefined;
  const close = () => {
    clearTimeout(leaveTimer);
    unsubscribe?.();
    unsubscribe = undefined;
  };
  return {
    close,
    enter() {
      present += 1;
      clearTimeout(leaveTimer);
      unsubscribe ??= agent.subscribe(() => undefined, { answers: true });
      return () => {
        present -= 1;
        if (present === 0) leaveTimer = setTimeout(close, graceMs);
      };
    },
  };
}

async function handleNodeRequest(
  fetch: AgentServer['fetch'],
  incoming: NodeRequest,
  response: NodeResponse,
): Promise<void> {
  const gone = new AbortController();
  response.once('close', () => gone.abort());
  const chunks: Uint8Array[] = [];
  for await (const chunk of incoming) chunks.push(chunk);
  const headers = new Headers();
  for (const [name, value] of Object.entries(incoming.headers))
    if (value !== undefined) headers.set(name, typeof value === 'string' ? value : value.join(', '));
  const { method = 'GET', url = '/' } = incoming;
  const body =
    method === 'GET' || method === 'HEAD'
      ? null
      : await new Blob(chunks.map((chunk) => new Uint8Array(chunk))).arrayBuffer();
  const answer = await fetch(
    new Request(new URL(url, 'http://localhost'), { method, headers, body, signal: gone.signal }),
  );
  response.writeHead(answer.status, Object.fromEntries(answer.headers));
  const reader = answer.body?.getReader();
  for (let step = await reader?.read(); step !== undefined && !step.done; step = await reader?.read())
    response.write(step.value);
  response.end();
}
