import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { setTimeout as wait } from 'node:timers/promises';
import { expect, test } from 'vitest';
import type { McpHub } from '../../../src/mcp/hub.ts';
import { callTool } from '../../support/call-tool.ts';
import { someOf } from '../../support/runs.ts';
import { configured, inTime, startHub } from '../servers.ts';

type Refusal = { readonly status: number; readonly body: string };

const NOT_FOUND: Refusal = { status: 404, body: 'Session not found' };

/** A server with JSON answers and sessions that do not outlive it. It counts the calls that it ran. */
async function startServer(refusal: Refusal) {
  let sessions = new Set<string>();
  let run = 0;
  let http: Server | undefined;
  let port = 0;
  const calls: string[] = [];
  const held: ServerResponse[] = [];
  let isHolding = false;
  let isCutting = false;

  const results: Readonly<Record<string, (params: { readonly name?: string; readonly uri?: string }) => object>> = {
    initialize: () => ({
      protocolVersion: '2025-06-18',
      capabilities: { tools: { listChanged: true }, prompts: {}, resources: {} },
      serverInfo: { name: 'restarts', version: String(run) },
    }),
    ping: () => ({}),
    'tools/list': () => ({
      tools: ['echo', `of-run-${run}`].map((name) => ({ name, inputSchema: { type: 'object' } })),
    }),
    'prompts/list': () => ({ prompts: [{ name: 'hello' }] }),
    'resources/list': () => ({ resources: [{ uri: 'a:1', name: 'one' }] }),
    'tools/call': ({ name }) => ({ content: [{ type: 'text', text: `${name} in run ${run}` }] }),
    'prompts/get': ({ name }) => ({
      messages: [{ role: 'user', content: { type: 'text', text: `${name} in run ${run}` } }],
    }),
    'resources/read': ({ uri }) => ({ contents: [{ uri, text: `${uri} in run ${run}` }] }),
  };

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await text(request);
    if (request.method !== 'POST') return void response.writeHead(405).end();
    const { id, method, params } = JSON.parse(body);
    const session = request.headers['mcp-session-id'];
    if (method !== 'initialize' && (typeof session !== 'string' || !sessions.has(session)))
      return void response.writeHead(refusal.status, { 'content-type': 'text/plain' }).end(refusal.body);
    if (id === undefined) return void response.writeHead(202).end();
    if (['tools/call', 'prompts/get', 'resources/read'].includes(method)) calls.push(`${method} ${run}`);
    if (isCutting && method === 'tools/call')
      return void response.writeHead(200, { 'content-type': 'text/event-stream' }).end();
    if (isHolding && method === 'tools/call') return void held.push(response);
    const created = `${run}-${sessions.size}`;
    if (method === 'initialize') sessions.add(created);
    const headers = method === 'initialize' ? { 'mcp-session-id': created } : {};
    const result = results[method]?.(params ?? {});
    response
      .writeHead(200, { 'content-type': 'application/json', ...headers })
      .end(JSON.stringify({ jsonrpc: '2.0', id, result }));
  }

  async function listen(): Promise<void> {
    run += 1;
    sessions = new Set();
    http = createServer((request, response) => void answer(request, response));
    await listenAgain(http, port);
    const address = http.address();
    port = typeof address === 'object' && address !== null ? address.port : 0;
  }

  async function stop(): Promise<void> {
    const stopped = new Promise((resolve) => http?.close(resolve));
    http?.closeAllConnections();
    await stopped;
  }

  await listen();
  return {
    url: `http://127.0.0.1:${port}/mcp`,
    calls,
    hold(): void {
      isHolding = true;
    },
    /** Ends the stream of every call without its answer. */
    cut(): void {
      isCutting = true;
    },
    /** Forgets its sessions; what was held is never answered. */
    async restart(downMs = 0): Promise<void> {
      isHolding = false;
      await stop();
      if (downMs > 0) await wait(downMs);
      await listen();
    },
    forget(): void {
      run += 1;
      sessions = new Set();
    },
    [Symbol.asyncDispose]: stop,
  };
}

