import type { ByteReader } from './byte-reader.ts';
import { type NetworkDestination, parseNetworkDestination } from './host-pattern.ts';

/** An HTTP request to the proxy. */
type HttpProxyRequest = {
  readonly kind: 'tunnel' | 'forward';
  readonly destination: NetworkDestination | undefined;
  readonly rawTarget: string;
  /** Password of the proxy authorization. */
  readonly token: string;
  /** Request head to send to the server; empty for a tunnel. */
  readonly head: string;
};

/** Parses the head of one request; undefined if it is no proxy request. */
export function parseHttpHead(text: string): HttpProxyRequest | undefined {
  const [first = '', ...lines] = text.slice(0, -4).split('\r\n');
  const [, method = '', target = '', version = ''] = /^([A-Z]{1,20}) (\S+) HTTP\/(1\.[01])$/.exec(first) ?? [];
  const headers = lines.map((line) => ({ line, name: line.slice(0, Math.max(0, line.indexOf(':'))).toLowerCase() }));
  if (method === '' || headers.some(({ name }) => !/^[!#$%&'*+.^_`|~\da-z-]+$/.test(name))) return undefined;
  const token = parseToken(headers.find(({ name }) => name === 'proxy-authorization')?.line ?? '');
  if (method === 'CONNECT') {
    const [, host = '', port = ''] = /^(\[[^\]]+\]|[^:]+):(\d{1,5})$/.exec(target) ?? [];
    return {
      kind: 'tunnel',
      destination: parseNetworkDestination(host, Number(port)),
      rawTarget: target,
      token,
      head: '',
    };
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
    rawTarget: authority,
    token,
    head: `${head.join('\r\n')}\r\n\r\n`,
  };
}

/** Headers that are meant for the proxy only. */
const PROXY_HEADERS: readonly string[] = ['proxy-authorization', 'proxy-connection', 'keep-alive'];

/** Formats a complete response of the proxy, with a text that programs print. */
export function formatHttpResponse(status: string, text: string, headers: readonly string[] = []): string {
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
  | {
      readonly kind: 'connect';
      readonly destination: NetworkDestination | undefined;
      readonly rawTarget: string;
      readonly token: string;
    }
  | { readonly kind: 'none' };

const SOCKS_ANSWERS = { well: 0, refused: 2, unreachable: 4, unknown: 7 } as const;

const NO_AUTHENTICATION = 0;
const USERNAME_PASSWORD = 2;
const CONNECT = 1;

/** Reads the SOCKS 5 handshake and request; `write` sends the answers of the handshake. */
export async function readSocksRequest(bytes: ByteReader, write: (answer: Uint8Array) => void): Promise<SocksRequest> {
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
  const rawTarget = await readHost(bytes, kind);
  const [high = 0, low = 0] = await bytes.take(2);
  if (command !== CONNECT || rawTarget === undefined) {
    write(buildSocksReply('unknown'));
    return { kind: 'none' };
  }
  return { kind: 'connect', destination: parseNetworkDestination(rawTarget, high * 256 + low), rawTarget, token };
}

/** Builds the final answer of a handshake; its second byte is the result code. */
export function buildSocksReply(answer: keyof typeof SOCKS_ANSWERS): Uint8Array {
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
