import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { readFile, writeFile } from 'node:fs/promises';
import { createServer as createTlsServer } from 'node:https';
import { createServer, type Server, type Socket } from 'node:net';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { beforeAll, expect, test } from 'vitest';
import { createAnthropicPort } from '../../../src/model/providers/anthropic/anthropic-port.ts';
import { createOpenAiPort } from '../../../src/model/providers/openai-chat/openai-chat-port.ts';
import { createNetworkFetch } from '../../../src/model/stream/network-fetch.ts';
import { createTempFolder } from '../../support/temp-folder.ts';
import { drain } from '../support.ts';

const run = promisify(execFile);
let dir = '';

/** Two certificates, one with a locked key. */
beforeAll(async () => {
  dir = createTempFolder();
  const make = (name: string) =>
    run('openssl', [
      ...['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '2'],
      ...['-keyout', join(dir, `${name}.key`), '-out', join(dir, `${name}.pem`), '-subj', '/CN=localhost'],
      ...['-addext', 'subjectAltName=DNS:localhost,IP:127.0.0.1'],
    ]);
  await Promise.all([make('me'), make('other')]);
  await run('openssl', [
    'ec',
    '-aes256',
    '-passout',
    'pass:secret',
    '-in',
    join(dir, 'me.key'),
    '-out',
    join(dir, 'locked.key'),
  ]);
  await writeFile(join(dir, 'rubbish.pem'), 'rubbish');
});

async function listening(server: Server): Promise<number> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  return typeof address === 'object' && address !== null ? address.port : 0;
}

/** The sentence for one request, by either port, through these surroundings. */
async function failure(url: string, variables: Readonly<Record<string, string>>, keyPassphrase?: string) {
  const network = createNetworkFetch({ variables, keyPassphrase });
  const ports = [
    createAnthropicPort({ credentials: { apiKey: 'k' }, baseUrl: url, fetch: network }),
    createOpenAiPort({ baseUrl: url, fetch: network }),
  ];
  const outcomes = await Promise.all(ports.map((port) => drain(port)));
  const [first, second] = outcomes.map(({ outcome }) => (outcome.ok ? undefined : outcome.failure));
  expect(second).toEqual(first);
  return first;
}

const answering = (words: string) => (socket: Socket) => void socket.on('data', () => socket.end(words));

test.each<[string, (socket: Socket) => void, string, RegExp]>([
  ['speaks rubbish', (socket) => void socket.end('SSH-2.0-OpenSSH_9.2\r\n'), 'invalid', /is not an HTTP proxy/],
  [
    'wants a password',
    answering('HTTP/1.1 407 Proxy Authentication Required\r\n\r\n'),
    'invalid',
    /407.*user name and password to HTTPS_PROXY/,
  ],
  ['refuses', answering('HTTP/1.1 403 Forbidden\r\n\r\n'), 'invalid', /refused to connect: 403 Forbidden/],
  ['has no way out', answering('HTTP/1.1 502 Bad Gateway\r\n\r\n'), 'network', /refused to connect: 502 Bad Gateway/],
  ['hangs up', (socket) => void socket.destroy(), 'network', /was lost \(ECONNRESET\)/],
])('a proxy that %s is reported', async (_, act, kind, words) => {
  const server = createServer((socket) => act(socket.on('error', () => undefined)));
  const port = await listening(server);
  const failed = await failure('https://api.test.invalid', { HTTPS_PROXY: `http://me:secret@127.0.0.1:${port}` });
  server.close();
  expect(failed).toMatchObject({ kind, message: expect.stringMatching(words) });
  expect(failed?.message).toContain(`http://127.0.0.1:${port} (HTTPS_PROXY)`);
  expect(failed?.message).not.toContain('secret');
});

test.each([
  ['http://127.0.0.1:1', 'network', /proxy http:\/\/127\.0\.0\.1:1 \(HTTPS_PROXY\) cannot be reached \(ECONNREFUSED\)/],
  ['127.0.0.1:1', 'network', /\(HTTPS_PROXY\) cannot be reached/],
  ['http://nowhere.invalid:3128', 'network', /nowhere\.invalid:3128 \(HTTPS_PROXY\) cannot be reached/],
  ['socks5://127.0.0.1:1080', 'invalid', /HTTPS_PROXY names a proxy of type SOCKS.*only HTTP proxies/],
  ['socks4a://127.0.0.1:1080', 'invalid', /HTTPS_PROXY names a proxy of type SOCKS/],
  ['ftp://127.0.0.1', 'invalid', /HTTPS_PROXY names a proxy of type ftp/],
  ['http://', 'invalid', /HTTPS_PROXY is "http:\/\/", which is not a proxy address/],
  ['http://127.0.0.1:99999', 'invalid', /not a proxy address/],
])('the proxy %s', async (proxy, kind, words) => {
  expect(await failure('https://api.test.invalid', { HTTPS_PROXY: proxy })).toMatchObject({
    kind,
    message: expect.stringMatching(words),
  });
});