/** Listens as soon as the port is free again. */
async function listenAgain(http: Server, port: number): Promise<void> {
  for (;;) {
    try {
      http.listen(port, '127.0.0.1');
      await once(http, 'listening');
      return;
    } catch {
      await wait(10);
    }
  }
}

type RestartingServer = Awaited<ReturnType<typeof startServer>>;

/** How the server loses its sessions; the call begins as soon as this resolves. */
const LOSSES: Readonly<Record<string, readonly [Refusal, (server: RestartingServer) => Promise<unknown>]>> = {
  'is restarted': [NOT_FOUND, (server) => server.restart()],
  'is restarted twice': [NOT_FOUND, (server) => server.restart().then(() => server.restart())],
  'forgets its sessions': [NOT_FOUND, async (server) => server.forget()],
  'answers an unknown session with 400': [
    {
      status: 400,
      body: '{"jsonrpc":"2.0","error":{"code":-32000,"message":"Bad Request: No valid session ID provided"}}',
    },
    async (server) => server.forget(),
  ],
  'says that it is not initialized': [
    { status: 400, body: 'Bad Request: Server not initialized' },
    async (server) => server.forget(),
  ],
  'answers 404 without words': [{ status: 404, body: '' }, async (server) => server.forget()],
  'is down for a moment': [
    NOT_FOUND,
    async (server) => {
      const restarted = server.restart(400);
      await wait(20);
      return { restarted };
    },
  ],
};

const CALLS: Readonly<Record<string, (hub: McpHub) => Promise<unknown>>> = {
  'tools/call': (hub) => {
    const tool = hub.listTools().find(({ name }) => name === 'mcp__remote__echo');
    if (tool === undefined) throw new Error('there is no tool');
    return callTool(tool, {});
  },
  'prompts/get': (hub) => hub.runPrompt('mcp__remote__hello', '', inTime()),
  'resources/read': (hub) => hub.readResourceBlocks('remote', 'a:1', inTime()),
};

async function connect(server: RestartingServer) {
  const started = startHub([configured('remote', { kind: 'http', url: server.url, headers: {} })]);
  await started.hub.whenSettled();
  await started.hub.whenCommandListed('mcp__remote__hello');
  return started;
}

const cases = Object.entries(LOSSES).flatMap(([loss, [refusal, lose]]) =>
  Object.entries(CALLS).map(([method, call]) => ({ loss, refusal, lose, method, call })),
);

test.concurrent.each(someOf(cases, 4))(
  'when the server $loss, $method runs once, in a new session',
  async ({ refusal, lose, method, call }) => {
    await using server = await startServer(refusal);
    await using started = await connect(server);
    await call(started.hub);
    await lose(server);
    const outcome = JSON.stringify(await call(started.hub));
    const [first, second, ...more] = server.calls;
    const run = second?.split(' ')[1];
    expect({ first, method: second?.split(' ')[0], more }).toEqual({ first: `${method} 1`, method, more: [] });
    expect(outcome).toContain(`in run ${run}`);
    expect(Number(run)).toBeGreaterThan(1);
  },
);

test('a call during the restart is not repeated, and fails at once', async () => {
  await using server = await startServer(NOT_FOUND);
  await using started = await connect(server);
  server.hold();
  const running = CALLS['tools/call']?.(started.hub).catch((thrown: unknown) => String(thrown));
  await expect.poll(() => server.calls.length).toBe(1);
  await server.restart();
  expect(await running).toMatch(/not known|unknown|ended|answered with an error/);
  expect(server.calls).toEqual(['tools/call 1']);
});

test('a call whose stream ends without an answer fails at once, and is not repeated', async () => {
  await using server = await startServer(NOT_FOUND);
  await using started = await connect(server);
  server.cut();
  await expect(CALLS['tools/call']?.(started.hub)).rejects.toThrow('without an answer; whether it took effect is not');
  expect(server.calls).toEqual(['tools/call 1']);
});

test('the tools of a restarted server are listed again', async () => {
  await using server = await startServer(NOT_FOUND);
  await using started = await connect(server);
  await server.restart();
  await CALLS['tools/call']?.(started.hub);
  await expect.poll(() => started.hub.listTools().map(({ name }) => name)).toContain('mcp__remote__of-run-2');
});
