import { connect as connectPlainly, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { ByteReader } from './byte-reader.ts';
import { type NetworkDestination, parseNetworkDestination } from './host-pattern.ts';

/** The result of a connection attempt: the socket, or the reason, which the program and the model read. */
export type ProxyConnectResult =
  | { readonly ok: true; readonly socket: Socket }
  | { readonly ok: false; readonly problem: string; readonly kind: 'refused' | 'unreachable' | 'unknown' };

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
    program.end(formatHttpResponse(status, passage.problem, headers));
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
  if (destination === undefined) return { ok: false, kind: 'refused', problem: 'The host name is invalid.' };
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

type HttpProxyRequest = {
  readonly kind: 'tunnel' | 'forward';
  readonly destination: NetworkDestination | undefined;
  /** Password of the proxy authorization. */
  readonly token: string;
  /** Request head to send to the server; empty for a tunnel. */
  readonly head: string;
};

/** Parses the head of one request; undefined if it is not a proxy request. */
function parseHttpHead(text: string): HttpProxyRequest | undefined {
  const [first = '', ...lines] = text.slice(0, -4).split('\r\n');
  const [, method = '', target = '', version = ''] = /^([A-Z]{1,20}) (\S+) HTTP\/(1\.[01])$/.exec(first) ?? [];
  const headers = lines.map((line) => ({ line, name: line.slice(0, Math.max(0, line.indexOf(':'))).toLowerCase() }));
  if (method === '' || headers.some(({ name }) => !/^[!#$%&'*+.^_`|~\da-z-]+$/.test(name))) return undefined;
  const token = parseToken(headers.find(({ name }) => name === 'proxy-authorization')?.line ?? '');
  if (method === 'CONNECT') {
    const [, host = '', port = ''] = /^(\[[^\]]+\]|[^:]+):(\d{1,5})$/.exec(target) ?? [];
    return { kind: 'tunnel', destination: parseNetworkDestination(host, Number(port)), token, head: '' };
  }
  const [, authority = '', path = ''] = /^http:\/\/([^/?#]+)([^#]*)/i.exec(target) ?? [];
  if (authority === '') return undefined;
  const [, host = '', port = '80'] = /^(\[[^\]]+\]|[^:@]+)(?::(\d{1,5}))?$/.exec(authority) ?? [];
  const isUpgrade = headers.some(({ name }) => name === 'upgrade');
  const forwarded = headers.filter(({ name }) => !PROXY_HEADERS.includes(name) && (isUpgrade || name !== 'connection'));
  const head = [
    `${method} ${path.startsWith('/') ? path : `/${path}`} HTTP/${version}`,
    `Host: ${authority}`,
    ...forwarded.filter(({ name }) => name !== 'host').map(({ line }) => line),
    // One request per connection: later ones would go to the same server, whatever host they name.
    ...(isUpgrade ? [] : ['Connection: close']),
  ];
  return {
    kind: 'forward',
    destination: parseNetworkDestination(host, Number(port)),
    token,
    head: `${head.join('\r\n')}\r\n\r\n`,
  };
}

/** Headers that are meant for the proxy only. */
const PROXY_HEADERS: readonly string[] = ['proxy-authorization', 'proxy-connection', 'keep-alive'];

/** Formats a complete response of the proxy, with a text that programs print. */
function formatHttpResponse(status: string, text: string, headers: readonly string[] = []): string {
  const body = `${text}\n`;
  const standardHeaders = [
    'Content-Type: text/plain; charset=utf-8',
    `Content-Length: ${Buffer.byteLength(body)}`,
    'Connection: close',
  ];
  return `HTTP/1.1 ${status}\r\n${[...standardHeaders, ...headers].join('\r\n')}\r\n\r\n${body}`;
}

function parseToken(line: string): string {
  const [, encoded = ''] = /^[^:]*:\s*basic\s+([\w+/=-]+)\s*$/i.exec(line) ?? [];
  return Buffer.from(encoded, 'base64')
    .toString('latin1')
    .replace(/^[^:]*:/, '');
}

/** A SOCKS 5 request; `none` if it is unsupported and was answered so. */
type SocksRequest =
  | { readonly kind: 'connect'; readonly destination: NetworkDestination | undefined; readonly token: string }
  | { readonly kind: 'none' };

const SOCKS_ANSWERS = { well: 0, refused: 2, unreachable: 4, unknown: 7 } as const;

const NO_AUTHENTICATION = 0;
const USERNAME_PASSWORD = 2;
const CONNECT = 1;

/** Reads the SOCKS 5 handshake and request; `write` sends the answers of the handshake. */
async function readSocksRequest(bytes: ByteReader, write: (answer: Uint8Array) => void): Promise<SocksRequest> {
  const [, count = 0] = await bytes.take(2);
  const methods = [...(await bytes.take(count))];
  const usesPassword = methods.includes(USERNAME_PASSWORD);
  if (!usesPassword && !methods.includes(NO_AUTHENTICATION)) {
    write(Uint8Array.of(5, 0xff));
    return { kind: 'none' };
  }
  write(Uint8Array.of(5, usesPassword ? USERNAME_PASSWORD : NO_AUTHENTICATION));
  const token = usesPassword ? await readToken(bytes) : '';
  if (usesPassword) write(Uint8Array.of(1, 0));
  const [, command, , kind = 0] = await bytes.take(4);
  const host = await readHost(bytes, kind);
  const [high = 0, low = 0] = await bytes.take(2);
  if (command !== CONNECT || host === undefined) {
    write(buildSocksReply('unknown'));
    return { kind: 'none' };
  }
  return { kind: 'connect', destination: parseNetworkDestination(host, high * 256 + low), token };
}

/** Builds the final answer of a handshake; its second byte is the result code. */
function buildSocksReply(answer: keyof typeof SOCKS_ANSWERS): Uint8Array {
  return Uint8Array.of(5, SOCKS_ANSWERS[answer], 0, 1, 0, 0, 0, 0, 0, 0);
}

async function readToken(bytes: ByteReader): Promise<string> {
  const [, nameLength = 0] = await bytes.take(2);
  await bytes.take(nameLength);
  const [length = 0] = await bytes.take(1);
  return Buffer.from(await bytes.take(length)).toString('latin1');
}

/** Reads an IPv4 or IPv6 address, or a name, which may contain any byte. */
async function readHost(bytes: ByteReader, kind: number): Promise<string | undefined> {
  if (kind === 1) return [...(await bytes.take(4))].join('.');
  if (kind === 3) {
    const [length = 0] = await bytes.take(1);
    return Buffer.from(await bytes.take(length)).toString('utf8');
  }
  if (kind !== 4) return undefined;
  const address = Buffer.from(await bytes.take(16));
  return Array.from({ length: 8 }, (_, index) => address.readUInt16BE(index * 2).toString(16)).join(':');
}
