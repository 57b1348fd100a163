import { createServer, request } from 'node:http';
import { expect, test } from 'vitest';
import { fetch } from '../../../src/lib/network/fetch.ts';
import { createAgent } from '../../../src/sdk/agent/create-agent.ts';
import type { AgentOptions } from '../../../src/sdk/agent/options.ts';
import { type ConnectOptions, connectAgent } from '../../../src/sdk/remote/connect-agent.ts';
import { type ServeOptions, serveAgent } from '../../../src/sdk/remote/serve-agent.ts';
import { buildApplicationTool } from '../../../src/tools/definition/application-tool.ts';
import { calls, type ScriptedReply, says, scripted } from '../../support/loop/scripted.ts';

/** An agent behind HTTP, and the sockets that tests may cut. */
async function startServer(replies: readonly ScriptedReply[], options: AgentOptions = {}, serving: ServeOptions = {}) {
  const { model, requests } = scripted(replies);
  const agent = createAgent({ model, ...options });
  const served = serveAgent(agent, serving);
  const http = createServer((request, response) => void served.handle(request, response));
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve));
  const address = http.address();
  if (address === null || typeof address === 'string') throw new Error('The server has no port.');
  const url = `http://127.0.0.1:${address.port}`;
  return {
    agent,
    url,
    requests,
    cut: () => http.closeAllConnections(),
    connect: (more: ConnectOptions = {}) => connectAgent(url, more),
    async [Symbol.asyncDispose]() {
      served.close();
      http.closeAllConnections();
      await new Promise((resolve) => http.close(resolve));
    },
  };
}

test('a client runs an agent elsewhere, and sees the same events and state', async () => {
  await using server = await startServer([says('Hello from afar.')]);
  const client = await server.connect();
  const local: string[] = [];
  const remote: string[] = [];
  server.agent.subscribe((event) => void local.push(JSON.stringify(event)));
  client.subscribe((event) => void remote.push(JSON.stringify(event)));
  const end = await client.prompt('hi');
  expect(end).toMatchObject({ reason: 'completed', text: 'Hello from afar.' });
  await server.agent.waitForIdle();
  expect(remote).toEqual(local);
  expect(client.state()).toEqual(server.agent.state());
  expect(client.sessionId).toBe(server.agent.sessionId);
  client.close();
});

test('a late client and one with a broken connection miss nothing', async () => {
  let proceed: () => void = () => undefined;
  const hold = new Promise<void>((resolve) => {
    proceed = resolve;
  });
  await using server = await startServer([{ ...says('One.'), hold }, says('Two.')]);
  const states: string[] = [];
  const client = await server.connect({ onConnection: (state) => states.push(state) });
  const run = client.prompt('hi');
  await expect.poll(() => server.agent.state().partial?.blocks.length).toBe(1);
  const late = await server.connect();
  expect(late.state().partial?.blocks).toEqual([{ type: 'text', text: 'One.' }]);
  server.cut();
  await expect.poll(() => states.at(-1)).toBe('disconnected');
  proceed();
  expect(await run).toMatchObject({ reason: 'completed', text: 'One.' });
  expect(states).toEqual(['connected', 'disconnected', 'connected']);
  await late.prompt('again');
  await expect.poll(() => client.state().messages.length).toBe(4);
  expect(client.state()).toEqual(server.agent.state());
  client.close();
  late.close();
});

test('a client that was away for too long gets the whole state', async () => {
  await using server = await startServer([says('One.'), says('Two.')], {}, { keepLines: 2 });
  const client = await server.connect();
  server.cut();
  await server.agent.prompt('hi');
  await expect.poll(() => client.state().messages.length).toBe(2);
  expect(client.state()).toEqual(server.agent.state());
  client.close();
});

const pay = buildApplicationTool({
  name: 'Pay',
  prompt: 'Pays.',
  input: {},
  requiresApproval: true,
  call: () => 'paid',
});

