import { connect as connectPlainly, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { ByteReader } from './byte-reader.ts';
import type { NetworkDestination } from './host-pattern.ts';
import { buildSocksReply, formatHttpResponse, parseHttpHead, readSocksRequest } from './proxy-protocols.ts';

/** The result of a connection attempt: the socket, or the reason, which the program and the model read. */
export type ProxyConnectResult =
  | { readonly ok: true; readonly socket: Socket }
  | { readonly ok: false; readonly why: string; readonly kind: 'refused' | 'unreachable' | 'unknown' };

/** Checks and opens one connection. The token, if the program sent one, identifies the command. */
export type ProxyConnect = (destination: NetworkDestination, token: string) => Promise<ProxyConnectResult>;

const HEAD_BYTES = 64_000;
const SOCKS_5 = 5;

/**
 * Serves one connection of a program: HTTP, CONNECT tunnels and SOCKS 5, distinguished by the first byte. Only the
 * request at the start is parsed; the rest is passed on unchanged.
 */
export async function serveProxyConnection(program: Duplex, bytes: ByteReader, pass: ProxyConnect): Promise<void> {
  program.on('error', () => program.destroy());
  try {
    const [first = 0] = await bytes.peek();
    await (first === SOCKS_5 ? serveSocks(program, bytes, pass) : serveHttp(program, bytes, pass));
  } catch {
    // Disconnected, or not a valid request: there is no protocol to answer in.
    program.destroy();
  }
}

/** Connects to the first address that answers. */
export async function connectToFirstAddress(addresses: readonly string[], port: number): Promise<Socket> {
  let problem: unknown = new Error('there is no address');
  for (const host of addresses) {
    try {
      return await waitForConnect(connectPlainly({ host, port }));
    } catch (thrown) {
      problem = thrown;
    }
  }
  throw problem;
}

/** Waits until a socket is connected. */
export function waitForConnect(socket: Socket): Promise<Socket> {
  return new Promise((resolve, reject) => {
    socket.once('connect', () => resolve(socket)).once('error', reject);
  });
}

async function serveHttp(program: Duplex, bytes: ByteReader, pass: ProxyConnect): Promise<void> {
  const request = parseHttpHead(await bytes.takeThrough('\r\n\r\n', HEAD_BYTES));
  if (request === undefined) {
    program.end(
      formatHttpResponse('400 Bad Request', 'This is a proxy. It accepts http:// URLs and CONNECT requests.'),
    );
    return;
  }
  const passage = await openPassage(request, pass);
  if (!passage.ok) {
    const status = STATUS[passage.kind];
    const headers = passage.kind === 'unknown' ? ['Proxy-Authenticate: Basic realm="sandbox"'] : [];
    program.end(formatHttpResponse(status, passage.why, headers));
    return;
  }
  if (request.kind === 'tunnel') program.write('HTTP/1.1 200 Connection established\r\n\r\n');
  else passage.socket.write(request.head, 'latin1');
  pipeBoth(program, bytes, passage.socket);
}

const STATUS = {
  refused: '403 Forbidden',
  unreachable: '502 Bad Gateway',
  unknown: '407 Proxy Authentication Required',
} as const;

async function serveSocks(program: Duplex, bytes: ByteReader, pass: ProxyConnect): Promise<void> {
  const request = await readSocksRequest(bytes, (answer) => void program.write(answer));
  if (request.kind === 'none') {
    program.end();
    return;
  }
  const passage = await openPassage(request, pass);
  if (!passage.ok) {
    program.end(buildSocksReply(passage.kind === 'unreachable' ? 'unreachable' : 'refused'));
    return;
  }
  program.write(buildSocksReply('well'));
  pipeBoth(program, bytes, passage.socket);
}

type ProxyRequest = { readonly destination: NetworkDestination | undefined; readonly token: string };

async function openPassage({ destination, token }: ProxyRequest, pass: ProxyConnect): Promise<ProxyConnectResult> {
  if (destination === undefined) return { ok: false, kind: 'refused', why: 'The host name is invalid.' };
  return pass(destination, token);
}

/** Connects both streams; when one closes, so does the other. */
function pipeBoth(program: Duplex, bytes: ByteReader, server: Socket): void {
  const rest = bytes.rest();
  if (rest.length > 0) server.write(rest);
  program.pipe(server).on('error', () => program.destroy());
  server.pipe(program).on('error', () => server.destroy());
  closeTogether(program, server);
  closeTogether(server, program);
}

/** Ends the other stream after a complete one, and destroys it after an aborted one. */
function closeTogether(stream: Duplex, other: Duplex): void {
  stream.on('close', () => {
    if (stream.readableEnded) other.end();
    else other.destroy();
  });
}