test.each<[string, string | undefined, string | undefined, string | undefined, RegExp]>([
  ['without its key', 'me.pem', undefined, undefined, /needs two files/],
  ['that is not there', 'gone.pem', 'me.key', undefined, /gone\.pem \(CLAUDE_CODE_CLIENT_CERT\) cannot be read/],
  [
    'that is rubbish',
    'rubbish.pem',
    'me.key',
    undefined,
    /rubbish\.pem \(CLAUDE_CODE_CLIENT_CERT\) does not contain a certificate/,
  ],
  [
    'whose key is rubbish',
    'me.pem',
    'rubbish.pem',
    undefined,
    /rubbish\.pem \(CLAUDE_CODE_CLIENT_KEY\) does not contain a readable key/,
  ],
  ['with the key of another', 'me.pem', 'other.key', undefined, /does not match the certificate/],
  ['with a locked key', 'me.pem', 'locked.key', undefined, /CLAUDE_CODE_CLIENT_KEY_PASSPHRASE is missing or wrong/],
  [
    'with the wrong word for its key',
    'me.pem',
    'locked.key',
    'wrong',
    /CLAUDE_CODE_CLIENT_KEY_PASSPHRASE is missing or wrong/,
  ],
])('a client certificate %s is reported', async (_, cert, key, passphrase, words) => {
  const variables = {
    ...(cert && { CLAUDE_CODE_CLIENT_CERT: join(dir, cert) }),
    ...(key && { CLAUDE_CODE_CLIENT_KEY: join(dir, key) }),
  };
  expect(await failure('https://127.0.0.1:1', variables, passphrase)).toMatchObject({
    kind: 'invalid',
    message: expect.stringMatching(words),
  });
});

test('a server that requires a client certificate gets the configured one; without it the message names it', async () => {
  const [cert, key] = await Promise.all(['me.pem', 'me.key'].map((name) => readFile(join(dir, name))));
  const server = createTlsServer(
    { cert, key, ca: cert, requestCert: true, rejectUnauthorized: true },
    (_request, response) => response.writeHead(200, { 'content-type': 'application/json' }).end('{}'),
  );
  const url = `https://localhost:${await listening(server)}`;
  // The server is known by its own certificate here; whom it trusts is what is tested.
  const trusting: typeof fetch = (input, init) =>
    fetch(
      input,
      Object.assign({}, init, { tls: { ...(init !== undefined && 'tls' in init && Object(init.tls)), ca: cert } }),
    );
  const ask = async (variables: Readonly<Record<string, string>>, keyPassphrase?: string) => {
    const send = createNetworkFetch({ variables, keyPassphrase }, trusting);
    const { outcome } = await drain(createOpenAiPort({ baseUrl: url, fetch: send }));
    return outcome.ok ? 'a reply' : outcome.failure.message;
  };
  const files = (certFile: string, keyFile: string) => ({
    CLAUDE_CODE_CLIENT_CERT: join(dir, certFile),
    CLAUDE_CODE_CLIENT_KEY: join(dir, keyFile),
  });
  const words = await Promise.all([
    ask({}),
    ask(files('other.pem', 'other.key')),
    ask(files('me.pem', 'locked.key'), 'secret'),
    ask(files('me.pem', 'me.key')),
  ]);
  server.close();
  server.closeAllConnections();
  expect(words[0]).toMatch(/CLAUDE_CODE_CLIENT_CERT/);
  expect(words[1]).toMatch(/may not accept the client certificate .*other\.pem/);
  expect(words[2]).toMatch(/instead of an event stream/);
  expect(words[3]).toMatch(/instead of an event stream/);
});

test('a plain reply is requested, beside the headers of the caller', async () => {
  const sent: Headers[] = [];
  const send: typeof fetch = Object.assign(
    async (_input: unknown, init?: RequestInit) => {
      sent.push(new Headers(init?.headers));
      return new Response('');
    },
    { preconnect: () => undefined },
  );
  const network = createNetworkFetch({ variables: {}, keyPassphrase: undefined }, send);
  await network('http://127.0.0.1', { headers: { 'x-api-key': 'k' } });
  await network(new Request('http://127.0.0.1', { headers: { 'x-api-key': 'k' } }));
  expect(sent.map((headers) => [headers.get('accept-encoding'), headers.get('x-api-key')])).toEqual([
    ['identity', 'k'],
    ['identity', 'k'],
  ]);
});
