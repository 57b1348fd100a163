import { randomUUID, timingSafeEqual } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { Server } from '@modelcontextprotocol/sdk/server/index.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import { createEventLog } from './event-log.ts';
import type { Offer } from './offer.ts';
import { servedClient } from './served-client.ts';

export type HttpPlace = {
  /** 0: any that is free. */
  readonly port: number;
  /** What every client has to know; without it any program on this machine may come. */
  readonly token: string | undefined;
};

export type ServedHttp = { readonly url: string; close(): Promise<void> };

const PATH = '/mcp';
const MOST_CLIENTS = 50;
/** A client that left without a word is forgotten after so long. */
const IDLE_MS = 3_600_000;
const RETRY_MS = 500;
const LOCAL_HOST = /^(?:localhost|127\.0\.0\.1|\[::1\])(?::\d+)?$/i;

type Client = { readonly transport: StreamableHTTPServerTransport; readonly server: Server; seenAtMs: number };

/** Offers it on loopback over streamable HTTP, each client with a session of its own. */
export async function serveHttp(offer: Offer, { port, token }: HttpPlace): Promise<ServedHttp> {
  const clients = new Map<string, Client>();

  async function begin(): Promise<StreamableHTTPServerTransport> {
    for (const [id, { server, seenAtMs }] of clients) {
      if (Date.now() - seenAtMs < IDLE_MS) continue;
      clients.delete(id);
      await server.close();
    }
    const transport = new StreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID,
      eventStore: createEventLog(),
      retryInterval: RETRY_MS,
      onsessioninitialized: (id) => void clients.set(id, { transport, server, seenAtMs: Date.now() }),
      onsessionclosed: (id) => void clients.delete(id),
    });
    const server = servedClient(offer);
    await server.connect(transport);
    return transport;
  }

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const problem = problemOf(request, token);
    if (problem !== undefined) return refuse(response, problem.status, problem.words);
    const id = request.headers['mcp-session-id'];
    const client = typeof id === 'string' ? clients.get(id) : undefined;
    if (client !== undefined) client.seenAtMs = Date.now();
    if (client === undefined && id !== undefined) return refuse(response, 404, 'That session is over.');
    if (client === undefined && clients.size >= MOST_CLIENTS) return refuse(response, 503, 'Too many clients.');
    const transport = client?.transport ?? (await begin());
    await transport.handleRequest(request, response);
    // Whoever did not begin a session has left nothing.
    if (transport.sessionId === undefined) await transport.close();
  }

  const http = createServer((request, response) => {
    answer(request, response).catch(() => {
      if (response.headersSent) response.destroy();
      else refuse(response, 500, 'It could not be answered.');
    });
  });
  http.listen(port, '127.0.0.1');
  await once(http, 'listening');
  const address = http.address();
  const own = typeof address === 'object' && address !== null ? address.port : port;
  return {
    url: `http://127.0.0.1:${own}${PATH}`,
    async close() {
      await Promise.all([...clients.values()].map(({ server }) => server.close()));
      http.closeAllConnections();
      await new Promise((resolve) => http.close(resolve));
    },
  };
}

/** Pages of the web must not reach us through a name that points here, and nobody without the token. */
function problemOf({ headers, url = '' }: IncomingMessage, token: string | undefined) {
  if (!LOCAL_HOST.test(headers.host ?? '')) return { status: 403, words: 'This host is not served.' };
  if (headers.origin !== undefined && !isLocal(headers.origin))
    return { status: 403, words: 'This origin is not served.' };
  if (new URL(url, 'http://localhost').pathname !== PATH) return { status: 404, words: 'Nothing here.' };
  if (token !== undefined && !isSame(headers.authorization ?? '', `Bearer ${token}`))
    return { status: 401, words: 'The token that "ouro mcp serve" has told is wanted.' };
  return undefined;
}

function isLocal(origin: string): boolean {
  return URL.canParse(origin) && LOCAL_HOST.test(new URL(origin).host);
}

function isSame(given: string, wanted: string): boolean {
  const [one, other] = [Buffer.from(given), Buffer.from(wanted)];
  return one.length === other.length && timingSafeEqual(one, other);
}

function refuse(response: ServerResponse, status: number, message: string): void {
  response.writeHead(status, {
    'content-type': 'application/json',
    ...(status === 401 ? { 'www-authenticate': 'Bearer' } : {}),
  });
  response.end(JSON.stringify({ jsonrpc: '2.0', error: { code: -32_000, message }, id: null }));
}
