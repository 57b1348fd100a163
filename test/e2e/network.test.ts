import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { createServer as createHttpServer, request as send } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { connect, type Server } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { calls, says, toolUse } from '../support/api/reply.ts';
import { startApiServer } from '../support/api/server.ts';
import { NO_PROXY_AT_ALL } from '../support/environment.ts';
import { longTest } from '../support/long-test.ts';
import { runHere } from '../support/run-here.ts';
import { runOuro } from '../support/run-ouro.ts';
import { isWholeRun } from '../support/runs.ts';
import { createTempProject, type TempProject } from '../support/temp-project.ts';

const run = promisify(execFile);
const ownNetwork = await hasOwnNetwork();
const HOST = 'api.ouro-test.invalid';
let project: TempProject;

beforeEach(async () => {
  project = await createTempProject({ 'a.txt': 'alpha\n' });
});

afterEach(() => project.remove());

async function listening(server: Server): Promise<number> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  return typeof address === 'object' && address !== null ? address.port : 0;
}

/** A certificate nobody has signed but itself, for a host of this machine. */
async function selfSigned() {
  const [key, cert] = [join(project.home, 'key.pem'), join(project.home, 'cert.pem')];
  const names = `subjectAltName=DNS:localhost,DNS:${HOST},IP:127.0.0.1`;
  const args = ['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '2'];
  await run('openssl', [...args, ...['-keyout', key, '-out', cert, '-subj', `/CN=${HOST}`, '-addext', names]]);
  return { file: cert, pair: { key: await readFile(key), cert: await readFile(cert) } };
}

describe('a server with a private certificate', () => {
  longTest(
    'is trusted with NODE_EXTRA_CA_CERTS, also through a proxy and in env of the settings; without, the sentence names it',
    async () => {
      const { file, pair } = await selfSigned();
      await using api = await startApiServer({ turns: [], after: says('safe and sound') });
      const secure = createTlsServer(pair, (request, response) => {
        const forward = { method: request.method ?? 'GET', headers: request.headers };
        request.pipe(
          send(`${api.url}${request.url ?? ''}`, forward, (answer) => {
            response.writeHead(answer.statusCode ?? 0, answer.headers);
            answer.pipe(response);
          }),
        );
      });
      const asked: string[] = [];
      const proxy = createHttpServer((request, response) => {
        asked.push(`plain ${request.url}`);
        response.writeHead(502).end();
      });
      proxy.on('connect', (request, socket, head) => {
        asked.push(request.url ?? '');
        const tunnel = connect(port, '127.0.0.1', () => {
          socket.write('HTTP/1.1 200 Connection established\r\n\r\n');
          tunnel.write(head);
          tunnel.pipe(socket).pipe(tunnel);
        });
        tunnel.on('error', () => socket.destroy());
        socket.on('error', () => tunnel.destroy());
      });
      const port = await listening(secure);
      const proxyPort = await listening(proxy);
      const CA = { NODE_EXTRA_CA_CERTS: file };
      try {
        const proxied = { ...CA, HTTPS_PROXY: `http://127.0.0.1:${proxyPort}` };
        const [trusted, unknown, byEnvironment, bySettings] = await Promise.all([
          runOuro(project, ['-p', 'hi'], `https://localhost:${port}`, { env: CA }),
          runOuro(project, ['-p', 'hi'], `https://localhost:${port}`),
          runOuro(project, ['-p', 'hi'], `https://${HOST}`, { env: { ...NO_PROXY_AT_ALL, ...proxied } }),
          runOuro(project, ['-p', 'hi', '--settings', JSON.stringify({ env: proxied })], `https://${HOST}`, {
            env: NO_PROXY_AT_ALL,
          }),
        ]);
        expect(trusted).toMatchObject({ code: 0, stdout: 'safe and sound\n' });
        expect(unknown.code).toBe(1);
        expect(unknown.stdout + unknown.stderr).toMatch(/certificate of https:\/\/localhost.*NODE_EXTRA_CA_CERTS/s);
        expect(byEnvironment).toMatchObject({ code: 0, stdout: 'safe and sound\n' });
        expect(bySettings).toMatchObject({ code: 0, stdout: 'safe and sound\n' });
        expect(asked).toEqual([`${HOST}:443`, `${HOST}:443`]);
        expect(api.all()).toHaveLength(3);
      } finally {
        secure.closeAllConnections();
        proxy.closeAllConnections();
        secure.close();
        proxy.close();
      }
    },
  );
});

longTest('the base URL of a gateway keeps its path', async () => {
  await using api = await startApiServer({ turns: [], after: says('never') });
  const paths: (string | undefined)[] = [];
  const gateway = createHttpServer((request, response) => {
    paths.push(request.url);
    response.writeHead(404).end('{"error":{"message":"nothing here"}}');
  });
  const port = await listening(gateway);
  const { code } = await runHere(project, ['-p', 'hi'], `http://127.0.0.1:${port}/team/anthropic`);
  gateway.closeAllConnections();
  gateway.close();
  expect({ code, paths, elsewhere: api.all() }).toEqual({
    code: 1,
    paths: ['/team/anthropic/v1/messages'],
    elsewhere: [],
  });
});

longTest('an unknown host is reported by name', async () => {
  const { code, stdout, stderr } = await runHere(project, ['-p', 'hi'], 'http://nobody.invalid', {
    env: { ...NO_PROXY_AT_ALL, OURO_MAX_RETRIES: '1' },
  });
  expect(code).toBe(1);
  expect(stdout + stderr).toMatch(/No connection to http:\/\/nobody\.invalid.*base URL/s);
});

describe('nothing but the base URL is contacted', () => {
  const turns = [calls(toolUse('Read', { file_path: 'a.txt' })), says('It says alpha.')];

  test('all connections go to one address: a proxy for all others sees none', async () => {
    const asked: string[] = [];
    const proxy = createHttpServer((request, response) => {
      asked.push(request.url ?? '');
      response.writeHead(502).end();
    });
    proxy.on('connect', (request, socket) => {
      asked.push(request.url ?? '');
      socket.end('HTTP/1.1 502 No\r\n\r\n');
    });
    const all = `http://127.0.0.1:${await listening(proxy)}`;
    await using api = await startApiServer({ turns });
    const env = { HTTPS_PROXY: all, HTTP_PROXY: all, ALL_PROXY: all, NO_PROXY: '127.0.0.1' };
    const end = await runOuro(project, ['-p', 'what does it say?'], api.url, { env });
    proxy.close();
    expect(end).toMatchObject({ code: 0, stdout: 'It says alpha.\n', stderr: '' });
    expect(asked).toEqual([]);
    expect(api.all().map(({ path }) => path)).toEqual(['/v1/messages', '/v1/messages']);
  });

  // Where the kernel lets a user have a network of their own, it counts the packets that found no way out.
  test.runIf(ownNetwork && isWholeRun)('on a machine with loopback only, no packet is sent elsewhere', async () => {
    const program = fileURLToPath(new URL('../support/offline-run.ts', import.meta.url));
    const line = 'ip link set lo up && exec "$@"';
    const runtime = [process.execPath, '--no-env-file', `--config=${join(import.meta.dirname, '../../bunfig.toml')}`];
    const { stdout } = await run('unshare', ['-rn', 'sh', '-c', line, 'sh', ...runtime, program]);
    expect(JSON.parse(stdout)).toEqual({ code: 0, stdout: 'It says alpha.\n', attempts: 0, seen: 'yes' });
  });
});

function hasOwnNetwork(): Promise<boolean> {
  return run('unshare', ['-rn', 'sh', '-c', 'ip link set lo up']).then(
    () => true,
    () => false,
  );
}