test('a question goes only to a client that can answer', async () => {
  await using server = await startServer(
    [calls('Pay'), says('a'), calls('Pay'), says('b')],
    { tools: [pay] },
    { graceMs: 0 },
  );
  const watcher = await server.connect();
  await watcher.prompt('pay');
  expect(JSON.stringify(watcher.state().messages)).toContain('this run cannot ask for approval');
  const clerk = await server.connect({ answers: true });
  clerk.subscribe((event) => {
    if (event.type === 'permission_request') clerk.answerPermission(event.request.id, { behavior: 'allow' });
  });
  await watcher.prompt('pay');
  expect(JSON.stringify(watcher.state().messages)).toContain('"paid"');
  watcher.close();
  clerk.close();
});

test('a question ends with no when the client that answers is gone', async () => {
  await using server = await startServer([calls('Pay'), says('so be it')], { tools: [pay] }, { graceMs: 0 });
  const clerk = await server.connect({ answers: true });
  const asked = new Promise<void>((resolve) => {
    server.agent.subscribe((event) => void (event.type === 'permission_request' && resolve()));
  });
  const run = server.agent.prompt('pay');
  await asked;
  clerk.close();
  expect(await run).toMatchObject({ reason: 'completed', text: 'so be it' });
});

test('remote commands work: queue, remove, abort, change, append, reset', async () => {
  await using server = await startServer([{ ...says('One.'), hold: new Promise(() => undefined) }, says('Two.')]);
  const client = await server.connect();
  const run = client.prompt('hi');
  await expect.poll(() => client.state().partial).toBeDefined();
  const kept = client.steer('and this');
  const dropped = client.followUp('not this');
  await expect.poll(() => client.state().queue.length).toBe(2);
  expect(client.unqueue(dropped.id)?.id).toBe(dropped.id);
  await expect.poll(() => client.state().queue.map(({ id }) => id)).toEqual([kept.id]);
  await expect(client.prompt('me too')).rejects.toThrow(/already running/);
  client.abort();
  expect((await run).reason).toBe('aborted_streaming');
  client.clearAllQueues();
  client.change({ systemPrompt: 'Be brief.' });
  await client.append({ role: 'user', content: 'a note' });
  await expect.poll(() => client.state().systemPrompt).toEqual([{ name: 'base', text: 'Be brief.' }]);
  client.reset();
  await expect.poll(() => client.state().messages).toEqual([]);
  expect(server.agent.state().messages).toEqual([]);
  client.close();
});

test('the signal of a run aborts it remotely', async () => {
  await using server = await startServer([{ ...says('One.'), hold: new Promise(() => undefined) }]);
  const client = await server.connect();
  const stop = new AbortController();
  const run = client.prompt('hi', { signal: stop.signal });
  await expect.poll(() => client.state().partial).toBeDefined();
  stop.abort();
  expect((await run).reason).toBe('aborted_streaming');
  client.close();
});

test('without the token nothing is readable or possible, and the client gets an error', async () => {
  await using server = await startServer([says('hi')], {}, { token: 'secret' });
  await expect(server.connect()).rejects.toThrow('answered 401');
  await expect(server.connect({ token: 'wrong' })).rejects.toThrow('answered 401');
  const client = await server.connect({ token: 'secret' });
  expect((await client.prompt('hi')).text).toBe('hi');
  client.close();
});

