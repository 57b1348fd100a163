import { once } from 'node:events';
import { createServer } from 'node:http';
import { expect, test } from 'vitest';
import { createMcpFetch, fetchFromAuthServer, isRenewalFailure } from '../../../src/mcp/auth/auth-server-fetch.ts';

/** A server whose path says how it answers. */
async function startServer() {
  const server = createServer(({ url }, response) => {
    if (url === '/token') response.end('{"access_token":"a"}');
    if (url === '/none') response.writeHead(204).end();
    if (url === '/half') response.write('{"access_');
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  const origin = `http://127.0.0.1:${typeof address === 'object' && address !== null ? address.port : 0}`;
  return {
    origin,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

test('a reply of an authorization server is passed on', async () => {
  await using server = await startServer();
  const response = await fetchFromAuthServer(`${server.origin}/token`);
  expect([response.status, await response.json()]).toEqual([200, { access_token: 'a' }]);
  expect((await fetchFromAuthServer(`${server.origin}/none`)).status).toBe(204);
});

test.each(['never', 'half'])(
  'an authorization server that hangs is named (%s), and can be tried again',
  async (path) => {
    await using server = await startServer();
    const failure = await fetchFromAuthServer(`${server.origin}/${path}`, {}, 50).catch((thrown: unknown) => thrown);
    expect(String(failure)).toContain(
      `The authorization server ${server.origin} did not answer within 0.05 s. Try again later.`,
    );
    expect(isRenewalFailure(failure)).toBe(true);
  },
);

test('an abort of the caller keeps its own error', async () => {
  await using server = await startServer();
  const signal = AbortSignal.abort(new Error('The user left.'));
  await expect(fetchFromAuthServer(`${server.origin}/never`, { signal })).rejects.toThrow('The user left.');
});

test('requests to the MCP server itself are passed on as streams', async () => {
  await using server = await startServer();
  const url = `${server.origin}/half`;
  const response = await createMcpFetch(url)(url);
  const first = await response.body?.getReader().read();
  expect(new TextDecoder().decode(first?.value)).toBe('{"access_');
});
