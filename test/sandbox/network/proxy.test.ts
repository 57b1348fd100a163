import { createServer } from 'node:http';
import { connect, createServer as createPlain, type Server } from 'node:net';
import { expect, test } from 'vitest';
import { createByteReader } from '../../../src/sandbox/network/byte-reader.ts';
import type { NetworkDestination } from '../../../src/sandbox/network/host-pattern.ts';
import {
  connectToFirstAddress,
  type ProxyConnectResult,
  serveProxyConnection,
} from '../../../src/sandbox/network/proxy.ts';

async function listening(server: Server | ReturnType<typeof createServer>): Promise<number> {
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  return typeof address === 'object' && address !== null ? address.port : 0;
}

/** A proxy that leads every allowed host to one server, which says back what it hears. */
async function proxied(text: string, answer: 'heard' | 'page' = 'heard') {
  const goals: (NetworkDestination & { token: string })[] = [];
  const server =
    answer === 'page'
      ? createServer((request, response) => void request.on('end', () => response.end('page')).resume())
      : createPlain({ allowHalfOpen: true }, (socket) => void socket.pipe(socket));
  const port = await listening(server);
  const pass = async (goal: NetworkDestination, token: string): Promise<ProxyConnectResult> => {
    goals.push({ ...goal, token });
    if (goal.host === 'no.test') return { ok: false, kind: 'refused', problem: 'No.' };
    if (goal.host === 'gone.test') return { ok: false, kind: 'unreachable', problem: 'Gone.' };
    return { ok: true, socket: await connectToFirstAddress(['127.0.0.1'], port) };
  };
  const proxy = createPlain(
    { allowHalfOpen: true },
    (socket) => void serveProxyConnection(socket, createByteReader(socket), pass),
  );
  const said = await new Promise<string>((resolve, reject) => {
    listening(proxy).then((at) => {
      const socket = connect({ port: at, host: '127.0.0.1' });
      let received = '';
      socket.setEncoding('latin1').on('data', (more: string) => {
        received += more;
      });
      socket.on('close', () => resolve(received)).on('error', reject);
      socket.end(Buffer.from(text, 'latin1'));
    }, reject);
  });
  server.close();
  proxy.close();
  return { said, goals };
}

test('a tunnel forwards every byte, including those that arrived with the request', async () => {
  const { said, goals } = await proxied('CONNECT Example.com:443 HTTP/1.1\r\nHost: x\r\n\r\nhello\0\xff');
  expect(said).toBe('HTTP/1.1 200 Connection established\r\n\r\nhello\0\xff');
  expect(goals).toEqual([{ host: 'example.com', port: 443, token: '' }]);
});

test('a plain request goes to the host of its URL, whatever its headers say', async () => {
  const { said } = await proxied(
    'POST http://good.test:8080/a?b HTTP/1.1\r\nHost: evil.test\r\nProxy-Authorization: Basic eDp5\r\nConnection: keep-alive\r\nContent-Length: 2\r\n\r\nhi',
  );
  expect(said).toBe('POST /a?b HTTP/1.1\r\nHost: good.test:8080\r\nContent-Length: 2\r\nConnection: close\r\n\r\nhi');
  expect((await proxied('GET http://good.test HTTP/1.1\r\n\r\n', 'page')).said).toMatch(
    /^HTTP\/1\.1 200 OK[\s\S]*page$/,
  );
});

test('a refusal states the reason, and so does an unreachable host', async () => {
  expect((await proxied('CONNECT no.test:443 HTTP/1.1\r\n\r\n')).said).toMatch(
    /^HTTP\/1\.1 403 [\s\S]*\r\n\r\nNo\.\n$/,
  );
  expect((await proxied('GET http://gone.test/ HTTP/1.1\r\n\r\n')).said).toMatch(/^HTTP\/1\.1 502 [\s\S]*Gone\.\n$/);
});

test.each([
  'GET / HTTP/1.1\r\n\r\n',
  'GET https://good.test/ HTTP/1.1\r\n\r\n',
  'GET file:///etc/passwd HTTP/1.1\r\n\r\n',
  'CONNECT good.test:443 HTTP/2\r\n\r\n',
  'CONNECT good.test:443 HTTP/1.1\r\n bad: x\r\n\r\n',
  'GET http://good.test/ HTTP/1.1\r\nNo colon\r\n\r\n',
  'GET http://good.test/ HTTP/1.1\r\nHost : x\r\n\r\n',
])('%j is not a proxy request', async (text) => {
  const { said, goals } = await proxied(text);
  expect(said).toMatch(/^HTTP\/1\.1 400 /);
  expect(goals).toEqual([]);
});

test.each([
  'CONNECT evil.test\0.good.test:443 HTTP/1.1\r\n\r\n',
  'CONNECT evil.test%00.good.test:443 HTTP/1.1\r\n\r\n',
  'CONNECT good.test:99999 HTTP/1.1\r\n\r\n',
  'CONNECT good.test HTTP/1.1\r\n\r\n',
  'GET http://me:pass@good.test/ HTTP/1.1\r\n\r\n',
  'GET http://evil.test\\@good.test/ HTTP/1.1\r\n\r\n',
])('%j is not a host', async (text) => {
  const { said, goals } = await proxied(text);
  expect(said).toMatch(/^HTTP\/1\.1 (?:400|403) /);
  expect(goals).toEqual([]);
});

const name = (host: string) => `\x03${String.fromCharCode(host.length)}${host}\x01\xbb`;

test('SOCKS 5 by name and by address, with and without a password', async () => {
  const plain = await proxied(`\x05\x01\x00\x05\x01\x00${name('good.test')}hello`);
  expect(plain.said).toBe('\x05\x00\x05\x00\x00\x01\x00\x00\x00\x00\x00\x00hello');
  expect(plain.goals).toEqual([{ host: 'good.test', port: 443, token: '' }]);
  const logged = await proxied(`\x05\x02\x00\x02\x01\x04ouro\x03key\x05\x01\x00\x01\x08\x08\x08\x08\x00\x50hi`);
  expect(logged.said).toBe('\x05\x02\x01\x00\x05\x00\x00\x01\x00\x00\x00\x00\x00\x00hi');
  expect(logged.goals).toEqual([{ host: '8.8.8.8', port: 80, token: 'key' }]);
  const six = await proxied(`\x05\x01\x00\x05\x01\x00\x04${'\x00'.repeat(15)}\x01\x00\x50`);
  expect(six.goals).toEqual([{ host: '::1', port: 80, token: '' }]);
});

test('SOCKS 5 refuses denied hosts, invalid names, and other commands than CONNECT', async () => {
  const answer = async (request: string) => (await proxied(`\x05\x01\x00${request}`)).said.charCodeAt(3);
  expect(await answer(`\x05\x01\x00${name('no.test')}`)).toBe(2);
  expect(await answer(`\x05\x01\x00${name('gone.test')}`)).toBe(4);
  expect(await answer(`\x05\x01\x00${name('evil.test\0.good.test')}`)).toBe(2);
  expect(await answer(`\x05\x02\x00${name('good.test')}`)).toBe(7);
  expect(await answer(`\x05\x03\x00${name('good.test')}`)).toBe(7);
  expect((await proxied('\x05\x01\x01')).said).toBe('\x05\xff');
});

test('an incomplete request is closed', async () => {
  for (const text of [
    '',
    'CONNECT good.test:443 HT',
    '\x05',
    '\x05\x01\x00\x05\x01\x00\x03\x20good',
    'x'.repeat(80_000),
  ])
    expect((await proxied(text)).goals).toEqual([]);
});