test.each([
  ['a page of another origin, which cannot send JSON unasked', { headers: { 'content-type': 'text/plain' } }, 415],
  ['a body that is no call', { body: '{"method":"prompt"}' }, 400],
  ['a body that is no JSON', { body: '{' }, 400],
  ['a method that is not offered', { body: '{"id":"1","method":"runExclusive","args":[]}' }, 404],
  ['a property of every object', { body: '{"id":"1","method":"constructor","args":[]}' }, 404],
])('a call from %s is refused', async (_, request, status) => {
  await using server = await startServer([]);
  const init = { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{}', ...request };
  expect((await fetch(`${server.url}/call`, init)).status).toBe(status);
});

test('a missing server is an error, and so is a call on a closed connection', async () => {
  await expect(connectAgent('http://127.0.0.1:9')).rejects.toThrow('http://127.0.0.1:9 cannot be reached');
  await using server = await startServer([]);
  const client = await server.connect();
  const waiting = client.prompt('');
  await expect(waiting).rejects.toThrow('prompt: the prompt is empty');
  client.close();
  await expect(client.prompt('hi')).rejects.toThrow('The connection is closed.');
});

test('a call ends when its server is gone for too long', async () => {
  // A call is accepted however long a busy machine takes.
  const patient = (address: string | URL | Request, init: RequestInit = {}) =>
    fetch(address, init.method === 'POST' ? { ...init, signal: null } : init);
  const options: object = { token: undefined, timeoutMs: 50, fetch: patient };
  const server = await startServer([{ ...says('One.'), hold: new Promise(() => undefined) }]);
  const client = await server.connect(options);
  const run = client.prompt('hi');
  await expect.poll(() => client.state().partial).toBeDefined();
  await server[Symbol.asyncDispose]();
  await expect(run).rejects.toThrow('could not be reached for 0.05 s');
  await expect(client.prompt('again')).rejects.toThrow('cannot be reached');
  client.close();
});

test('a call that is not accepted in time is told like an outage', async () => {
  await using server = await startServer([]);
  const silent = (address: string | URL | Request, init: RequestInit = {}) =>
    init.method === 'POST'
      ? new Promise<Response>((_, reject) =>
          init.signal?.addEventListener('abort', () => reject(init.signal?.reason as Error), { once: true }),
        )
      : fetch(address, init);
  const client = await server.connect({ timeoutMs: 50, fetch: silent });
  await expect(client.prompt('hi')).rejects.toThrow(/^http:\/\/127\.0\.0\.1:\d+ could not be reached for 0\.05 s\.$/);
  client.close();
});

/** Sends raw headers, as `fetch` sets no foreign Host. */
function post(url: string, headers: Readonly<Record<string, string>>): Promise<number> {
  return new Promise((resolve, reject) => {
    const sent = request(`${url}/call`, { method: 'POST', headers }, (response) => {
      response.resume();
      resolve(response.statusCode ?? 0);
    });
    sent.on('error', reject);
    sent.end(JSON.stringify({ id: '1', method: 'abort', args: [] }));
  });
}

const JSON_BODY = { 'content-type': 'application/json' };

test.each([
  [{ host: 'evil.example' }, 403],
  [{ host: 'evil.example:80' }, 403],
  [{ host: 'localhost.evil.example' }, 403],
  [{ host: '127.0.0.1.evil.example' }, 403],
  [{ host: '0.0.0.0' }, 403],
  [{ origin: 'http://evil.example' }, 403],
  [{ origin: 'null' }, 403],
  [{ origin: 'http://127.0.0.1:1' }, 403],
  [{ host: 'localhost:9', origin: 'http://localhost:8' }, 403],
  [{ host: 'localhost:9', origin: 'https://localhost:9' }, 403],
  [{ host: 'localhost:9', origin: 'http://localhost:9' }, 202],
  [{ 'sec-fetch-site': 'cross-site' }, 403],
  [{ 'sec-fetch-site': 'same-site' }, 403],
  [{ 'sec-fetch-site': 'none' }, 202],
  [{ host: '[::1]:9' }, 202],
  [{}, 202],
])('without a token, a request with %j gets %d', async (headers, status) => {
  await using server = await startServer([]);
  expect(await post(server.url, { ...JSON_BODY, ...headers })).toBe(status);
});

test.each([
  ['application/json', 202],
  ['application/json; charset=utf-8', 202],
  ['application/jsonp', 415],
  ['application/json-patch+json', 415],
  ['application/json, text/plain', 415],
  ['text/plain; application/json', 415],
])('a call of type %s gets %d', async (type, status) => {
  await using server = await startServer([]);
  expect(await post(server.url, { 'content-type': type })).toBe(status);
});

test('with a token, any host is served, and no other token is accepted', async () => {
  await using server = await startServer([], {}, { token: 'abc' });
  const send = (authorization: string) =>
    post(server.url, { ...JSON_BODY, host: 'agents.example', origin: 'https://a.example', authorization });
  const tokens = ['Bearer abc', 'Bearer ab', 'Bearer abcd', 'bearer abc', 'abc', ''];
  expect(await Promise.all(tokens.map(send))).toEqual([202, 401, 401, 401, 401, 401]);
});
