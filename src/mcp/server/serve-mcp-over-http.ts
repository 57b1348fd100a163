import { randomUUID, timingSafeEqual } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { Server } from '@modelcontextprotocol/sdk/server/index.js';
import { type EventStore, StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import type { JSONRPCMessage } from '@modelcontextprotocol/sdk/types.js';
import { createMcpServer, type ServedFeatures } from './mcp-server.ts';

/** The port to listen on, and the token that clients need. */
type HttpOptions = {
  /** Port number; 0 picks a free one. */
  readonly port: number;
  /** Bearer token every client has to send; without it any local program may connect. */
  readonly token: string | undefined;
  /** Time after which a client whose stream was closed reconnects. */
  readonly retryIntervalMs?: number;
};

type RunningHttpServer = { readonly url: string; close(): Promise<void> };

const PATH = '/mcp';
const MAX_CLIENTS = 50;
/** Sessions idle for this long are closed; clients may disconnect without a message. */
const IDLE_TIMEOUT_MS = 3_600_000;
const RETRY_INTERVAL_MS = 500;
const LOCAL_HOST = /^(?:localhost|127\.0\.0\.1|\[::1\])(?::\d+)?$/i;

type Client = { readonly transport: StreamableHTTPServerTransport; readonly server: Server; lastSeenMs: number };

/** Serves the definition on loopback over streamable HTTP, with a session for each client. */
export async function serveMcpOverHttp(
  offer: ServedFeatures,
  { port, token, retryIntervalMs = RETRY_INTERVAL_MS }: HttpOptions,
): Promise<RunningHttpServer> {
  const clients = new Map<string, Client>();

  async function openSession(): Promise<StreamableHTTPServerTransport> {
    for (const [id, { server, lastSeenMs }] of clients) {
      if (Date.now() - lastSeenMs < IDLE_TIMEOUT_MS) continue;
      clients.delete(id);
      await server.close();
    }
    const transport = new StreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID,
      eventStore: createEventStore(),
      retryInterval: retryIntervalMs,
      onsessioninitialized: (id) => void clients.set(id, { transport, server, lastSeenMs: Date.now() }),
      onsessionclosed: (id) => void clients.delete(id),
    });
    const server = createMcpServer(offer);
    await server.connect(transport);
    return transport;
  }

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const problem = findProblem(request, token);
    if (problem !== undefined) return refuse(response, problem.status, problem.message);
    const id = request.headers['mcp-session-id'];
    const client = typeof id === 'string' ? clients.get(id) : undefined;
    if (client !== undefined) client.lastSeenMs = Date.now();
    if (client === undefined && id !== undefined) return refuse(response, 404, 'The session has ended.');
    if (client === undefined && clients.size >= MAX_CLIENTS) return refuse(response, 503, 'Too many clients.');
    const transport = client?.transport ?? (await openSession());
    await transport.handleRequest(request, response);
    // The request opened no session, so its transport is not in the map.
    if (transport.sessionId === undefined) await transport.close();
  }

  const http = createServer((request, response) => {
    answer(request, response).catch(() => {
      if (response.headersSent) response.destroy();
      else refuse(response, 500, 'Internal error.');
    });
  });
  http.listen(port, '127.0.0.1');
  await once(http, 'listening');
  const address = http.address();
  const actualPort = typeof address === 'object' && address !== null ? address.port : port;
  return {
    url: `http://127.0.0.1:${actualPort}${PATH}`,
    async close() {
      await Promise.all([...clients.values()].map(({ server }) => server.close()));
      http.closeAllConnections();
      await new Promise((resolve) => http.close(resolve));
    },
  };
}

/** Returns why a request is refused: a foreign host or origin (DNS rebinding), a wrong path, a missing token. */
function findProblem({ headers, url = '' }: IncomingMessage, token: string | undefined) {
  if (!LOCAL_HOST.test(headers.host ?? '')) return { status: 403, message: 'This host is not allowed.' };
  if (headers.origin !== undefined && !isLocal(headers.origin))
    return { status: 403, message: 'This origin is not allowed.' };
  if (new URL(url, 'http://localhost').pathname !== PATH) return { status: 404, message: 'Not found.' };
  if (token !== undefined && !isEqualSecret(headers.authorization ?? '', `Bearer ${token}`))
    return { status: 401, message: 'The token printed by "ouro mcp serve" is required.' };
  return undefined;
}

function isLocal(origin: string): boolean {
  return URL.canParse(origin) && LOCAL_HOST.test(new URL(origin).host);
}

function isEqualSecret(actual: string, expected: string): boolean {
  const [actualBytes, expectedBytes] = [Buffer.from(actual), Buffer.from(expected)];
  return actualBytes.length === expectedBytes.length && timingSafeEqual(actualBytes, expectedBytes);
}

function refuse(response: ServerResponse, status: number, message: string): void {
  response.writeHead(status, {
    'content-type': 'application/json',
    ...(status === 401 ? { 'www-authenticate': 'Bearer' } : {}),
  });
  response.end(JSON.stringify({ jsonrpc: '2.0', error: { code: -32_000, message }, id: null }));
}

const MAX_EVENTS = 1_000;

type StoredEvent = { readonly id: string; readonly streamId: string; readonly message: JSONRPCMessage };

/** Creates the store of one client's latest events; a reconnecting client gets the ones it missed. */
function createEventStore(): EventStore {
  let events: readonly StoredEvent[] = [];
  let count = 0;
  return {
    async storeEvent(streamId, message) {
      count += 1;
      const id = `${streamId}_${count}`;
      events = [...events, { id, streamId, message }].slice(-MAX_EVENTS);
      return id;
    },
    async getStreamIdForEventId(id) {
      return events.find((event) => event.id === id)?.streamId;
    },
    async replayEventsAfter(lastId, { send }) {
      const index = events.findIndex(({ id }) => id === lastId);
      const streamId = events[index]?.streamId ?? '';
      for (const event of events.slice(index + 1)) if (event.streamId === streamId) await send(event.id, event.message);
      return streamId;
    },
  };
}
